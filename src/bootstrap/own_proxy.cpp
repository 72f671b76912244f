// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/bootstrap/load_balancer.hpp>
#include <utility>

namespace hcpnet::bootstrap {
namespace {

using Json = nlohmann::json;

/// What serves one virtual address.
struct Part {
  std::string name;
  std::vector<BalancedService> services;
};

std::vector<Part> parts_of(const spec::ValidBootstrapCluster& cluster, Phase phase) {
  std::vector<Part> parts{{cluster.spec.cluster_name + "-api", {}}, {cluster.spec.cluster_name + "-ingress", {}}};
  for (BalancedService& service : balanced_services(cluster, phase))
    parts[service.address == cluster.api_vip ? 0 : 1].services.push_back(std::move(service));
  return parts;
}

Json metadata(const spec::ValidBootstrapCluster& cluster, const Part& part) {
  return {{"name", part.name}, {"namespace", cluster.metadata.namespace_}};
}

/// Nothing is routed by it: on a listener of kind TCP nobody says a name.
std::string host_of(const spec::ValidBootstrapCluster& cluster, const BalancedService& service) {
  const bool is_api = service.name == "api";
  return (service.address == cluster.ingress_vip ? "*.apps." : is_api ? "api." : "api-int.") + cluster.domain;
}

Json proxy_server(const spec::ValidBootstrapCluster& cluster, const Part& part) {
  Json backends = Json::array();
  for (const BalancedService& service : part.services)
    backends.push_back({{"name", service.name},
                        {"hostname", host_of(cluster, service)},
                        {"port", service.port},
                        {"protocol", "TCP"},
                        {"targetService", service.name},
                        {"targetNamespace", cluster.spec.cluster_name},
                        {"targetPort", service.port},
                        {"timeoutSeconds", 10}});
  return {{"apiVersion", spec::kOooiApiVersion},
          {"kind", "ProxyServer"},
          {"metadata", metadata(cluster, part)},
          {"spec",
           {{"networkConfig", {{"serverIP", part.services.front().address.to_string()}}},
            {"port", part.services.front().port},
            {"backends", std::move(backends)}}}};
}

Json proxy_policy(const spec::ValidBootstrapCluster& cluster, const Part& part) {
  Json listeners = Json::array();
  for (const BalancedService& service : part.services) listeners.push_back({{"port", service.port}, {"kind", "TCP"}});
  const bool is_tls =
      std::ranges::all_of(part.services, [](const BalancedService& service) { return service.check.is_tls; });
  return {{"apiVersion", spec::kHcpnetApiVersion},
          {"kind", "ProxyPolicy"},
          {"metadata", metadata(cluster, part)},
          {"spec",
           {{"targetRef", {{"kind", "ProxyServer"}, {"name", part.name}}},
            {"listeners", std::move(listeners)},
            {"maxConnections", 20000},
            {"healthCheck",
             {{"kind", is_tls ? "TLS" : "TCP"},
              {"intervalSeconds", 2},
              {"timeoutSeconds", 2},
              {"failures", 3},
              {"successes", 2}}}}}};
}

}  // namespace

std::vector<Json> make_proxy_servers(const spec::ValidBootstrapCluster& cluster) {
  std::vector<Json> objects;
  for (const Part& part : parts_of(cluster, Phase::bootstrap)) {
    objects.push_back(proxy_server(cluster, part));
    objects.push_back(proxy_policy(cluster, part));
  }
  return objects;
}

Json make_proxy_endpoints(const spec::ValidBootstrapCluster& cluster, Phase phase) {
  Json endpoints = Json::object();
  for (const BalancedService& service : balanced_services(cluster, phase)) {
    Json& list = endpoints[cluster.spec.cluster_name + '/' + service.name + ':' + std::to_string(service.port)];
    list = Json::array();
    for (const spec::ValidNode* node : service.nodes) list.push_back(Endpoint{node->address, service.port}.to_string());
  }
  return endpoints;
}

}  // namespace hcpnet::bootstrap
