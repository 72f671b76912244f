// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/net.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::dns {

inline constexpr std::size_t kMaxNameServers = 8;

/// The `nameserver` lines of a resolv.conf(5), at most kMaxNameServers, port 53. Left out is what is no address, or one
/// with a zone (fe80::1%eth0), or beyond that number; `left_out`, unless null, gets as many of these.
[[nodiscard]] std::vector<Endpoint> parse_resolv_conf(std::string_view text,
                                                      std::vector<std::string>* left_out = nullptr);

}  // namespace hcpnet::dns
