// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/dhcp6/duid.hpp>
#include <hcpnet/net.hpp>
#include <optional>
#include <string>

namespace hcpnet::dhcp6 {

using dhcp::LeaseEventKind;
using dhcp::LeaseState;

/// Who asks for an address: an identity association of a client (RFC 8415 section 12), and the hardware address of the
/// interface behind it, as far as it is known.
struct Client {
  Duid duid;
  std::uint32_t iaid = 0;
  std::optional<MacAddress> mac;       ///< as the relay saw it, else as the DUID has it, else as `link_mac`
  std::optional<MacAddress> link_mac;  ///< in the link-local source address (RFC 4291 appendix A); not in a lease
  friend bool operator==(const Client&, const Client&) = default;
};

/// A binding of one address and how long it lasts. Only what has been synced to disk is ever a lease.
struct Lease {
  Ipv6 address;
  Client client;
  std::string host_name;  ///< by configuration or as observed; empty when unknown
  std::string subnet;     ///< Subnet::name
  LeaseState state = LeaseState::bound;
  std::chrono::sys_seconds started{};  ///< when the current binding began
  std::chrono::sys_seconds expires{};  ///< the end of the valid lifetime
  friend bool operator==(const Lease&, const Lease&) = default;
};

struct LeaseEvent {
  LeaseEventKind kind = LeaseEventKind::bound;
  Lease lease;
};

/// A change of the lease table, to be written before the reply leaves.
struct LeaseChange {
  std::size_t subnet = 0;  ///< index in dhcp::Config::subnets6
  LeaseEvent event;
};

}  // namespace hcpnet::dhcp6
