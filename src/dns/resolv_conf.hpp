// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/net.hpp>
#include <string_view>
#include <vector>

namespace hcpnet::dns {

inline constexpr std::size_t kMaxNameServers = 8;

/// The `nameserver` lines of a resolv.conf(5), at most kMaxNameServers, port 53. Addresses with a zone (fe80::1%eth0)
/// are left out.
[[nodiscard]] std::vector<Endpoint> parse_resolv_conf(std::string_view text);

}  // namespace hcpnet::dns
