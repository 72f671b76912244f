// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/manifest/names.hpp>
#include <hcpnet/manifest/udn.hpp>
#include <utility>

#include "manifest/udn.hpp"

namespace hcpnet::manifest {
namespace {

using Json = nlohmann::json;

constexpr const char* kOvnVersion = "k8s.ovn.org/v1";

Json texts(const std::vector<Cidr>& networks) {
  Json list = Json::array();
  for (const Cidr& network : networks) list.push_back(network.to_string());
  return list;
}

void set_list(Json& json, const char* name, Json list) {
  if (!list.empty()) json[name] = std::move(list);
}

Json layer2(const spec::ValidPrimaryUdn& udn) {
  const spec::UdnLayer2& spec = *udn.spec.layer2;
  Json json = {{"role", "Primary"}, {"subnets", texts(udn.subnets)}};
  if (spec.mtu) json["mtu"] = *spec.mtu;
  set_list(json, "reservedSubnets", texts(udn.reserved));
  set_list(json, "infrastructureSubnets", texts(udn.infrastructure));
  set_list(json, "joinSubnets", texts(udn.join));
  for (const IpAddress& gateway : udn.gateways) json["defaultGatewayIPs"].push_back(gateway.to_string());
  if (spec.ipam) {
    if (spec.ipam->mode) json["ipam"]["mode"] = "Enabled";
    if (spec.ipam->lifecycle) json["ipam"]["lifecycle"] = "Persistent";
  }
  return json;
}

Json layer3(const spec::ValidPrimaryUdn& udn) {
  const spec::UdnLayer3& spec = *udn.spec.layer3;
  Json json = {{"role", "Primary"}, {"subnets", Json::array()}};
  if (spec.mtu) json["mtu"] = *spec.mtu;
  for (const spec::UdnLayer3Subnet& subnet : spec.subnets) {
    Json item = {{"cidr", parse_cidr(subnet.cidr).value().to_string()}};
    if (subnet.host_subnet) item["hostSubnet"] = *subnet.host_subnet;
    json["subnets"].push_back(std::move(item));
  }
  set_list(json, "joinSubnets", texts(udn.join));
  return json;
}

Json vrf(const spec::UdnVrf& vrf) {
  Json json = {{"vni", vrf.vni}};
  if (vrf.route_target) json["routeTarget"] = *vrf.route_target;
  return json;
}

void set_transport(Json& network, const spec::PrimaryUDN& spec) {
  if (!spec.transport) return;
  network["transport"] = *spec.transport == spec::UdnTransport::evpn ? "EVPN" : "NoOverlay";
  if (spec.no_overlay)
    network["noOverlay"] = {
        {"outboundSNAT", spec.no_overlay->outbound_snat == spec::UdnOutboundSnat::enabled ? "Enabled" : "Disabled"},
        {"routing", spec.no_overlay->routing == spec::UdnRouting::managed ? "Managed" : "Unmanaged"}};
  if (!spec.evpn) return;
  network["evpn"] = {{"vtep", spec.evpn->vtep}};
  if (spec.evpn->mac_vrf) network["evpn"]["macVRF"] = vrf(*spec.evpn->mac_vrf);
  if (spec.evpn->ip_vrf) network["evpn"]["ipVRF"] = vrf(*spec.evpn->ip_vrf);
}

Json topology(const spec::ValidPrimaryUdn& udn) {
  if (udn.spec.topology == spec::UdnTopology::layer2) return {{"topology", "Layer2"}, {"layer2", layer2(udn)}};
  return {{"topology", "Layer3"}, {"layer3", layer3(udn)}};
}

Json selector(const spec::StringMap& labels) {
  if (labels.empty()) return Json::object();  // selects all
  return {{"matchLabels", labels}};
}

}  // namespace

void UdnBuilder::build() {
  add_network();
  if (udn_.spec.route_advertisements) add_route_advertisements();
  check_addresses_are_kept();
  if (udn_.spec.hosted_cluster) add_hosted_cluster();
  add_machines();
  add_services();
}

void UdnBuilder::complain(Severity severity, const std::string& pointer, const char* code, const std::string& message) {
  const text::Position position = udn_.origin.position(pointer);
  problems_.add({.severity = severity,
                 .file = udn_.origin.file,
                 .line = position.line,
                 .column = position.column,
                 .path = udn_.origin.path + pointer,
                 .code = code,
                 .message = udn_.metadata.key() + ": " + message,
                 .found = {},
                 .expected = {}});
}

Json UdnBuilder::make_object(const char* version, const char* kind, std::string name, const std::string& ns) const {
  Json metadata = {{"name", std::move(name)},
                   {"labels",
                    {{"app.kubernetes.io/name", "hcpnet"},
                     {"app.kubernetes.io/instance", cut_name(udn_.metadata.name, "_primaryudn")},
                     {"app.kubernetes.io/component", "network"},
                     {"app.kubernetes.io/managed-by", "hcpnet"},
                     {"app.kubernetes.io/part-of", "hcpnet"}}}};
  if (!ns.empty()) metadata["namespace"] = ns;
  // Kubernetes allows no owner from another namespace.
  if (!udn_.metadata.uid.empty() && ns == udn_.metadata.namespace_)
    metadata["ownerReferences"] = Json::array({{{"apiVersion", spec::kHcpnetApiVersion},
                                                {"kind", "PrimaryUDN"},
                                                {"name", udn_.metadata.name},
                                                {"uid", udn_.metadata.uid},
                                                {"controller", true},
                                                {"blockOwnerDeletion", true}}});
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

bool UdnBuilder::has_ipv6() const {
  return std::ranges::any_of(udn_.subnets, [](const Cidr& subnet) { return subnet.network().is_v6(); });
}

void UdnBuilder::add_network() {
  for (const std::string& name : udn_.namespaces) {
    Json ns = make_object("v1", "Namespace", name, {});
    ns["metadata"]["labels"][std::string(kPrimaryNetworkLabel)] = "";
    ns["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
    ns["spec"] = {{"finalizers", Json::array({"kubernetes"})}};
    out_.push_back(std::move(ns));
  }
  Json network = topology(udn_);
  if (udn_.spec.scope == spec::PrimaryUDN::Scope::namespaced) {
    Json json = make_object(kOvnVersion, "UserDefinedNetwork", udn_.name, udn_.namespaces.front());
    json["spec"] = std::move(network);
    out_.push_back(std::move(json));
    return;
  }
  set_transport(network, udn_.spec);
  Json json = make_object(kOvnVersion, "ClusterUserDefinedNetwork", udn_.name, {});
  json["spec"] = {
      {"namespaceSelector",
       {{"matchExpressions",
         Json::array({{{"key", "kubernetes.io/metadata.name"}, {"operator", "In"}, {"values", udn_.namespaces}}})}}},
      {"network", std::move(network)}};
  if (!udn_.spec.uplinks.empty()) json["spec"]["uplinks"] = udn_.spec.uplinks;
  out_.push_back(std::move(json));
}

void UdnBuilder::add_route_advertisements() {
  const spec::UdnRouteAdvertisements& routes = *udn_.spec.route_advertisements;
  Json json = make_object(kOvnVersion, "RouteAdvertisements", udn_.name, {});
  Json advertisements = Json::array();
  if (routes.pod_network) advertisements.push_back("PodNetwork");
  if (routes.egress_ip) advertisements.push_back("EgressIP");
  // Two PrimaryUDNs of one name in two namespaces have two networks: the label of both names is theirs alone.
  const Json own_label = {{"hcpnet.io/primary-udn", cut_name(udn_.metadata.namespace_ + '.' + udn_.metadata.name)}};
  out_.back()["metadata"]["labels"].update(own_label);
  json["spec"] = {
      {"advertisements", std::move(advertisements)},
      {"frrConfigurationSelector", selector(routes.frr_configuration_labels)},
      {"nodeSelector", selector(routes.node_labels)},
      {"networkSelectors",
       Json::array({{{"networkSelectionType", "ClusterUserDefinedNetworks"},
                     {"clusterUserDefinedNetworkSelector", {{"networkSelector", {{"matchLabels", own_label}}}}}}})}};
  if (routes.target_vrf) json["spec"]["targetVRF"] = *routes.target_vrf;
  out_.push_back(std::move(json));
}

void UdnBuilder::check_addresses_are_kept() {
  if (udn_.is_persistent || (udn_.hosted_cluster.empty() && udn_.machines.empty())) return;
  if (udn_.spec.topology == spec::UdnTopology::layer3)
    return warn("/spec/network/topology", "addresses-not-kept",
                "on a network of the topology Layer3 addresses belong to nodes: a machine that moves to another node "
                "gets another address, and can't be migrated while it runs");
  warn("/spec/network/layer2/ipam", "addresses-not-kept",
       "without ipam.lifecycle Persistent a machine has another address after each restart or migration");
}

}  // namespace hcpnet::manifest
