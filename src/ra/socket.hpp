// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <hcpnet/bytes.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>

#include "dhcp/interface.hpp"

namespace hcpnet::ra {

/// The ICMPv6 socket of one interface: hears router solicitations, speaks to all hosts of the link.
class Socket {
 public:
  /// A closed one, for an interface that is not there.
  explicit Socket(const boost::asio::any_io_executor& executor) : raw_(executor) {}
  /// Throws boost::system::system_error that names the interface.
  Socket(const boost::asio::any_io_executor& executor, dhcp::Interface interface);

  [[nodiscard]] const dhcp::Interface& interface() const noexcept { return interface_; }
  void async_wait_readable(std::function<void(error_code)> handler);
  void receive(const std::function<void(ByteView message, int hop_limit, const Ipv6& source)>& visit);
  error_code send(ByteView message);
  void close();

 private:
  int open();

  dhcp::Interface interface_;
  boost::asio::posix::stream_descriptor raw_;
};

}  // namespace hcpnet::ra
