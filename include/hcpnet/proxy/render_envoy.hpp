// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/proxy/engine_settings.hpp>
#include <hcpnet/proxy/route_table.hpp>
#include <hcpnet/rendered_file.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

/// The routes of one proxy as a configuration of Envoy. What Envoy can't express: docs/proxy.md.
namespace hcpnet::proxy {

struct EnvoyOptions {
  std::string node = "hcpnet";  ///< node id and cluster
  /// One listener per port on every IPv4 address, instead of the listeners as configured. Where these allow different
  /// names, Envoy goes by the address that a client came to. For addresses that are not configured the listener on
  /// 0.0.0.0 counts, if there is one, otherwise what all of them allow.
  bool any_address = false;
  /// GET /readyz and /metrics and nothing else, on every IPv4 address; absent: none.
  std::optional<std::uint16_t> observe_port = {};
  std::uint16_t admin_port = 9901;  ///< on 127.0.0.1
  EngineSettings settings = {};     ///< those that Envoy has too
};

/// Envoy's bootstrap (envoy.config.bootstrap.v3.Bootstrap). `workers` are the clients that routes for the clients of a
/// cluster take; a route for a cluster without any is left out, with a warning "no-sources". What has no counterpart,
/// such as telling a missing server name from an unknown one, is left out with "not-expressible". The same input gives
/// the same document.
[[nodiscard]] nlohmann::json render_envoy(const RouteConfig& config, const SourceClusters& workers,
                                          const EnvoyOptions& options, Diagnostics& warnings);

/// The same as files: "envoy.yaml" is a bootstrap that takes listeners from "lds.yaml" and clusters from "cds.yaml",
/// and Envoy reads each again when another file is renamed to its name. `file_prefix` stands in front of these names in
/// the bootstrap: "/etc/envoy/".
[[nodiscard]] std::vector<RenderedFile> render_envoy_files(const RouteConfig& config, const SourceClusters& workers,
                                                           const EnvoyOptions& options, const std::string& file_prefix,
                                                           Diagnostics& warnings);

}  // namespace hcpnet::proxy
