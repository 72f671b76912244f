// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/proxy/route_table.hpp>
#include <vector>

#include "proxy/claim_set.hpp"
#include "proxy/name_index.hpp"

namespace hcpnet::proxy {

/// Routes of TCP and UDP ports never meet: each port of each protocol is a scope of its own in the index.
[[nodiscard]] constexpr std::uint32_t port_scope(std::uint16_t port, Protocol protocol) noexcept {
  return port + (protocol == Protocol::udp ? 65536u : 0u);
}

/// What one port does beyond its names.
struct PortRules {
  std::uint32_t scope = 0;
  std::uint8_t max_wildcard_labels = 0;  ///< of the "x" in "*.x": no longer suffix need be tried
  ClaimSet no_sni;
  ClaimSet other_sni;
  ClaimSet not_tls;
};

/// The allow list of one listener. Its names live in the index under `scope`.
struct AllowList {
  Endpoint listener;
  std::uint32_t scope = 0;
  std::uint8_t max_wildcard_labels = 0;
};

/// A RouteConfig made ready for look-ups. Views point into `config`, which never changes afterwards.
struct CompiledRoutes {
  RouteConfig config;
  NameIndex names;               ///< of all ports (port_scope) and, without claims, of allow lists (scopes above these)
  std::vector<PortRules> ports;  ///< sorted by scope
  std::vector<AllowList> allow_lists;          ///< sorted by listener
  std::vector<const Backend*> route_backends;  ///< by route

  [[nodiscard]] const PortRules* find_port(std::uint32_t scope) const noexcept;
  [[nodiscard]] const AllowList* find_allow_list(const Endpoint& listener) const noexcept;
};

/// Fills `compiled` from its own `config`. Returns every problem; the result is usable only when there is none.
[[nodiscard]] Diagnostics compile_routes(CompiledRoutes& compiled);

}  // namespace hcpnet::proxy
