// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/dhcp6/config.hpp>
#include <hcpnet/net.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace hcpnet::dhcp {

/// An address kept for one client by configuration.
struct Reservation {
  MacAddress mac;
  Ipv4 address;
  std::string host_name;  ///< may be empty
};

/// An option to send as it is (RFC 2132 numbering, 1 to 254); longer than 255 bytes is split as RFC 3396 says.
struct RawOption {
  std::uint8_t code = 0;
  std::vector<std::uint8_t> data;
  friend bool operator==(const RawOption&, const RawOption&) = default;
};

/// One network that is served.
struct Subnet {
  std::string name;  ///< of the Infra or DHCPServer, "namespace/name"
  Ipv4Cidr cidr;
  Ipv4 server_id;  ///< our address in it; also names the interface that is served
  std::vector<Ipv4Range> pools;
  std::optional<Ipv4> router;
  std::vector<Ipv4> dns_servers;
  std::string domain_name;  ///< empty: not sent
  std::chrono::seconds lease_time{3600};
  bool authoritative = true;
  std::vector<RawOption> options;  ///< instead of, or in addition to, what follows from the fields above
  std::vector<Reservation> reservations;
};

struct Config {
  std::vector<Subnet> subnets;
  std::unordered_map<MacAddress, std::string> host_names;  ///< observed: VM name by interface address
  std::vector<dhcp6::Subnet> subnets6;                     ///< none: no DHCPv6
};

}  // namespace hcpnet::dhcp
