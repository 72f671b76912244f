// SPDX-License-Identifier: Apache-2.0
#include "reconcile/name_planner.hpp"
#include <algorithm>
#include <hcpnet/manifest/names.hpp>
#include <iterator>
#include <utility>

#include "reconcile/json_fields.hpp"
#include "spec/format.hpp"

namespace hcpnet::reconcile {
namespace {

using Json = nlohmann::json;

const Json kDns = {{"apiVersion", "operator.openshift.io/v1"}, {"kind", "DNS"}, {"metadata", {{"name", "default"}}}};

/// Such a name has 15 characters at most (RFC 6335 section 5.1), and each server of a cluster needs its own.
std::string entry_name(const ForwardTarget& target) {
  return "hcpnet-" +
         manifest::sha256_hex(target.namespace_ + '/' + target.service).substr(0, manifest::kNameHashDigits);
}

bool is_there(const Json& entry, const Json& observed) {
  return json_at(observed, "/zones") == entry["zones"] &&
         json_at(observed, "/forwardPlugin/upstreams") == entry["forwardPlugin"]["upstreams"];
}

/// A zone as names are compared.
std::string folded(const Json& zone) {
  std::string name = spec::lower(zone.is_string() ? zone.get<std::string>() : std::string());
  if (name.ends_with('.')) name.pop_back();
  return name;
}

/// A zone of `entry` that another server of the list has; empty when none has.
std::string taken_zone(const Json& entry, const Json& servers, std::string& owner) {
  for (const Json& server : servers) {
    owner = string_at(server, "/name");
    if (owner == entry["name"].get<std::string>()) continue;
    for (const Json& zone : json_at(server, "/zones"))
      for (const Json& own : entry["zones"])
        if (folded(zone) == folded(own)) return own.get<std::string>();
  }
  return {};
}

}  // namespace

Json reference(const char* version, const char* kind, const std::string& ns, const std::string& name) {
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}, {"namespace", ns}}}};
}

std::vector<IpAddress> service_addresses(const ClusterObjects& objects, const std::string& ns,
                                         const std::string& name) {
  std::vector<IpAddress> addresses;
  const Json* service = objects.find(reference("v1", "Service", ns, name));
  if (service == nullptr) return addresses;
  std::vector<std::string> texts{string_at(*service, "/spec/clusterIP")};
  for (const Json& text : json_at(*service, "/spec/clusterIPs"))
    if (text.is_string()) texts.push_back(text.get<std::string>());
  for (const std::string& text : texts) {
    const auto address = parse_ip_address(text);
    if (address && std::ranges::find(addresses, *address) == addresses.end()) addresses.push_back(*address);
  }
  return addresses;
}

void NamePlanner::warn(const std::string& code, const std::string& message) {
  Diagnostic d;
  d.severity = Severity::warning;
  d.code = code;
  d.message = owner_ + ": " + message;
  plan_.warnings.add(std::move(d));
}

void NamePlanner::add(const Json& desired) {
  Step step = compare(desired, objects_.find(desired), options_.may_recreate);
  std::ranges::move(step.actions, std::back_inserter(plan_.actions));
  std::ranges::move(step.held, std::back_inserter(plan_.held));
}

std::optional<manifest::ClusterNames> NamePlanner::published(const std::string& hosted_cluster,
                                                             const spec::ValidSet& set,
                                                             const spec::Observed& observed) {
  spec::ValidSet alone;
  for (const spec::ValidHostedCluster& cluster : set.hosted_clusters)
    if (cluster.metadata.key() == hosted_cluster) alone.hosted_clusters.push_back(cluster);
  if (alone.hosted_clusters.empty()) {
    warn("names-unknown", "the HostedCluster " + hosted_cluster +
                              " is not in the set, so nobody can say which names have to lead to the network");
    return {};
  }
  auto names = manifest::make_published_names(alone, observed);
  if (names) return std::move(names->clusters.front());
  for (const Diagnostic& problem : names.error()) warn("names-unknown", problem.message);
  return {};
}

void NamePlanner::add_zone_server(const manifest::ZoneServer& server) {
  for (const Json& object : manifest::zone_server_objects(server, plan_.warnings)) add(object);
  std::vector<std::string> zones;
  for (const auto& [name, unused] : server.names) zones.push_back(name.starts_with("*.") ? name.substr(2) : name);
  if (has_dns_operator()) return forward({server.namespace_, server.name, server.name}, zones);
  warn("dns-unknown", "dns.operator.openshift.io default was not observed: its other servers would be lost");
}

bool NamePlanner::has_dns_operator() const {
  return objects_.find(kDns) != nullptr;
}

void NamePlanner::forward(const ForwardTarget& target, const std::vector<std::string>& zones) {
  const std::string name = target.namespace_ + '/' + target.service;
  const std::vector<IpAddress> addresses = service_addresses(objects_, target.namespace_, target.service);
  if (addresses.empty())
    return warn("address-unknown",
                "Service " + name + " has no address yet; plan again once it is there, so that DNS leads to it");
  if (!answers(target))
    return warn("not-ready", "no pod of Deployment " + target.namespace_ + '/' + target.deployment +
                                 " is available yet; plan again once one is, so that DNS leads to it");
  Json upstreams = Json::array();
  for (const IpAddress& address : addresses) upstreams.push_back(Endpoint{address, target.port}.to_string());
  add_entry({{"name", entry_name(target)},
             {"zones", zones},
             {"forwardPlugin", {{"upstreams", std::move(upstreams)}, {"policy", "Random"}}}});
}

bool NamePlanner::answers(const ForwardTarget& target) const {
  const Json* deployment = objects_.find(reference("apps/v1", "Deployment", target.namespace_, target.deployment));
  if (deployment == nullptr) return false;
  const Json& available = json_at(*deployment, "/status/availableReplicas");
  return available.is_number_integer() && available.get<std::int64_t>() > 0;
}

/// The object belongs to whoever runs the cluster, and its list of servers has no keys to merge by: our entry is put in
/// or replaced by its name, and the patch fails where the list has changed meanwhile.
void NamePlanner::add_entry(Json entry) {
  const Json& dns = *objects_.find(kDns);
  const Json& servers = json_at(dns, "/spec/servers");
  std::string owner;
  if (const std::string zone = taken_zone(entry, servers, owner); !zone.empty())
    return warn("zone-taken", "server " + owner + " of dns.operator.openshift.io default has the zone " + zone +
                                  " already, and CoreDNS takes no zone twice: take that entry away and plan again");
  Json patch = Json::array();
  if (!servers.is_array()) {
    // What is not there can't be tested, but that nothing has changed can.
    if (const std::string version = string_at(dns, "/metadata/resourceVersion"); !version.empty())
      patch.push_back({{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", version}});
    if (json_at(dns, "/spec").is_null()) patch.push_back({{"op", "add"}, {"path", "/spec"}, {"value", Json::object()}});
    patch.push_back({{"op", "add"}, {"path", "/spec/servers"}, {"value", Json::array({std::move(entry)})}});
  } else {
    const auto ours = std::ranges::find_if(
        servers, [&](const Json& server) { return string_at(server, "/name") == entry["name"].get<std::string>(); });
    if (ours == servers.end()) {
      patch.push_back({{"op", "add"}, {"path", "/spec/servers/-"}, {"value", std::move(entry)}});
    } else if (is_there(entry, *ours)) {
      return;
    } else {
      const std::string path = "/spec/servers/" + std::to_string(ours - servers.begin());
      patch.push_back({{"op", "test"}, {"path", path + "/name"}, {"value", entry["name"]}});
      patch.push_back({{"op", "replace"}, {"path", path}, {"value", std::move(entry)}});
    }
  }
  plan_.actions.push_back({ActionKind::patch, kDns, std::move(patch),
                           "the cluster's DNS asks the server of these names for them and for nothing else"});
}

}  // namespace hcpnet::reconcile
