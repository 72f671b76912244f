// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <hcpnet/inherited_sockets.hpp>
#include <hcpnet/net.hpp>
#include <memory>

#include "dns/tcp_session.hpp"

namespace hcpnet::dns {

/// One TCP socket that accepts connections.
class TcpListener : public std::enable_shared_from_this<TcpListener> {
 public:
  /// Throws boost::system::system_error when it can't bind.
  TcpListener(boost::asio::any_io_executor executor, const Endpoint& at, TcpSessions& sessions);
  /// Accepts from a socket that listens already. Throws as above.
  TcpListener(boost::asio::any_io_executor executor, FileDescriptor socket, bool is_v4, TcpSessions& sessions);

  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  [[nodiscard]] int descriptor() { return acceptor_.native_handle(); }
  void start() { accept(); }
  void close() noexcept;

 private:
  void accept();
  void on_accept(error_code ec, boost::asio::ip::tcp::socket socket);

  boost::asio::ip::tcp::acceptor acceptor_;
  TcpSessions& sessions_;
  runtime::TimerQueue::Id pause_;  ///< after a failure to accept
};

}  // namespace hcpnet::dns
