// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/net.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hcpnet::manifest {

/// A small authoritative DNS server inside of a cluster, for names that the cluster's own DNS forwards to it.
struct ZoneServer {
  std::string owner;       ///< of labels: who it is for
  std::string namespace_;  ///< where it runs
  std::string name;        ///< of its objects
  std::string image;       ///< of CoreDNS
  /// "oauth.example.com", or "*.apps.example.com" for every name below: its addresses. Each is a zone, so that any
  /// other name of it does not exist, and what is in no zone is refused: nothing ever goes back to who asks.
  std::map<std::string, std::vector<IpAddress>> names;
};
/// ServiceAccount, ConfigMap, Service (DNS on port 53), PodDisruptionBudget, Deployment of two. What CoreDNS can't be
/// told goes to `problems`.
[[nodiscard]] std::vector<nlohmann::json> zone_server_objects(const ZoneServer& server, Diagnostics& problems);

}  // namespace hcpnet::manifest
