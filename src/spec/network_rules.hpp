// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/net.hpp>
#include <optional>
#include <string>
#include <vector>

#include "spec/subject.hpp"

namespace hcpnet::spec {

/// An address that something owns: a gateway, a server.
struct OwnedAddress {
  std::string owner;  ///< for messages: "networkConfig.gateway"
  std::string pointer;
  Ipv4 address;
};

/// Addresses that something else gives out, or has.
struct TakenRange {
  std::string owner;  ///< for messages
  Ipv4Range range;
};

/// What one network gives out and to whom; only what is good.
struct NetworkPlan {
  std::optional<Ipv4Cidr> cidr;
  std::vector<OwnedAddress> owned;     ///< in the order of the text
  std::optional<Ipv4Range> range;      ///< DHCP
  std::vector<TakenRange> taken = {};  ///< pools of load balancers, static VIPs
  std::vector<TakenRange> given = {};  ///< by its DHCPPolicy: pools, reservations, addresses of further subnets
};
/// What DHCP and the servers of the network have of the range, as a list for a message; empty when nothing.
[[nodiscard]] std::string taken_by(const NetworkPlan& plan, const Ipv4Range& range);

/// The DHCP range as it is written, before any rule.
struct RangeFields {
  std::string start_pointer, end_pointer;
  std::optional<Ipv4> start, end;
};

/// Addresses and range lie in the network, differ, and the addresses are outside the range. Returns what is left as
/// good.
[[nodiscard]] NetworkPlan check_network(Subject& subject, std::optional<Ipv4Cidr> cidr, std::vector<OwnedAddress> owned,
                                        const std::optional<RangeFields>& range);

/// Whether `address` is a host of the network; reports it at `pointer` otherwise.
bool check_inside(Subject& subject, const Ipv4Cidr& cidr, Ipv4 address, const std::string& pointer);

}  // namespace hcpnet::spec
