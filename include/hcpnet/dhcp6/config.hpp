// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/dhcp6/duid.hpp>
#include <hcpnet/net.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hcpnet::dhcp6 {

/// By what a client is known again.
enum class Identity : std::uint8_t {
  mac,   ///< the hardware address of its interface, where that is known: it outlives a change of DUID between installer
         ///< and installed system
  duid,  ///< DUID and IAID, as RFC 8415 has it
};

/// An address kept for one client by configuration; of `mac` and `duid` one is set.
struct Reservation {
  std::optional<MacAddress> mac;
  std::optional<Duid> duid;
  Ipv6 address;
  std::string host_name;  ///< may be empty
};

/// Addresses from `first` to `last`, both included; both in one /64, first <= last.
struct Ipv6Range {
  Ipv6 first;
  Ipv6 last;
  friend bool operator==(const Ipv6Range&, const Ipv6Range&) = default;
};

/// One IPv6 network that is served.
struct Subnet {
  std::string name;        ///< of the Infra or DHCPServer, "namespace/name"
  Cidr cidr;               ///< IPv6
  Ipv4 interface_address;  ///< our IPv4 address on the interface that is served
  Ipv6Range pool;
  std::vector<Ipv6> dns_servers;
  std::vector<std::string> domain_search;
  std::chrono::seconds lease_time{3600};  ///< preferred and valid lifetime
  bool authoritative = true;              ///< preference 255; unknown bindings are renewed where the address is free
  bool rapid_commit = false;              ///< RFC 8415 section 18.2.1: two messages instead of four
  Identity identity = Identity::mac;
  std::vector<Reservation> reservations;
};

}  // namespace hcpnet::dhcp6
