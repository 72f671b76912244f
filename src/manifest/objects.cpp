// SPDX-License-Identifier: Apache-2.0
#include "manifest/objects.hpp"
#include <algorithm>
#include <hcpnet/manifest/names.hpp>
#include <hcpnet/spec/model.hpp>
#include <iterator>
#include <set>
#include <utility>

namespace hcpnet::manifest {
namespace {

Json service_ports(const std::vector<Port>& ports) {
  Json list = Json::array();
  for (const Port& p : ports)
    list.push_back({{"name", p.name},
                    {"port", p.port},
                    {"protocol", p.protocol},
                    {"targetPort", p.target != 0 ? p.target : p.port}});
  return list;
}

Json pod_ports(const std::vector<Port>& ports) {
  Json list = Json::array();
  for (const Port& p : ports) list.push_back({{"protocol", p.protocol}, {"port", p.port}});
  return list;
}

}  // namespace

void ask_for_pool(Json& service, const std::string& pool) {
  for (const char* key : {"metallb.io/address-pool", "metallb.universe.tf/address-pool"})
    service["metadata"]["annotations"][key] = pool;
}

Json service_spec(const char* type, Json selector, const std::vector<Port>& ports) {
  Json spec = {{"type", type},
               {"selector", std::move(selector)},
               {"ports", service_ports(ports)},
               {"internalTrafficPolicy", "Cluster"},
               {"ipFamilyPolicy", "SingleStack"},
               {"sessionAffinity", "None"}};
  const bool is_load_balancer = spec["type"] == "LoadBalancer";
  if (is_load_balancer) spec["allocateLoadBalancerNodePorts"] = true;
  if (is_load_balancer || spec["type"] == "NodePort") spec["externalTrafficPolicy"] = "Cluster";
  return spec;
}

Json selector_labels(const Unit& unit, std::string_view component) {
  Json json = {{"app.kubernetes.io/name", "hcpnet"}, {"app.kubernetes.io/instance", unit.instance}};
  if (!component.empty()) json["app.kubernetes.io/component"] = component;
  return json;
}

Json labels(const Unit& unit, std::string_view component) {
  Json json = selector_labels(unit, component);
  json["app.kubernetes.io/managed-by"] = "hcpnet";
  json["app.kubernetes.io/part-of"] = "hcpnet";
  return json;
}

Json make_foreign(const Unit& unit, const char* version, const char* kind, std::string name, const std::string& ns,
                  std::string_view component) {
  Json metadata = {{"name", std::move(name)}, {"labels", labels(unit, component)}};
  if (!ns.empty()) metadata["namespace"] = ns;
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

Json make_object(const Unit& unit, const char* version, const char* kind, std::string name,
                 std::string_view component) {
  Json json = make_foreign(unit, version, kind, std::move(name), unit.owner.namespace_, component);
  if (!unit.owner.uid.empty())
    json["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", spec::kOooiApiVersion},
                                                        {"kind", unit.kind},
                                                        {"name", unit.owner.name},
                                                        {"uid", unit.owner.uid},
                                                        {"controller", true},
                                                        {"blockOwnerDeletion", true}}});
  return json;
}

Json config_map(const Unit& unit, std::string name, std::string_view component, Json data) {
  Json json = make_object(unit, "v1", "ConfigMap", std::move(name), component);
  json["data"] = std::move(data);
  return json;
}

Json state_claim(const Unit& unit, std::string name, std::string_view component) {
  Json json = make_object(unit, "v1", "PersistentVolumeClaim", std::move(name), component);
  json["spec"] = {{"accessModes", Json::array({"ReadWriteOnce"})},
                  {"resources", {{"requests", {{"storage", "64Mi"}}}}},
                  {"volumeMode", "Filesystem"}};
  return json;
}

Json service_account(const Unit& unit, std::string name, std::string_view component) {
  Json json = make_object(unit, "v1", "ServiceAccount", std::move(name), component);
  json["automountServiceAccountToken"] = false;  // nothing here asks the API server
  return json;
}

std::vector<Json> raw_socket_constraints(const Unit& unit, const std::string& account, std::string_view component) {
  // Cluster-scoped, so the namespace is part of the name: equal names in two namespaces stay two objects.
  const std::string name = cut_name("hcpnet-" + unit.owner.namespace_ + '-' + account, {}, kMaxNameBytes);
  Json constraints = make_foreign(unit, "security.openshift.io/v1", "SecurityContextConstraints", name, "", component);
  constraints.update({{"allowHostDirVolumePlugin", false},
                      {"allowHostIPC", false},
                      {"allowHostNetwork", false},
                      {"allowHostPID", false},
                      {"allowHostPorts", false},
                      {"allowPrivilegeEscalation", false},
                      {"allowPrivilegedContainer", false},
                      {"allowedCapabilities", Json::array({"NET_RAW"})},
                      {"defaultAddCapabilities", nullptr},
                      {"requiredDropCapabilities", Json::array({"ALL"})},
                      {"readOnlyRootFilesystem", true},
                      {"runAsUser", {{"type", "MustRunAs"}, {"uid", 0}}},
                      {"seLinuxContext", {{"type", "MustRunAs"}}},
                      {"fsGroup", {{"type", "RunAsAny"}}},
                      {"supplementalGroups", {{"type", "RunAsAny"}}},
                      {"seccompProfiles", Json::array({"runtime/default"})},
                      {"volumes", Json::array({"configMap", "downwardAPI", "emptyDir", "persistentVolumeClaim"})},
                      {"priority", nullptr},
                      {"groups", Json::array()},
                      {"users", Json::array()}});
  Json role = make_foreign(unit, "rbac.authorization.k8s.io/v1", "ClusterRole", name, "", component);
  role["rules"] = Json::array({{{"apiGroups", Json::array({"security.openshift.io"})},
                                {"resources", Json::array({"securitycontextconstraints"})},
                                {"resourceNames", Json::array({name})},
                                {"verbs", Json::array({"use"})}}});
  Json binding = make_object(unit, "rbac.authorization.k8s.io/v1", "RoleBinding", cut_name(account, "-scc"), component);
  binding["roleRef"] = {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", name}};
  binding["subjects"] =
      Json::array({{{"kind", "ServiceAccount"}, {"name", account}, {"namespace", unit.owner.namespace_}}});
  return {std::move(constraints), std::move(role), std::move(binding)};
}

Json cluster_service(const Unit& unit, std::string name, std::string_view component,
                     std::string_view selected_component, const std::vector<Port>& ports) {
  Json json = make_object(unit, "v1", "Service", std::move(name), component);
  json["spec"] = service_spec("ClusterIP", selector_labels(unit, selected_component), ports);
  return json;
}

std::vector<Json> metrics_objects(const Unit& unit, const std::string& name, bool with_monitor) {
  Json service = make_object(unit, "v1", "Service", name, "metrics");
  service["spec"] = service_spec("ClusterIP", selector_labels(unit, {}), {{"metrics", kObservePort}});
  service["spec"]["clusterIP"] = "None";
  service["spec"]["publishNotReadyAddresses"] = true;  // what isn't ready has most to tell
  if (!with_monitor) return {std::move(service)};
  Json monitor = make_object(unit, "monitoring.coreos.com/v1", "ServiceMonitor", name, "metrics");
  monitor["spec"] = {{"selector", {{"matchLabels", selector_labels(unit, "metrics")}}},
                     {"endpoints", Json::array({{{"port", "metrics"}, {"path", "/metrics"}, {"scheme", "http"}}})}};
  return {std::move(service), std::move(monitor)};
}

std::vector<Json> external_services(const Unit& unit, std::string_view selected_component) {
  std::vector<Json> services;
  for (const spec::ValidInfra& infra : unit.set.infras) {
    for (const spec::ValidCluster& cluster : infra.clusters) {
      if (!cluster.external_port) continue;
      const auto attachment = std::ranges::find(unit.set.attachments, cluster.name,
                                                [](const auto& a) -> const std::string& { return a.metadata.name; });
      const spec::ExternalService& wanted = attachment->external_service;
      Json json = make_object(unit, "v1", "Service", service_name(cluster.name, "-proxy-external"), "external");
      for (const auto& [key, value] : wanted.labels) json["metadata"]["labels"].emplace(key, value);
      for (const auto& [key, value] : wanted.annotations) json["metadata"]["annotations"][key] = value;
      if (wanted.address_pool_name) ask_for_pool(json, *wanted.address_pool_name);
      json["spec"] = service_spec("LoadBalancer", selector_labels(unit, selected_component),
                                  {{"https", 443, "TCP", *cluster.external_port}});
      services.push_back(std::move(json));
    }
  }
  return services;
}

Json pod_network_policy(const Unit& unit, std::string name, std::string_view component,
                        const std::vector<Port>& ports) {
  Json json = make_object(unit, "networking.k8s.io/v1", "NetworkPolicy", std::move(name), component);
  Json ingress = Json::array();
  if (!ports.empty()) ingress.push_back({{"ports", pod_ports(ports)}});
  const Json monitoring = {
      {"namespaceSelector", {{"matchLabels", {{"network.openshift.io/policy-group", "monitoring"}}}}}};
  ingress.push_back({{"from", Json::array({monitoring})}, {"ports", pod_ports({{"metrics", kObservePort}})}});
  json["spec"] = {{"podSelector", {{"matchLabels", selector_labels(unit, component)}}},
                  {"policyTypes", Json::array({"Ingress"})},
                  {"ingress", std::move(ingress)}};
  return json;
}

Json vlan_policy(const Unit& unit, std::string name, std::string_view component, const std::vector<Port>& ports) {
  Json json = make_object(unit, "k8s.cni.cncf.io/v1beta1", "MultiNetworkPolicy", std::move(name), component);
  json["metadata"]["annotations"]["k8s.v1.cni.cncf.io/policy-for"] =
      unit.attachment.namespace_ + '/' + unit.attachment.name;
  json["spec"] = {{"podSelector", {{"matchLabels", selector_labels(unit, component)}}},
                  {"policyTypes", Json::array({"Ingress"})},
                  {"ingress", Json::array({{{"ports", pod_ports(ports)}}})}};
  return json;
}

std::vector<Json> control_plane_policies(const Unit& unit, std::string_view component) {
  struct Target {
    const char *suffix, *app, *service;
    std::uint16_t port;
  };
  static constexpr Target kTargets[] = {{"-oauth", "oauth-openshift", "oauth-openshift", 6443},
                                        {"-ignition", "ignition-server-proxy", "ignition-server-proxy", 8443},
                                        {"-konnectivity", "kube-apiserver", "konnectivity-server", 8091}};
  std::set<std::pair<std::string, std::size_t>> wanted;  // namespace, index of kTargets
  for (std::size_t i = 0; i < std::size(kTargets); ++i) {
    for (const spec::ValidInfra& infra : unit.set.infras)
      for (const spec::ValidCluster& cluster : infra.clusters) wanted.emplace(cluster.control_plane_namespace, i);
    for (const spec::ValidProxyServer& server : unit.set.proxy_servers)
      for (const spec::ValidProxyBackend& backend : server.backends)
        if (backend.target_service == kTargets[i].service) wanted.emplace(backend.target_namespace, i);
  }
  std::vector<Json> policies;
  for (const auto& [ns, i] : wanted) {
    if (ns == unit.owner.namespace_) continue;  // HyperShift's same-namespace policy covers it
    const Target& target = kTargets[i];
    const std::string base = "hcpnet-" + unit.owner.namespace_ + '-' + unit.owner.name;
    Json json =
        make_foreign(unit, "networking.k8s.io/v1", "NetworkPolicy", cut_name(base, target.suffix), ns, component);
    const Json proxy = {
        {"namespaceSelector", {{"matchLabels", {{"kubernetes.io/metadata.name", unit.owner.namespace_}}}}},
        {"podSelector", {{"matchLabels", selector_labels(unit, component)}}}};
    json["spec"] = {
        {"podSelector", {{"matchLabels", {{"app", target.app}}}}},
        {"policyTypes", Json::array({"Ingress"})},
        {"ingress", Json::array({{{"from", Json::array({proxy})}, {"ports", pod_ports({{"", target.port}})}}})}};
    policies.push_back(std::move(json));
  }
  return policies;
}

}  // namespace hcpnet::manifest
