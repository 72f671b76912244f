// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>
#include <hcpnet/bytes.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <vector>

#include "dhcp/interface.hpp"

namespace hcpnet::dhcp6 {

/// Where a datagram came from and what it was sent to; a reply goes the same way back.
struct Path {
  Ipv6 source;
  std::uint16_t source_port = 0;
  std::uint32_t scope = 0;  ///< of a link-local source
  Ipv6 local;               ///< the address that it was sent to
  [[nodiscard]] bool is_multicast() const noexcept { return local.bytes()[0] == 0xFF; }
};

/// The UDP socket of one interface, a member of ff02::1:2 there (All_DHCP_Relay_Agents_and_Servers).
///
/// On a loopback interface it is bound to ::1, and every reply goes back to the port that the request came from.
class Socket {
 public:
  static constexpr std::size_t kMaxTurn = 256;  ///< datagrams before others on the thread get their turn

  /// A closed one, for an interface that is not there.
  explicit Socket(const boost::asio::any_io_executor& executor) : udp_(executor) {}
  /// Throws boost::system::system_error that names the interface.
  Socket(const boost::asio::any_io_executor& executor, dhcp::Interface interface, std::uint16_t port);

  [[nodiscard]] const dhcp::Interface& interface() const noexcept { return interface_; }
  [[nodiscard]] const Endpoint& bound() const noexcept { return bound_; }

  /// Calls back once when something can be read, or with an error after stop_reading() or close().
  void async_wait_readable(std::function<void(error_code)> handler);
  void receive(const std::function<void(ByteView payload, const Path& path)>& visit);
  /// Sends to `port` at the source of the request.
  error_code send(ByteView packet, const Path& path, std::uint16_t port);
  void stop_reading();
  void close();

 private:
  int open(std::uint16_t port);
  bool receive_one(Path& path, std::size_t& size);

  dhcp::Interface interface_;
  Endpoint bound_;
  boost::asio::posix::stream_descriptor udp_;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace hcpnet::dhcp6
