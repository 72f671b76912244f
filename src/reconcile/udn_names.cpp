// SPDX-License-Identifier: Apache-2.0
// On a primary network the management cluster's router reaches no pod, and guests don't reach the router's view of
// themselves. So names get answers that lead to Services on the network: a zone of our own, to which the cluster's DNS
// forwards. Certificates and server names stay what they are.
#include "reconcile/udn_names.hpp"
#include <algorithm>
#include <hcpnet/manifest/names.hpp>
#include <hcpnet/manifest/udn_slices.hpp>
#include <utility>

#include "reconcile/json_fields.hpp"
#include "reconcile/name_planner.hpp"

namespace hcpnet::reconcile {
namespace {

using Json = nlohmann::json;

constexpr const char* kGuestNamespace = "hcpnet-names";
constexpr const char* kBridge = "oauth-bridge";
constexpr std::uint16_t kOauthPort = 6443;

const manifest::PublishedName* find_name(const manifest::ClusterNames& names, std::string_view service) {
  const auto found = std::ranges::find(names.names, service, &manifest::PublishedName::service);
  return found == names.names.end() || found->host.empty() ? nullptr : &*found;
}

bool is_by_route(const manifest::PublishedName* name) {
  return name != nullptr && name->strategy == "Route";
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
  NamePlanner planner(udn.metadata.key(), objects, options, plan);
  const auto names = planner.published(udn.hosted_cluster, set, observed);
  if (!names) return;
  // Agents of Konnectivity dial its host from the machines' network, and on a port that its Service doesn't have.
  if (is_by_route(find_name(*names, "Konnectivity")) && !is_by_route(find_name(*names, "APIServer")))
    planner.warn(
        "konnectivity-unreachable",
        "Konnectivity is published by a Route of the management cluster's router, which reaches no pod of the "
        "network: publish it by LoadBalancer or NodePort, or the API server by Route, for which HyperShift has "
        "a router of its own on the network");
  const manifest::PublishedName* ignition = find_name(*names, "Ignition");
  // A node port is reached from every network; what is an address nobody looks up.
  if (!is_by_route(ignition) || !ignition->needs_record || !ignition->target) return;
  const auto addresses = service_addresses(objects, ignition->target->namespace_, ignition->target->service);
  if (addresses.empty())
    return planner.warn("address-unknown", "Service " + ignition->target->namespace_ + '/' + ignition->target->service +
                                               " has no address yet; plan again once it is there, so that " +
                                               ignition->host + " leads to it");
  manifest::ZoneServer server;
  server.owner = udn.metadata.name;
  server.namespace_ = udn.metadata.namespace_;
  const auto has_namespace = [&](const spec::ValidPrimaryUdn& network) {
    return std::ranges::find(network.namespaces, server.namespace_) != network.namespaces.end();
  };
  if (std::ranges::any_of(set.primary_udns, has_namespace))
    return planner.warn("server-on-network", "the server for " + ignition->host + " would be in namespace " +
                                                 server.namespace_ +
                                                 ", on a primary network, where the cluster's DNS doesn't reach it; "
                                                 "put the PrimaryUDN into another namespace");
  server.name = manifest::service_name(udn.metadata.name, "-names");
  server.image = options.build.coredns_image;
  server.names[ignition->host] = addresses;
  planner.add_zone_server(server);
}

void plan_guest_names(const spec::ValidPrimaryUdn& udn, const spec::ValidSet& set, const spec::Observed& observed,
                      const ClusterObjects& management, const ClusterObjects& guest, const PlanOptions& options,
                      Plan& plan) {
  NamePlanner planner(udn.metadata.key(), guest, options, plan);
  const auto names = planner.published(udn.hosted_cluster, set, observed);
  if (!names) return;
  const manifest::PublishedName* oauth = find_name(*names, "OAuthServer");
  // A node port is reached from every network, and the bridge doesn't have that port.
  const bool needs_bridge = is_by_route(oauth) && oauth->needs_record;
  planner.add(guest_namespace());
  if (needs_bridge) {
    planner.add(bridge_service());
    for (const Json& slice : bridge_slices(udn, management, guest)) planner.add(slice);
  }

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
  if (needs_bridge) answer(oauth->host, kGuestNamespace, kBridge);
  if (!server.names.empty()) planner.add_zone_server(server);
}

}  // namespace hcpnet::reconcile
