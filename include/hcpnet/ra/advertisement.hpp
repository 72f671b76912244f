// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/net.hpp>
#include <optional>
#include <string>
#include <vector>

/// Router advertisements (RFC 4861) for networks whose addresses come from DHCPv6.
namespace hcpnet::ra {

/// What the hosts of one link are told. The defaults tell them to ask DHCPv6, that the prefix is on their link, and
/// that the sender is no router: the network's own gateway keeps its place.
struct Advertisement {
  Cidr prefix;                              ///< IPv6
  bool managed = true;                      ///< addresses by DHCPv6
  bool other_config = true;                 ///< everything else by DHCPv6
  bool on_link = true;                      ///< the prefix is reached without a router
  bool autonomous = false;                  ///< hosts make addresses of their own in the prefix (RFC 4862)
  std::chrono::seconds router_lifetime{0};  ///< 0: no default router; up to 9,000
  std::optional<std::uint32_t> mtu;         ///< bytes
  std::chrono::seconds valid_lifetime{2'592'000},
      preferred_lifetime{604'800};           ///< of the prefix; RFC 4861 section 6.2.1
  std::vector<Ipv6> dns_servers;             ///< RFC 8106 section 5.1
  std::vector<std::string> domain_search;    ///< RFC 8106 section 5.2
  std::chrono::seconds dns_lifetime{1'800};  ///< three times the longest interval between advertisements
  friend bool operator==(const Advertisement&, const Advertisement&) = default;
};

/// One link and what its hosts are told.
struct Network {
  std::string name;        ///< of the Infra or DHCPServer, "namespace/name"
  Ipv4 interface_address;  ///< our IPv4 address on the interface
  Advertisement advertisement;
  friend bool operator==(const Network&, const Network&) = default;
};

/// The ICMPv6 message of RFC 4861 section 4.2, its checksum left to the system. A search name that is no host name is
/// left out.
[[nodiscard]] std::vector<std::uint8_t> encode_advertisement(const Advertisement& advertisement);

/// RFC 4861 section 6.1.1: whether an ICMPv6 message with a right checksum is a router solicitation that has to be
/// heeded. `hop_limit` and `source` are those of its IP header.
[[nodiscard]] bool is_valid_solicitation(ByteView message, int hop_limit, const Ipv6& source) noexcept;

}  // namespace hcpnet::ra
