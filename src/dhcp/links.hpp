// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <hcpnet/dhcp/config.hpp>
#include <span>
#include <vector>

namespace hcpnet::dhcp {

/// Subnets on one link, by their place in Config::subnets.
struct LinkMembers {
  std::size_t first = 0;
  std::size_t count = 0;
};

[[nodiscard]] inline bool is_on_link_of(const Subnet& subnet, const Subnet& other) {
  return !subnet.shared_network.empty() && subnet.shared_network == other.shared_network;
}

/// The links of a configuration, in its order.
[[nodiscard]] inline std::vector<LinkMembers> links_of(std::span<const Subnet> subnets) {
  std::vector<LinkMembers> out;
  for (std::size_t i = 0; i < subnets.size(); ++i) {
    if (i > 0 && is_on_link_of(subnets[i], subnets[i - 1]))
      ++out.back().count;
    else
      out.push_back({i, 1});
  }
  return out;
}

}  // namespace hcpnet::dhcp
