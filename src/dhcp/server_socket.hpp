// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dhcp/responder.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <memory>
#include <optional>

#include "dhcp/interface.hpp"

namespace hcpnet::dhcp {

/// The sockets of one subnet: UDP on its interface, and a link-layer socket for clients that have no address yet.
///
/// On a loopback interface there is only UDP, bound to the server's address, and every reply goes back to where the
/// request came from.
class ServerSocket {
 public:
  static constexpr std::size_t kBatch = 32;       ///< datagrams per system call
  static constexpr std::size_t kMaxBatches = 16;  ///< system calls before others on the thread get their turn

  /// A closed one, for an interface that is not there.
  explicit ServerSocket(const boost::asio::any_io_executor& executor);
  /// Throws boost::system::system_error that names the address and the interface.
  ServerSocket(const boost::asio::any_io_executor& executor, Interface interface, Ipv4 server_id, std::uint16_t port);
  ~ServerSocket();
  ServerSocket(const ServerSocket&) = delete;
  ServerSocket& operator=(const ServerSocket&) = delete;

  [[nodiscard]] const Interface& interface() const noexcept { return interface_; }
  [[nodiscard]] const Endpoint& bound() const noexcept { return bound_; }
  /// False: without CAP_NET_RAW, so replies to clients without an address are broadcast.
  [[nodiscard]] bool has_link_layer() const noexcept { return link_.has_value(); }

  /// Calls back once when something can be read, or with an error after stop_reading() or close().
  void async_wait_readable(std::function<void(error_code)> handler);
  /// Reads what is there, up to kBatch * kMaxBatches datagrams.
  void receive(const std::function<void(ByteView payload, const Endpoint& source)>& visit);
  /// Sends a reply; `source` is where the request came from.
  error_code send(const Reply& reply, const Endpoint& source);
  /// Calls back a pending async_wait_readable() with an error; sending goes on.
  void stop_reading();
  void close();

 private:
  struct Buffers;
  int open_udp(Ipv4 server_id, std::uint16_t port);
  [[nodiscard]] error_code send_udp(const Reply& reply, const Endpoint& destination);
  [[nodiscard]] error_code send_frame(const Reply& reply);

  Interface interface_;
  Endpoint bound_;
  boost::asio::posix::stream_descriptor udp_;
  std::optional<boost::asio::posix::stream_descriptor> link_;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace hcpnet::dhcp
