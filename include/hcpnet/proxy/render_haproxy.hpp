// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/proxy/engine_settings.hpp>
#include <hcpnet/proxy/route_table.hpp>
#include <hcpnet/rendered_file.hpp>
#include <string>
#include <vector>

/// The routes of one proxy as a configuration of HAProxy 2.6 or later. What HAProxy can't express: docs/proxy.md.
namespace hcpnet::proxy {

struct HaproxyOptions {
  bool any_address = false;      ///< listens on every IPv4 address instead of those of the listeners
  std::string file_prefix = {};  ///< in front of the name of a map wherever haproxy.cfg mentions it: "/etc/haproxy/"
  EngineSettings settings = {};  ///< those that HAProxy has too
};

/// "haproxy.cfg" and the maps and lists that it reads: names, and the addresses of the clients that routes are for.
/// `workers` are the clients that routes for the clients of a cluster take; a route for a cluster without any is left
/// out, with a warning "no-sources". What has no counterpart (UDP, a wildcard for some clients below one for others) is
/// left out with "not-expressible". The same input gives the same bytes.
[[nodiscard]] std::vector<RenderedFile> render_haproxy(const RouteConfig& config, const SourceClusters& workers,
                                                       const HaproxyOptions& options, Diagnostics& warnings);

}  // namespace hcpnet::proxy
