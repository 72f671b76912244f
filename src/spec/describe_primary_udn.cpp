// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <hcpnet/spec/primary_udn.hpp>

#include "spec/describe_common.hpp"

namespace hcpnet::spec {
namespace {

using Names2 = std::array<std::string_view, 2>;

constexpr Names2 kScopes{"Namespaced", "Cluster"};
constexpr Names2 kRoles{"Secondary", "Primary"};
constexpr Names2 kTopologies{"Layer2", "Layer3"};
constexpr Names2 kModes{"Enabled", "Disabled"};
constexpr std::array<std::string_view, 1> kLifecycles{"Persistent"};
constexpr Names2 kTransports{"NoOverlay", "EVPN"};
constexpr Names2 kRoutings{"Managed", "Unmanaged"};
constexpr Names2 kClaims{"KubeVirt", "Hcpnet"};
constexpr Names2 kUdnProtocols{"TCP", "UDP"};
constexpr std::array<std::string_view, 3> kBindings{"L2Bridge", "Passt", "PasstPlugin"};
constexpr std::array<std::string_view, 3> kServiceTypes{"ClusterIP", "NodePort", "LoadBalancer"};

void number(Fields& f, std::string_view name, Interval interval, std::optional<std::int32_t>& value) {
  std::optional<std::int64_t> slot = value;
  f.number(name, Need::optional, interval, slot);
  if (slot) value = static_cast<std::int32_t>(*slot);
}

void describe_layer2(Fields& f, UdnLayer2& layer2) {
  f.choice("role", Need::optional, kRoles, layer2.role);
  number(f, "mtu", kUdnMtu, layer2.mtu);
  f.texts("subnets", {Need::required, 1, 2}, Format::cidr, layer2.subnets);
  f.texts("reservedSubnets", {Need::optional, 1, 25}, Format::cidr, layer2.reserved_subnets);
  f.texts("infrastructureSubnets", {Need::optional, 1, 4}, Format::cidr, layer2.infrastructure_subnets);
  f.texts("defaultGatewayIPs", {Need::optional, 1, 2}, Format::ip_address, layer2.default_gateway_ips);
  f.texts("joinSubnets", {Need::optional, 1, 2}, Format::cidr, layer2.join_subnets);
  f.object("ipam", Need::optional, layer2.ipam, [](Fields& g, UdnIpam& ipam) {
    g.choice("mode", Need::optional, kModes, ipam.mode);
    g.choice("lifecycle", Need::optional, kLifecycles, ipam.lifecycle);
  });
}

void describe_layer3(Fields& f, UdnLayer3& layer3) {
  f.choice("role", Need::optional, kRoles, layer3.role);
  number(f, "mtu", kUdnMtu, layer3.mtu);
  f.objects("subnets", {Need::required, 1, kMaxLayer3Subnets}, layer3.subnets, [](Fields& g, UdnLayer3Subnet& subnet) {
    g.text("cidr", Need::required, Format::cidr, subnet.cidr);
    number(g, "hostSubnet", kHostSubnet, subnet.host_subnet);
  });
  f.texts("joinSubnets", {Need::optional, 1, 2}, Format::cidr, layer3.join_subnets);
}

void describe_vrf(Fields& f, UdnVrf& vrf) {
  f.integer("vni", Need::required, kVni, vrf.vni);
  f.text("routeTarget", Format::route_target, vrf.route_target);
}

void describe_network(Fields& f, PrimaryUDN& udn) {
  f.choice("topology", Need::optional, kTopologies, udn.topology);
  f.object("layer2", Need::optional, udn.layer2, describe_layer2);
  f.object("layer3", Need::optional, udn.layer3, describe_layer3);
  f.choice("transport", Need::optional, kTransports, udn.transport);
  f.object("noOverlay", Need::optional, udn.no_overlay, [](Fields& g, UdnNoOverlay& no_overlay) {
    g.choice("outboundSNAT", Need::required, kModes, no_overlay.outbound_snat);
    g.choice("routing", Need::required, kRoutings, no_overlay.routing);
  });
  f.object("evpn", Need::optional, udn.evpn, [](Fields& g, UdnEvpn& evpn) {
    g.text("vtep", Need::required, Format::object_name, evpn.vtep);
    g.object("macVRF", Need::optional, evpn.mac_vrf, describe_vrf);
    g.object("ipVRF", Need::optional, evpn.ip_vrf, describe_vrf);
  });
}

void describe_advertisements(Fields& f, UdnRouteAdvertisements& advertisements) {
  f.flag("podNetwork", advertisements.pod_network);
  f.flag("egressIP", advertisements.egress_ip);
  f.string_map("nodeLabels", MapUse::labels, advertisements.node_labels);
  f.string_map("frrConfigurationLabels", MapUse::labels, advertisements.frr_configuration_labels);
  f.text("targetVRF", Format::vrf_name, advertisements.target_vrf);
}

void describe_management(Fields& f, UdnManagement& management) {
  constexpr ListRule kNetworks{Need::optional, 0, kMaxUdnNetworks};
  f.texts("clusterNetwork", kNetworks, Format::cidr, management.cluster_network);
  f.texts("serviceNetwork", kNetworks, Format::cidr, management.service_network);
  f.texts("machineNetwork", kNetworks, Format::cidr, management.machine_network);
  f.texts("joinSubnets", kNetworks, Format::cidr, management.join_subnets);
  f.texts("transitSwitchSubnets", kNetworks, Format::cidr, management.transit_switch_subnets);
  f.texts("masqueradeSubnets", kNetworks, Format::cidr, management.masquerade_subnets);
  f.texts("others", kNetworks, Format::cidr, management.others);
  f.text("ovnNamespace", Need::optional, Format::label, management.ovn_namespace);
  f.texts("dnsAddresses", {Need::optional, 0, 2}, Format::ip_address, management.dns_addresses);
}

void describe_hosted_cluster(Fields& f, UdnHostedCluster& cluster) {
  f.text("name", Need::required, Format::object_name, cluster.name);
  f.text("namespace", Format::label, cluster.namespace_);
  f.text("infraID", Format::label, cluster.infra_id);
  f.texts("nodePools", {Need::optional, 0, kMaxNodePools}, Format::object_name, cluster.node_pools);
  f.texts("additionalNetworks", {Need::optional, 0, kMaxVmNetworks}, Format::attachment_reference,
          cluster.additional_networks);
  f.text("release", Format::release, cluster.release);
  f.texts("clusterNetwork", {Need::optional, 0, 2}, Format::cidr, cluster.cluster_network);
  f.texts("serviceNetwork", {Need::optional, 0, 2}, Format::cidr, cluster.service_network);
  f.group("imageOverrides", Need::optional, [&](Fields& g) {
    UdnImageOverrides& images = cluster.image_overrides;
    g.text("controlPlaneOperator", Format::image, images.control_plane_operator);
    g.text("capiProviderKubevirt", Format::image, images.capi_provider_kubevirt);
    g.text("hypershiftOperator", Format::image, images.hypershift_operator);
    g.text("defaultCAPIProviderKubevirt", Format::image, images.default_capi_provider_kubevirt);
  });
}

void describe_machine(Fields& f, UdnVirtualMachine& machine) {
  f.text("name", Need::required, Format::object_name, machine.name);
  f.text("network", Need::optional, Format::label, machine.network);
  f.texts("addresses", {Need::optional, 0, 2}, Format::ip_address, machine.addresses);
  f.text("macAddress", Format::mac, machine.mac_address);
  f.texts("additionalNetworks", {Need::optional, 0, kMaxVmNetworks}, Format::attachment_reference,
          machine.additional_networks);
}

void describe_service(Fields& f, UdnService& service) {
  f.text("name", Need::required, Format::label, service.name);
  f.choice("type", Need::optional, kServiceTypes, service.type);
  f.texts("machines", {Need::optional, 0, kMaxUdnMachines}, Format::object_name, service.machines);
  f.objects("ports", {Need::required, 1, kMaxUdnServicePorts}, service.ports, [](Fields& g, UdnServicePort& port) {
    g.text("name", Need::required, Format::label, port.name);
    g.integer("port", Need::required, kPort, port.port);
    number(g, "targetPort", kPort, port.target_port);
    number(g, "nodePort", kPort, port.node_port);
    g.choice("protocol", Need::optional, kUdnProtocols, port.protocol);
  });
}

void describe_spec(Fields& f, PrimaryUDN& udn) {
  f.choice("scope", Need::optional, kScopes, udn.scope);
  f.text("networkName", Format::object_name, udn.network_name);
  f.text("namespace", Format::label, udn.namespace_);
  f.texts("additionalNamespaces", {Need::optional, 0, kMaxUdnNamespaces}, Format::label, udn.additional_namespaces);
  f.texts("uplinks", {Need::optional, 1, 1}, Format::label, udn.uplinks);
  f.group("network", Need::required, [&](Fields& g) { describe_network(g, udn); });
  f.object("routeAdvertisements", Need::optional, udn.route_advertisements, describe_advertisements);
  f.group("management", Need::optional, [&](Fields& g) { describe_management(g, udn.management); });
  f.object("hostedClusterRef", Need::optional, udn.hosted_cluster, describe_hosted_cluster);
  f.choice("binding", Need::optional, kBindings, udn.binding);
  f.choice("claims", Need::optional, kClaims, udn.claims);
  f.objects("virtualMachines", {Need::optional, 0, kMaxUdnMachines}, udn.virtual_machines, describe_machine);
  f.objects("services", {Need::optional, 0, kMaxUdnServices}, udn.services, describe_service);
}

}  // namespace

void describe(Fields& fields, PrimaryUDN& object) {
  describe_object(fields, object, describe_spec);
}

}  // namespace hcpnet::spec
