// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <hcpnet/proxy/engine.hpp>
#include <memory>

#include "proxy/sockets.hpp"
#include "proxy/worker.hpp"

namespace hcpnet::proxy {

/// One listening socket. When accept() fails for want of descriptors or memory it pauses for accept_backoff:
/// connections then wait in the kernel's queue, and the loop does not spin.
class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(std::shared_ptr<Worker> worker, Endpoint configured);

  /// Binds `address`. Throws boost::system::system_error that names it.
  void open(const Endpoint& address);
  void accept();
  void close();
  [[nodiscard]] BoundListener bound() const { return {configured_, bound_}; }

 private:
  void on_accept(const error_code& ec, tcp::socket client);
  void begin_session(tcp::socket client);
  void back_off(const error_code& cause);

  std::shared_ptr<Worker> worker_;
  Endpoint configured_;
  Endpoint bound_;
  tcp::acceptor acceptor_;
  tcp::endpoint peer_;
};

}  // namespace hcpnet::proxy
