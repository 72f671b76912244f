// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "spec/describe_common.hpp"

namespace hcpnet::spec {
namespace {

constexpr std::array<std::string_view, 3> kRoles{"Bootstrap", "ControlPlane", "Worker"};
constexpr std::array<std::string_view, 2> kLayouts{"HandMade", "Installer"};
constexpr std::array<std::string_view, 4> kKeys{"ECDSAP256", "ECDSAP384", "RSA2048", "RSA4096"};

void describe_networks(Fields& fields, BootstrapCluster::Networks& networks) {
  fields.text("machine", Need::required, Format::ipv4_cidr, networks.machine);
  fields.text("pod", Need::optional, Format::ipv4_cidr, networks.pod);
  fields.integer("hostPrefix", Need::optional, kHostPrefix, networks.host_prefix);
  fields.text("service", Need::optional, Format::ipv4_cidr, networks.service);
  fields.text("gateway", Format::ipv4, networks.gateway);
  fields.texts("dnsServers", {}, Format::ipv4, networks.dns_servers);
  fields.text("dhcpStart", Format::ipv4, networks.dhcp_start);
  fields.text("dhcpEnd", Format::ipv4, networks.dhcp_end);
}

void describe_node(Fields& fields, BootstrapCluster::Node& node) {
  fields.text("name", Need::required, Format::label, node.name);
  fields.choice("role", Need::required, kRoles, node.role);
  fields.text("macAddress", Need::required, Format::mac, node.mac_address);
  fields.text("address", Need::required, Format::ipv4, node.address);
  fields.text("disk", Need::optional, Format::file_name, node.disk);
  fields.text("interface", Need::optional, Format::interface_name, node.interface);
}

void describe_pki(Fields& fields, BootstrapCluster::Pki& pki) {
  fields.choice("layout", Need::optional, kLayouts, pki.layout);
  fields.choice("key", Need::optional, kKeys, pki.key);
  fields.integer("renewBeforeDays", Need::optional, kRenewBeforeDays, pki.renew_before_days);
  fields.objects("authorities", {}, pki.authorities, [](Fields& f, BootstrapCluster::Pki::Authority& authority) {
    f.text("name", Need::required, Format::label, authority.name);
    f.text("certificateFile", Need::required, Format::file_name, authority.certificate_file);
    f.text("keyFile", Need::required, Format::file_name, authority.key_file);
  });
}

void describe_libvirt(Fields& fields, BootstrapCluster::Libvirt& libvirt) {
  fields.text("bridge", Format::interface_name, libvirt.bridge);
  fields.text("pool", Need::optional, Format::volume_name, libvirt.pool);
  fields.text("liveISO", Need::optional, Format::volume_name, libvirt.live_iso);
  fields.integer("memoryMiB", Need::optional, kMemoryMib, libvirt.memory_mib);
  fields.integer("cpus", Need::optional, kCpus, libvirt.cpus);
  fields.integer("diskGiB", Need::optional, kDiskGib, libvirt.disk_gib);
}

void describe_keepalived(Fields& fields, BootstrapCluster::Keepalived& keepalived) {
  fields.text("interface", Need::required, Format::interface_name, keepalived.interface);
  fields.integer("virtualRouterID", Need::optional, kVirtualRouterId, keepalived.virtual_router_id);
}

void describe_spec(Fields& fields, BootstrapCluster& cluster) {
  fields.text("clusterName", Need::required, Format::label, cluster.cluster_name);
  fields.text("baseDomain", Need::required, Format::lower_domain, cluster.base_domain);
  fields.text("openshiftVersion", Need::required, Format::release, cluster.openshift_version);
  fields.text("releaseImage", Need::required, Format::image, cluster.release_image);
  fields.text("imageReferencesFile", Format::file_name, cluster.image_references_file);
  fields.string_map("images", MapUse::any, cluster.images);
  fields.group("networks", Need::required, [&](Fields& f) { describe_networks(f, cluster.networks); });
  fields.text("apiVIP", Need::required, Format::ipv4, cluster.api_vip);
  fields.text("ingressVIP", Need::required, Format::ipv4, cluster.ingress_vip);
  fields.objects("nodes", {Need::required, 1, kMaxNodes}, cluster.nodes, describe_node);
  fields.text("pullSecretFile", Need::required, Format::file_name, cluster.pull_secret_file);
  fields.text("sshKeyFile", Need::required, Format::file_name, cluster.ssh_key_file);
  fields.text("crdsFolder", Format::file_name, cluster.crds_folder);
  fields.text("featureGateFile", Format::file_name, cluster.feature_gate_file);
  fields.text("machineConfigsFolder", Format::file_name, cluster.machine_configs_folder);
  fields.flag("kubeProxy", cluster.kube_proxy);
  fields.group("pki", Need::optional, [&](Fields& f) { describe_pki(f, cluster.pki); });
  fields.group("libvirt", Need::optional, [&](Fields& f) { describe_libvirt(f, cluster.libvirt); });
  fields.object("keepalived", Need::optional, cluster.keepalived, describe_keepalived);
}

}  // namespace

void describe(Fields& fields, BootstrapCluster& object) {
  describe_object(fields, object, describe_spec);
}

}  // namespace hcpnet::spec
