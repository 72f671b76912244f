// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "spec/describe_common.hpp"

namespace hcpnet::spec {
namespace {

constexpr std::array<std::string_view, 2> kAttachmentKinds{"NetworkAttachmentDefinition", "ClusterUserDefinedNetwork"};
constexpr std::array<std::string_view, 3> kTopologies{"Localnet", "Layer2", "Layer3"};
constexpr std::array<std::string_view, 2> kRoles{"Secondary", "Primary"};
constexpr std::array<std::string_view, 2> kExposures{"Layer2", "BGP"};
constexpr std::array<std::string_view, 3> kIpams{"DHCP", "External", "OVNKubernetes"};

void describe_network(Fields& f, NetworkConfig& network) {
  f.text("cidr", Need::required, Format::ipv4_cidr, network.cidr);
  f.text("gateway", Format::ipv4, network.gateway);
  f.text("networkAttachmentDefinition", Format::object_name, network.network_attachment_definition);
  f.text("networkAttachmentNamespace", Format::label, network.network_attachment_namespace);
  f.object("attachment", Need::optional, network.attachment, [](Fields& g, NetworkAttachment& attachment) {
    g.choice("kind", Need::required, kAttachmentKinds, attachment.kind);
    g.text("name", Need::required, Format::object_name, attachment.name);
    g.text("namespace", Format::label, attachment.namespace_);
  });
  f.choice("topology", Need::optional, kTopologies, network.topology);
  f.choice("role", Need::optional, kRoles, network.role);
  f.choice("exposure", Need::optional, kExposures, network.exposure);
  f.choice("ipam", Need::optional, kIpams, network.ipam);
  f.object("routeAdvertisementsRef", Need::optional, network.route_advertisements_ref,
           [](Fields& g, std::string& name) { g.text("name", Need::required, Format::object_name, name); });
  f.texts("dnsServers", {}, Format::resolver, network.dns_servers);
}

void describe_dhcp(Fields& f, DhcpComponent& dhcp) {
  f.flag("enabled", dhcp.enabled);
  f.text("serverIP", Format::ipv4, dhcp.server_ip);
  f.text("rangeStart", Format::ipv4, dhcp.range_start);
  f.text("rangeEnd", Format::ipv4, dhcp.range_end);
  f.text("leaseTime", Need::optional, Format::go_duration, dhcp.lease_time);
  f.text("image", Format::image, dhcp.image);
}

void describe_dns(Fields& f, DnsComponent& dns) {
  f.flag("enabled", dns.enabled);
  f.text("serverIP", Format::ipv4, dns.server_ip);
  f.text("baseDomain", Format::host_name, dns.base_domain);
  f.text("clusterName", Format::label, dns.cluster_name);
  f.text("image", Format::image, dns.image);
}

void describe_proxy(Fields& f, ProxyComponent& proxy) {
  f.flag("enabled", proxy.enabled);
  f.text("serverIP", Format::ipv4, proxy.server_ip);
  f.text("internalProxyService", Format::service_reference, proxy.internal_proxy_service);
  f.text("controlPlaneNamespace", Format::label, proxy.control_plane_namespace);
  f.text("apiServerService", Format::label, proxy.api_server_service);
  f.text("proxyImage", Need::optional, Format::image, proxy.proxy_image);
  f.text("managerImage", Need::optional, Format::image, proxy.manager_image);
  f.removed("externalService", "spec.externalService of the cluster's InfraClusterAttachment");
}

void describe_spec(Fields& fields, Infra& infra) {
  fields.group("networkConfig", Need::required, [&](Fields& f) { describe_network(f, infra.network); });
  fields.group("infraComponents", Need::optional, [&](Fields& f) {
    f.object("dhcp", Need::optional, infra.dhcp, describe_dhcp);
    f.object("dns", Need::optional, infra.dns, describe_dns);
    f.object("proxy", Need::optional, infra.proxy, describe_proxy);
  });
  fields.removed("appsIngress", "spec.appsIngress of the cluster's InfraClusterAttachment");
}

void describe_apps_ingress(Fields& fields, AppsIngress& ingress) {
  fields.flag("enabled", ingress.enabled);
  fields.group("metallb", Need::optional, [&](Fields& f) {
    f.text("addressPoolName", Format::object_name, ingress.address_pool_name);
    f.text("ipAddressPoolRange", Format::pool, ingress.address_pool_range);
    f.text("l2AdvertisementName", Format::object_name, ingress.l2_advertisement_name);
  });
  fields.group("service", Need::optional, [&](Fields& f) {
    f.text("name", Need::optional, Format::label, ingress.service_name);
    f.text("namespace", Need::optional, Format::label, ingress.service_namespace);
    f.string_map("labels", MapUse::labels, ingress.service_labels);
    f.string_map("annotations", MapUse::annotations, ingress.service_annotations);
  });
  fields.group("ports", Need::optional, [&](Fields& f) {
    f.integer("http", Need::optional, kPort, ingress.http_port);
    f.integer("https", Need::optional, kPort, ingress.https_port);
  });
}

void describe_attachment_spec(Fields& fields, InfraClusterAttachment& attachment) {
  fields.group("infraRef", Need::required,
               [&](Fields& f) { f.text("name", Need::required, Format::object_name, attachment.infra_name); });
  fields.group("hostedClusterRef", Need::required, [&](Fields& f) {
    f.text("name", Need::required, Format::object_name, attachment.hosted_cluster_name);
    f.text("namespace", Need::optional, Format::label, attachment.hosted_cluster_namespace);
  });
  fields.group("dns", Need::required, [&](Fields& f) {
    f.text("clusterName", Need::required, Format::label, attachment.cluster_name);
    f.text("baseDomain", Need::required, Format::lower_domain, attachment.base_domain);
  });
  fields.text("controlPlaneNamespace", Format::label, attachment.control_plane_namespace);
  fields.text("apiServerService", Need::optional, Format::label, attachment.api_server_service);
  fields.group("externalService", Need::optional,
               [&](Fields& f) { describe_external_service(f, attachment.external_service); });
  fields.group("appsIngress", Need::optional, [&](Fields& f) { describe_apps_ingress(f, attachment.apps_ingress); });
}

}  // namespace

void describe(Fields& fields, Infra& object) {
  describe_object(fields, object, describe_spec);
}
void describe(Fields& fields, InfraClusterAttachment& object) {
  describe_object(fields, object, describe_attachment_spec);
}

}  // namespace hcpnet::spec
