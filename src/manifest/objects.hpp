// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/unit.hpp"

/// The small objects around a workload. Each sets what the API server would default.
namespace hcpnet::manifest {

using Json = nlohmann::json;

inline constexpr std::uint16_t kObservePort = 9464;  ///< /healthz, /readyz and /metrics of every pod

/// app.kubernetes.io labels; an empty component leaves that one out.
[[nodiscard]] Json labels(const Unit& unit, std::string_view component);
[[nodiscard]] Json selector_labels(const Unit& unit, std::string_view component);

/// apiVersion, kind and metadata of an object in the unit's namespace, owned by the unit where its UID is known.
[[nodiscard]] Json make_object(const Unit& unit, const char* version, const char* kind, std::string name,
                               std::string_view component);
/// The same in another namespace, or in none: Kubernetes allows no owner from outside there.
[[nodiscard]] Json make_foreign(const Unit& unit, const char* version, const char* kind, std::string name,
                                const std::string& ns, std::string_view component);

struct Port {
  std::string name;
  std::uint16_t port = 0;
  const char* protocol = "TCP";
  std::uint16_t target = 0;  ///< of a Service; 0: the same
};

/// `spec` of a Service, with what the API server fills in but for the addresses that it gives out.
[[nodiscard]] Json service_spec(const char* type, Json selector, const std::vector<Port>& ports);

/// Has MetalLB take the Service's address from a pool. Releases before 0.14.9 know the annotation's old name only.
void ask_for_pool(Json& service, const std::string& pool);

[[nodiscard]] Json config_map(const Unit& unit, std::string name, std::string_view component, Json data);
[[nodiscard]] Json state_claim(const Unit& unit, std::string name, std::string_view component);
[[nodiscard]] Json service_account(const Unit& unit, std::string name, std::string_view component);
/// The constraints that a DHCP pod needs on OpenShift, a role to use exactly these, and its binding.
[[nodiscard]] std::vector<Json> raw_socket_constraints(const Unit& unit, const std::string& account,
                                                       std::string_view component);
[[nodiscard]] Json cluster_service(const Unit& unit, std::string name, std::string_view component,
                                   std::string_view selected_component, const std::vector<Port>& ports);
/// For all components: what a ServiceMonitor finds.
[[nodiscard]] std::vector<Json> metrics_objects(const Unit& unit, const std::string& name, bool with_monitor);
/// LoadBalancer Services of the attachments, each for the port that serves its names alone.
[[nodiscard]] std::vector<Json> external_services(const Unit& unit, std::string_view selected_component);

/// What the pods of a component may be asked, on the pod network and on the VLAN.
[[nodiscard]] Json pod_network_policy(const Unit& unit, std::string name, std::string_view component,
                                      const std::vector<Port>& ports);
[[nodiscard]] Json vlan_policy(const Unit& unit, std::string name, std::string_view component,
                               const std::vector<Port>& ports);
/// Lets the proxy reach those pods of the control planes that HyperShift's own policies keep closed, on pod ports.
[[nodiscard]] std::vector<Json> control_plane_policies(const Unit& unit, std::string_view component);

}  // namespace hcpnet::manifest
