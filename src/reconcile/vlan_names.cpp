// SPDX-License-Identifier: Apache-2.0
#include "reconcile/vlan_names.hpp"
#include <algorithm>
#include <hcpnet/manifest/names.hpp>

#include "reconcile/json_fields.hpp"
#include "reconcile/name_planner.hpp"

namespace hcpnet::reconcile {
namespace {

using Json = nlohmann::json;

const Json* find_built(const std::vector<Json>& built, const char* kind, const std::string& ns,
                       const std::string& name) {
  const auto found = std::ranges::find_if(built, [&](const Json& object) {
    return object["kind"] == kind && string_at(object, "/metadata/namespace") == ns &&
           string_at(object, "/metadata/name") == name;
  });
  return found == built.end() ? nullptr : &*found;
}

bool selects(const Json& selector, const Json& labels) {
  for (const auto& [name, value] : selector.items())
    if (labels.value(name, Json()) != value) return false;
  return true;
}

/// The name of the Deployment whose pods a Service selects: it depends on how the servers are deployed.
std::string deployment_of(const std::vector<Json>& built, const Json& service) {
  const std::string ns = string_at(service, "/metadata/namespace");
  const auto found = std::ranges::find_if(built, [&](const Json& object) {
    return object["kind"] == "Deployment" && string_at(object, "/metadata/namespace") == ns &&
           selects(json_at(service, "/spec/selector"), json_at(object, "/spec/template/metadata/labels"));
  });
  return found == built.end() ? std::string() : string_at(*found, "/metadata/name");
}

}  // namespace

void plan_vlan_names(const spec::ValidSet& set, const std::vector<Json>& built, const ClusterObjects& objects,
                     const PlanOptions& options, Plan& plan) {
  const auto forward = [&](const spec::ObjectMeta& owner, const std::string& service, std::uint16_t port,
                           const std::vector<std::string>& zones) {
    NamePlanner planner(owner.key(), objects, options, plan);
    const Json* made = find_built(built, "Service", owner.namespace_, service);
    if (made == nullptr || zones.empty() || !planner.has_dns_operator()) return;
    planner.forward({owner.namespace_, service, deployment_of(built, *made), port}, zones);
  };
  for (const spec::ValidInfra& infra : set.infras) {
    if (!infra.dns) continue;
    std::vector<std::string> zones;
    for (const spec::ValidCluster& cluster : infra.clusters) zones.push_back(cluster.domain);
    forward(infra.metadata, manifest::service_name(infra.metadata.name, "-dns"), 53, zones);
  }
  for (const spec::ValidDnsServer& server : set.dns_servers)
    forward(server.metadata, manifest::service_name(server.metadata.name), server.port, {server.domain});
}

}  // namespace hcpnet::reconcile
