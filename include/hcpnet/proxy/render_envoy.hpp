// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/proxy/route_table.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

/// The routes of one proxy as Envoy's static configuration. What Envoy can't express: docs/manifests.md.
namespace hcpnet::proxy {

struct EnvoyOptions {
  std::string node = "hcpnet";  ///< node id and cluster
  bool any_address = false;     ///< one listener per port on every IPv4 address, instead of the listeners as configured
  /// GET /readyz and /metrics and nothing else, on every IPv4 address; absent: none.
  std::optional<std::uint16_t> observe_port;
  std::uint16_t admin_port = 9901;  ///< on 127.0.0.1
  std::chrono::milliseconds inspect_timeout{5'000};
  std::uint32_t max_connections = 10'000;
};

/// Envoy's bootstrap (envoy.config.bootstrap.v3.Bootstrap). `workers` are the clients that routes for the clients of a
/// cluster take; a route for a cluster without any is left out, with a warning "no-sources". Routes that tell a missing
/// name from an unknown one are left out with "not-expressible". The same input gives the same document.
[[nodiscard]] nlohmann::json render_envoy(const RouteConfig& config, const SourceClusters& workers,
                                          const EnvoyOptions& options, Diagnostics& warnings);

}  // namespace hcpnet::proxy
