// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/proxy/route_table.hpp>
#include <string>
#include <vector>

/// The parts of a HAProxy configuration that lead to servers.
namespace hcpnet::proxy::haproxy {

/// A backend that HTTP frontends use is another one than that of tunnels: HAProxy's have one mode.
inline constexpr const char* kHttpSuffix = ":http";

/// The section of the resolvers that servers given by name use.
inline constexpr const char* kResolvers =
    "\nresolvers system\n  parse-resolv-conf\n  accepted_payload_size 1232\n  hold valid 30s\n";

/// "1500ms"
[[nodiscard]] std::string time_text(std::chrono::milliseconds time);

/// `dial_from`: our own addresses towards it; empty: the system's.
[[nodiscard]] std::string backend_section(const Backend& backend, bool is_http,
                                          const std::vector<IpAddress>& dial_from);

}  // namespace hcpnet::proxy::haproxy
