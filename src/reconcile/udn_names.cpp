// SPDX-License-Identifier: Apache-2.0
// On a primary network the management cluster's router reaches no pod, and guests don't reach the router's view of
// themselves. So names get answers that lead to Services on the network: a zone of our own, to which the cluster's DNS
// forwards. Certificates and server names stay what they are.
#include "reconcile/udn_names.hpp"
#include <algorithm>
#include <hcpnet/manifest/names.hpp>
#include <hcpnet/manifest/published_names.hpp>
#include <hcpnet/manifest/udn_slices.hpp>
#include <iterator>
#include <optional>
#include <utility>

#include "manifest/zone_server.hpp"
#include "reconcile/json_fields.hpp"

namespace hcpnet::reconcile {
namespace {

using Json = nlohmann::json;

constexpr const char* kGuestNamespace = "hcpnet-names";
constexpr const char* kBridge = "oauth-bridge";
constexpr std::uint16_t kOauthPort = 6443;

Json reference(const char* version, const char* kind, const std::string& ns, const std::string& name) {
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}, {"namespace", ns}}}};
}

/// ClusterIPs of a Service; none where it is headless or not there.
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

class NamePlanner {
 public:
  NamePlanner(const spec::ValidPrimaryUdn& udn, const ClusterObjects& objects, const PlanOptions& options, Plan& plan)
      : udn_(udn), objects_(objects), options_(options), plan_(plan) {}

  void warn(const std::string& code, const std::string& message) {
    Diagnostic d;
    d.severity = Severity::warning;
    d.code = code;
    d.message = udn_.metadata.key() + ": " + message;
    plan_.warnings.add(std::move(d));
  }

  void add(const Json& desired) {
    Step step = compare(desired, objects_.find(desired), options_.may_recreate);
    std::ranges::move(step.actions, std::back_inserter(plan_.actions));
    std::ranges::move(step.held, std::back_inserter(plan_.held));
  }

  /// Names of the hosted cluster, as HyperShift publishes them. What isn't known yet is told and left out.
  std::optional<manifest::ClusterNames> published(const spec::ValidSet& set, const spec::Observed& observed) {
    spec::ValidSet alone;
    for (const spec::ValidHostedCluster& cluster : set.hosted_clusters)
      if (cluster.metadata.key() == udn_.hosted_cluster) alone.hosted_clusters.push_back(cluster);
    if (alone.hosted_clusters.empty()) {
      warn("names-unknown", "the HostedCluster " + udn_.hosted_cluster +
                                " is not in the set, so nobody can say which names have to lead to the network");
      return {};
    }
    auto names = manifest::make_published_names(alone, observed);
    if (names) return std::move(names->clusters.front());
    for (const Diagnostic& problem : names.error()) warn("names-unknown", problem.message);
    return {};
  }

  /// The server, and an entry of the cluster's DNS that leads to it once its address is known: an entry that comes
  /// earlier would make the names fail.
  void add_zone_server(const manifest::ZoneServer& server) {
    for (const Json& object : manifest::zone_server_objects(server, plan_.warnings)) add(object);
    const std::vector<IpAddress> addresses = service_addresses(objects_, server.namespace_, server.name);
    if (addresses.empty())
      return warn("address-unknown", "Service " + server.namespace_ + '/' + server.name +
                                         " has no address yet; plan again once it is there, so that DNS leads to it");
    if (!answers(server))
      return warn("not-ready", "no pod of Deployment " + server.namespace_ + '/' + server.name +
                                   " is available yet; plan again once one is, so that DNS leads to it");
    Json zones = Json::array();
    for (const auto& [name, unused] : server.names) zones.push_back(name.starts_with("*.") ? name.substr(2) : name);
    Json upstreams = Json::array();
    for (const IpAddress& address : addresses) upstreams.push_back(Endpoint{address, 53}.to_string());
    add_forwarding({{"name", entry_name(server)},
                    {"zones", std::move(zones)},
                    {"forwardPlugin", {{"upstreams", std::move(upstreams)}, {"policy", "Random"}}}});
  }

 private:
  [[nodiscard]] bool answers(const manifest::ZoneServer& server) const {
    const Json* deployment = objects_.find(reference("apps/v1", "Deployment", server.namespace_, server.name));
    if (deployment == nullptr) return false;
    const Json& available = json_at(*deployment, "/status/availableReplicas");
    return available.is_number_integer() && available.get<std::int64_t>() > 0;
  }

  /// Such a name has 15 characters at most (RFC 6335 section 5.1), and each server of a cluster needs its own.
  static std::string entry_name(const manifest::ZoneServer& server) {
    return "hcpnet-" + manifest::sha256_hex(server.namespace_ + '/' + server.name).substr(0, manifest::kNameHashDigits);
  }

  /// dns.operator.openshift.io belongs to whoever runs the cluster, and its list of servers has no keys to merge by:
  /// our entry is put in or replaced by its name, and the patch fails where the list has changed meanwhile.
  void add_forwarding(Json entry) {
    const Json wanted = {
        {"apiVersion", "operator.openshift.io/v1"}, {"kind", "DNS"}, {"metadata", {{"name", "default"}}}};
    const Json* dns = objects_.find(wanted);
    if (dns == nullptr)
      return warn("dns-unknown", "dns.operator.openshift.io default was not observed: its other servers would be lost");
    const Json& servers = json_at(*dns, "/spec/servers");
    Json patch = Json::array();
    if (!servers.is_array()) {
      // What is not there can't be tested, but that nothing has changed can.
      if (const std::string version = string_at(*dns, "/metadata/resourceVersion"); !version.empty())
        patch.push_back({{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", version}});
      if (json_at(*dns, "/spec").is_null())
        patch.push_back({{"op", "add"}, {"path", "/spec"}, {"value", Json::object()}});
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
    plan_.actions.push_back({ActionKind::patch, wanted, std::move(patch),
                             "the cluster's DNS asks the server of these names for them and for nothing else"});
  }

  static bool is_there(const Json& entry, const Json& observed) {
    return json_at(observed, "/zones") == entry["zones"] &&
           json_at(observed, "/forwardPlugin/upstreams") == entry["forwardPlugin"]["upstreams"];
  }

  const spec::ValidPrimaryUdn& udn_;
  const ClusterObjects& objects_;
  const PlanOptions& options_;
  Plan& plan_;
};

const manifest::PublishedName* find_name(const manifest::ClusterNames& names, std::string_view service) {
  const auto found = std::ranges::find(names.names, service, &manifest::PublishedName::service);
  return found == names.names.end() || found->host.empty() ? nullptr : &*found;
}

/// Addresses on the primary network of the OAuth server's pods that serve.
manifest::PrimaryAddresses oauth_addresses(const Json& pod) {
  if (word_of(pod, "labels", "app") != "oauth-openshift") return {};
  for (const Json& condition : json_at(pod, "/status/conditions"))
    if (string_at(condition, "/type") == "Ready" && string_at(condition, "/status") == "True") {
      const auto found = manifest::parse_pod_networks(word_of(pod, "annotations", "k8s.ovn.org/pod-networks"));
      if (found) return *found;
    }
  return {};
}

Json bridge_service() {
  return {
      {"apiVersion", "v1"},
      {"kind", "Service"},
      {"metadata",
       {{"name", kBridge},
        {"namespace", kGuestNamespace},
        {"labels", {{"app.kubernetes.io/managed-by", "hcpnet"}, {"app.kubernetes.io/part-of", "hcpnet"}}}}},
      {"spec",
       {{"type", "ClusterIP"},
        {"ports", Json::array({{{"name", "https"}, {"port", 443}, {"protocol", "TCP"}, {"targetPort", kOauthPort}}})},
        {"internalTrafficPolicy", "Cluster"},
        {"ipFamilyPolicy", "PreferDualStack"},
        {"sessionAffinity", "None"}}}};
}

/// A slice for each family in which the OAuth server is to be had, also an empty one: what was there before is gone.
std::vector<Json> bridge_slices(const spec::ValidPrimaryUdn& udn, const ClusterObjects& management,
                                const ClusterObjects& guest) {
  const Json* service = guest.find(reference("v1", "Service", kGuestNamespace, kBridge));
  manifest::Slice v4, v6;
  v6.is_ipv6 = true;
  for (const Json* pod : management.all("", "Pod", udn.namespaces.front())) {
    const manifest::PrimaryAddresses found = oauth_addresses(*pod);
    if (found.v4) v4.endpoints.push_back({*found.v4});
    if (found.v6) v6.endpoints.push_back({*found.v6});
  }
  std::vector<Json> slices;
  for (manifest::Slice* slice : {&v4, &v6}) {
    const bool is_wanted = std::ranges::any_of(
        udn.subnets, [&](const Cidr& subnet) { return subnet.network().is_v6() == slice->is_ipv6; });
    if (!is_wanted) continue;
    std::ranges::sort(slice->endpoints, {}, &manifest::SliceEndpoint::address);
    slice->namespace_ = kGuestNamespace;
    slice->service = kBridge;
    if (service != nullptr) slice->service_uid = string_at(*service, "/metadata/uid");
    slice->name = std::string(kBridge) + (slice->is_ipv6 ? "-ipv6" : "-ipv4");
    slice->ports = {{"https", kOauthPort}};
    slices.push_back(manifest::endpoint_slice(*slice));
  }
  return slices;
}

Json guest_namespace() {
  return {{"apiVersion", "v1"},
          {"kind", "Namespace"},
          {"metadata",
           {{"name", kGuestNamespace},
            {"labels",
             {{"app.kubernetes.io/managed-by", "hcpnet"},
              {"app.kubernetes.io/part-of", "hcpnet"},
              {"kubernetes.io/metadata.name", kGuestNamespace}}}}},
          {"spec", {{"finalizers", Json::array({"kubernetes"})}}}};
}

}  // namespace

void plan_management_names(const spec::ValidPrimaryUdn& udn, const spec::ValidSet& set, const spec::Observed& observed,
                           const ClusterObjects& objects, const PlanOptions& options, Plan& plan) {
  NamePlanner planner(udn, objects, options, plan);
  const auto names = planner.published(set, observed);
  if (!names) return;
  const manifest::PublishedName* ignition = find_name(*names, "Ignition");
  // A node port is reached from every network; what is an address nobody looks up.
  if (ignition == nullptr || ignition->strategy != "Route" || !ignition->needs_record || !ignition->target) return;
  const auto addresses = service_addresses(objects, ignition->target->namespace_, ignition->target->service);
  if (addresses.empty())
    return planner.warn("address-unknown", "Service " + ignition->target->namespace_ + '/' + ignition->target->service +
                                               " has no address yet; plan again once it is there, so that " +
                                               ignition->host + " leads to it");
  manifest::ZoneServer server;
  server.owner = udn.metadata.name;
  server.namespace_ = udn.metadata.namespace_;
  server.name = manifest::service_name(udn.metadata.name, "-names");
  server.image = options.build.coredns_image;
  server.names[ignition->host] = addresses;
  planner.add_zone_server(server);
}

void plan_guest_names(const spec::ValidPrimaryUdn& udn, const spec::ValidSet& set, const spec::Observed& observed,
                      const ClusterObjects& management, const ClusterObjects& guest, const PlanOptions& options,
                      Plan& plan) {
  NamePlanner planner(udn, guest, options, plan);
  const auto names = planner.published(set, observed);
  if (!names) return;
  planner.add(guest_namespace());
  planner.add(bridge_service());
  for (const Json& slice : bridge_slices(udn, management, guest)) planner.add(slice);

  manifest::ZoneServer server;
  server.owner = udn.metadata.name;
  server.namespace_ = kGuestNamespace;
  server.name = "names";
  server.image = options.build.coredns_image;
  const auto answer = [&](const std::string& host, const std::string& ns, const std::string& service) {
    const auto addresses = service_addresses(guest, ns, service);
    if (addresses.empty())
      planner.warn("address-unknown", "Service " + ns + '/' + service +
                                          " of the guest has no address yet; plan again "
                                          "once it is there, so that " +
                                          host + " leads to it");
    else
      server.names[host] = addresses;
  };
  for (const manifest::PublishedName& name : names->names)
    if (name.service == "Ingress" && name.host.starts_with("*.") && !server.names.contains(name.host))
      answer(name.host, "openshift-ingress", "router-internal-default");
  const manifest::PublishedName* oauth = find_name(*names, "OAuthServer");
  if (oauth != nullptr && oauth->needs_record) answer(oauth->host, kGuestNamespace, kBridge);
  if (!server.names.empty()) planner.add_zone_server(server);
}

}  // namespace hcpnet::reconcile
