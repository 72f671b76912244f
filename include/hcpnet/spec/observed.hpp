// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/spec/load.hpp>
#include <hcpnet/spec/validate.hpp>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace hcpnet::spec {

/// What a cluster was seen to hold, reduced to what the network needs. Built from `kubectl get -o yaml` output and from
/// endpoint maps.
struct Observed {
  /// "namespace/service:port", port as in the Service -> addresses that serve it. From EndpointSlices (ready ones) and
  /// --endpoints.
  std::map<std::string, std::vector<Endpoint>> endpoints;
  std::map<std::string, Ipv4> service_addresses;  ///< "namespace/service" -> clusterIP (not headless)
  std::map<std::string, std::string>
      control_plane_clusters;  ///< control-plane namespace -> HostedCluster "namespace/name"
  std::unordered_map<MacAddress, std::string>
      mac_namespaces;                                      ///< VM interface -> namespace of its VirtualMachineInstance
  std::unordered_map<MacAddress, std::string> host_names;  ///< VM interface -> VM name
  std::map<std::string, std::vector<IpAddress>>
      namespace_workers;                       ///< control-plane namespace -> addresses of its Machines
  std::map<std::string, Ipv4> apps_addresses;  ///< attachment "namespace/name" -> status externalIP
};

/// Reads observed objects: Service, EndpointSlice, Pod, VirtualMachineInstance, Machine, HostedCluster,
/// InfraClusterAttachment; other kinds are passed over. Fields that nothing here needs are ignored. A conflict (one
/// address or MAC in two clusters) keeps the oldest object (creationTimestamp, then namespace/name) and warns about the
/// other.
[[nodiscard]] Result<Observed, Diagnostics> load_observed(const std::vector<SourceText>& objects,
                                                          const std::vector<SourceText>& endpoints,
                                                          Diagnostics& warnings, const LoadLimits& limits = {});

}  // namespace hcpnet::spec
