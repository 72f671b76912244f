// SPDX-License-Identifier: Apache-2.0
#include "spec/observed_publishing.hpp"
#include <hcpnet/spec/codes.hpp>

#include "spec/hosted_cluster_status.hpp"

namespace hcpnet::spec {
namespace {

using text::Value;

/// The host at `pointer`; empty when there is none.
std::string read_host(const ObservedObject& object, const std::string& pointer, Diagnostics& warnings) {
  const std::string text = object.string_at(pointer);
  std::string host = host_of(text);
  if (host.empty() && !text.empty())
    warnings.add(object.warning(code::bad_hostname, pointer, "this is no host name and no address, and is not used"));
  return host;
}

/// The first of `pointers` that holds a host.
template <std::size_t N>
std::string read_first_host(const ObservedObject& object, const std::string (&pointers)[N], Diagnostics& warnings) {
  for (const std::string& pointer : pointers)
    if (std::string host = read_host(object, pointer, warnings); !host.empty()) return host;
  return {};
}

void read_service(const ObservedObject& service, ObservedPublishing& publishing, Diagnostics& warnings) {
  const std::string key = service.metadata.key();
  for (const Value& port : service.items_at("/spec/ports")) {
    const auto number = port_at(port, "/port");
    const auto node_port = port_at(port, "/nodePort");
    if (number && node_port) publishing.node_ports.emplace(key + ':' + std::to_string(*number), *node_port);
  }
  const std::string ingress = "/status/loadBalancer/ingress/0";
  std::string host = read_first_host(service, {ingress + "/hostname", ingress + "/ip"}, warnings);
  if (!host.empty()) publishing.load_balancers.emplace(key, std::move(host));
}

}  // namespace

void read_publishing(const ObservedObjects& objects, ObservedPublishing& publishing, Diagnostics& warnings) {
  for (const ObservedObject& service : objects.services) read_service(service, publishing, warnings);
  for (const ObservedObject& route : objects.routes) {
    std::string host = read_first_host(route, {"/spec/host", "/status/ingress/0/host"}, warnings);
    if (!host.empty()) publishing.route_hosts.emplace(route.metadata.key(), std::move(host));
  }
  for (const ObservedObject& ingress : objects.ingresses) {
    if (ingress.metadata.name != "cluster") continue;
    publishing.domain = read_host(ingress, "/spec/domain", warnings);
    publishing.apps_domain = read_host(ingress, "/spec/appsDomain", warnings);
  }
  for (const ObservedObject& cluster : objects.hosted_clusters)
    publishing.hosted_clusters.emplace(cluster.metadata.key(), read_status(*cluster.value));
}

}  // namespace hcpnet::spec
