// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/net.hpp>
#include <hcpnet/proxy/route_table.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hcpnet {

/// Where a connection would go, and why.
struct RouteExplanation {
  std::string proxy;  ///< the Infra or ProxyServer, "namespace/name"
  Endpoint listener;  ///< as configured
  proxy::Protocol protocol = proxy::Protocol::tcp;
  std::string server_name;  ///< as asked; empty: none was sent
  IpAddress source;
  std::string source_cluster;        ///< the hosted cluster that the source is known to belong to; empty: none
  std::string rule;                  ///< to_string(proxy::Rule), or "source_denied" by the listener's allow and deny
  std::string matched;               ///< the name or wildcard that matched; empty: none
  std::string backend;               ///< empty: the connection is closed
  std::vector<std::string> targets;  ///< "address:port", or one "host:port" that is resolved when dialled; may be none
};

/// Asks one proxy's table: an answer for each of its listeners on `port`, but those that decide as one before them. A
/// listener of ListenerKind::tcp or udp sees no name.
[[nodiscard]] std::vector<RouteExplanation> explain_routes(const std::string& proxy, const proxy::RouteTable& table,
                                                           const proxy::SourceClusters& clusters,
                                                           const std::string& server_name, std::uint16_t port,
                                                           const IpAddress& source);

}  // namespace hcpnet
