// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <hcpnet/net.hpp>
#include <hcpnet/proxy/route_table.hpp>
#include <vector>

namespace hcpnet::proxy {

[[nodiscard]] inline bool contains(const std::vector<Cidr>& prefixes, const IpAddress& address) noexcept {
  return std::ranges::any_of(prefixes, [&](const Cidr& prefix) { return prefix.contains(address); });
}

/// Whether a listener serves this client at all, by its allow and deny lists.
[[nodiscard]] inline bool is_allowed(const Listener& listener, const IpAddress& client) noexcept {
  return (listener.allow.empty() || contains(listener.allow, client)) && !contains(listener.deny, client);
}

}  // namespace hcpnet::proxy
