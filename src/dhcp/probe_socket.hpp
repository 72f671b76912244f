// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <hcpnet/dhcp/responder.hpp>
#include <hcpnet/result.hpp>

#include "dhcp/interface.hpp"
#include "dhcp/probe_table.hpp"

namespace hcpnet::dhcp {

/// Asks from one interface whether somebody uses an address, and hears the answers. Needs CAP_NET_RAW.
class ProbeSocket {
 public:
  enum class Kind : std::uint8_t { arp, echo };  ///< a socket each
  static constexpr std::size_t kMaxTurn = 256;   ///< answers before others on the thread get their turn

  /// Throws boost::system::system_error that names the interface. Precondition: it is no loopback interface.
  ProbeSocket(const boost::asio::any_io_executor& executor, Interface interface);

  [[nodiscard]] error_code ask(const AddressProbe& probe, std::uint16_t sequence);
  /// Calls back once when an answer may be there, or with an error after close().
  void async_wait_readable(Kind kind, std::function<void(error_code)> handler);
  void receive(Kind kind, const std::function<void(const ProbeAnswer&)>& visit);
  void close();

 private:
  [[nodiscard]] error_code ask_by_arp(Ipv4 address);
  void receive_arp(const std::function<void(const ProbeAnswer&)>& visit);
  void receive_echoes(const std::function<void(const ProbeAnswer&)>& visit);
  void open_arp();
  void open_echo();

  Interface interface_;
  boost::asio::posix::stream_descriptor arp_;
  boost::asio::posix::stream_descriptor echo_;
  std::uint16_t identifier_;  // tells our echo requests from those of other programs
};

}  // namespace hcpnet::dhcp
