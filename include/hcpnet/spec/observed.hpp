// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/spec/hosted_cluster.hpp>
#include <hcpnet/spec/load.hpp>
#include <hcpnet/spec/validate.hpp>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace hcpnet::spec {

/// "namespace/service:port", port as in the Service -> addresses that serve it; none: nothing does.
using EndpointMap = std::map<std::string, std::vector<Endpoint>>;
/// `endpoints` in order and without what is there twice, or every key and address that is none (code "bad-endpoint").
[[nodiscard]] Result<EndpointMap, Diagnostics> check_endpoints(EndpointMap endpoints);

/// How control planes were seen to be published, by "namespace/name" of the object. Host names in lower case.
struct ObservedPublishing {
  std::map<std::string, std::string> route_hosts;              ///< Route -> its host
  std::map<std::string, std::uint16_t> node_ports;             ///< "namespace/service:port" -> node port
  std::map<std::string, std::string> load_balancers;           ///< Service -> host name or address of its load balancer
  std::map<std::string, HostedClusterStatus> hosted_clusters;  ///< HostedCluster -> its status
  std::string domain;       ///< of ingresses.config.openshift.io "cluster": what the management cluster's router serves
  std::string apps_domain;  ///< of the same: for Routes that name no host; empty: `domain`
};

/// What a cluster was seen to hold, reduced to what the network needs. Built from `kubectl get -o yaml` output and from
/// endpoint maps.
struct Observed {
  EndpointMap endpoints;                          ///< from EndpointSlices (ready ones) and --endpoints
  std::map<std::string, Ipv4> service_addresses;  ///< "namespace/service" -> clusterIP (not headless)
  /// "namespace/service" -> where its ports are reached: at its load balancer, else at its clusterIP (not headless).
  std::map<std::string, IpAddress> service_targets;
  std::map<std::string, std::string>
      control_plane_clusters;  ///< control-plane namespace -> HostedCluster "namespace/name"
  std::unordered_map<MacAddress, std::string>
      mac_namespaces;                                      ///< VM interface -> namespace of its VirtualMachineInstance
  std::unordered_map<MacAddress, std::string> host_names;  ///< VM interface -> VM name
  std::map<std::string, std::vector<IpAddress>>
      namespace_workers;                       ///< control-plane namespace -> addresses of its Machines
  std::map<std::string, Ipv4> apps_addresses;  ///< attachment "namespace/name" -> status externalIP
  ObservedPublishing publishing;
  std::map<std::string, std::string> virtual_machine_uids;  ///< VirtualMachine "namespace/name" -> its UID

  /// Where `port` of the Service "namespace/service" is served: by its endpoints, else at the address of the Service.
  /// Empty: nothing serves it. nullopt: nothing is known of it, and its name has to be resolved.
  [[nodiscard]] std::optional<std::vector<Endpoint>> endpoints_of(const std::string& service, std::uint16_t port) const;
};

/// A cluster prints more than a person writes.
inline constexpr LoadLimits kObservedLimits{.max_file_bytes = 64 * 1024 * 1024, .max_nodes = 4'000'000};

/// Reads observed objects: Service, EndpointSlice, VirtualMachineInstance, Machine, HostedCluster, Route, Ingress of
/// config.openshift.io, Infra, InfraClusterAttachment; other kinds are passed over, and so are fields that nothing here
/// needs. Where two objects claim one thing (a MAC address or an address in two namespaces) has_precedence() decides,
/// and a warning tells the other. `endpoints` are YAML maps of "namespace/service:port: [address:port, ...]", which
/// replace what slices say about that Service port.
///
/// Errors: files that cannot be read, and every key and address of an endpoint map that is none. Warnings are added to
/// `warnings`.
[[nodiscard]] Result<Observed, Diagnostics> load_observed(const std::vector<SourceText>& objects,
                                                          const std::vector<SourceText>& endpoints,
                                                          Diagnostics& warnings,
                                                          const LoadLimits& limits = kObservedLimits);

/// Gives each cluster of the set the address of its apps load balancer (ValidCluster::apps_vip), as observed. One that
/// belongs to something else already (the gateway, a server, the DHCP range, an earlier cluster, of any Infra of the
/// set) is not used; `set.warnings` says so.
void apply_observed(ValidSet& set, const Observed& observed);

}  // namespace hcpnet::spec
