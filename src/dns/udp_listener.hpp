// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/udp.hpp>
#include <cstdint>
#include <hcpnet/dns/responder.hpp>
#include <hcpnet/net.hpp>
#include <memory>

#include "dns/query_handler.hpp"

namespace hcpnet::dns {

/// Buffers for one recvmmsg and the sendmmsg after it. One for all listeners of a thread: used only while a batch is
/// worked on.
struct UdpBatch {
  static constexpr std::size_t kMessages = 32;
  static constexpr std::size_t kMaxQueryBytes = 4096;
  static constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(in6_pktinfo));

  struct Place {
    sockaddr_storage peer;
    iovec data;
    alignas(cmsghdr) std::array<std::uint8_t, kControlBytes> control;
  };
  std::array<Place, kMessages> places;
  std::array<mmsghdr, kMessages> received;
  std::array<mmsghdr, kMessages> replies;
  std::array<iovec, kMessages> reply_data;
  std::array<std::array<std::uint8_t, kMaxQueryBytes>, kMessages> queries;
  std::array<std::array<std::uint8_t, kMaxUdpBytes>, kMessages> out;
};

/// One UDP socket: reads queries in batches, and answers each from the address it was sent to.
class UdpListener : public std::enable_shared_from_this<UdpListener> {
 public:
  /// Throws boost::system::system_error when it can't bind.
  UdpListener(boost::asio::any_io_executor executor, const Endpoint& at, QueryHandler& handler, UdpBatch& batch);

  [[nodiscard]] std::uint16_t port() const { return socket_.local_endpoint().port(); }
  void start() { wait(); }
  void close() noexcept;

 private:
  void wait();
  void on_readable();
  std::size_t receive();
  std::size_t answer(std::size_t count);
  bool forward(const mmsghdr& received, ByteView query, std::size_t reply);
  void send(std::size_t count);

  boost::asio::ip::udp::socket socket_;
  QueryHandler& handler_;
  UdpBatch& batch_;
  bool is_wildcard_;  ///< bound to no single address: the kernel tells each query's destination, and replies name it
};

}  // namespace hcpnet::dns
