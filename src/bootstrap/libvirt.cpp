// SPDX-License-Identifier: Apache-2.0
// What stands in the XML has passed the spec's rules: labels, addresses, and names of letters, digits and "-._", none
// of which means anything to XML.
#include <hcpnet/bootstrap/machine_network.hpp>

#include "bootstrap/identity.hpp"

namespace hcpnet::bootstrap {
namespace {

std::string host_names(Ipv4 address, const std::vector<std::string>& names) {
  std::string text = "    <host ip='" + address.to_string() + "'>\n";
  for (const std::string& host : names) text += "      <hostname>" + host + "</hostname>\n";
  return text + "    </host>\n";
}

std::string address_leases(const spec::ValidBootstrapCluster& cluster) {
  std::string text = "    <dhcp>\n";
  if (cluster.dhcp)
    text +=
        "      <range start='" + cluster.dhcp->first.to_string() + "' end='" + cluster.dhcp->last.to_string() + "'/>\n";
  // From the first boot on each machine has the address that its installed system sets.
  for (const spec::ValidNode& node : cluster.nodes)
    text += "      <host mac='" + node.mac.to_string() + "' name='" + node.name + "' ip='" + node.address.to_string() +
            "'/>\n";
  return text + "    </dhcp>\n";
}

std::string network_interface(const spec::ValidBootstrapCluster& cluster, const spec::ValidNode& node) {
  const std::string source = cluster.gateway
                                 ? " type='network'>\n      <source network='" + cluster.spec.cluster_name + "'/>\n"
                                 : " type='bridge'>\n      <source bridge='" + cluster.bridge + "'/>\n";
  return "    <interface" + source + "      <mac address='" + node.mac.to_string() +
         "'/>\n      <model type='virtio'/>\n    </interface>\n";
}

}  // namespace

std::string machine_name(const spec::ValidBootstrapCluster& cluster, const spec::ValidNode& node) {
  return cluster.spec.cluster_name + '-' + node.name;
}

std::string render_libvirt_network(const spec::ValidBootstrapCluster& cluster) {
  if (!cluster.gateway) return {};
  const std::string below = '.' + cluster.domain;
  std::string text = "<network xmlns:dnsmasq='http://libvirt.org/schemas/network/dnsmasq/1.0'>\n  <name>" +
                     cluster.spec.cluster_name + "</name>\n  <uuid>" + name_uuid(cluster.domain) +
                     "</uuid>\n  <forward mode='nat'/>\n  <bridge name='" + cluster.bridge +
                     "' stp='on' delay='0'/>\n  <domain name='" + cluster.domain + "' localOnly='yes'/>\n  <dns>\n";
  text += host_names(cluster.api_vip, {"api" + below, "api-int" + below});
  for (const spec::ValidNode& node : cluster.nodes) text += host_names(node.address, {node.name + below});
  text += "  </dns>\n  <ip family='ipv4' address='" + cluster.gateway->to_string() + "' prefix='" +
          std::to_string(cluster.machine_network.prefix_length()) + "'>\n" + address_leases(cluster) + "  </ip>\n";
  // libvirt has no word for a wildcard; its dnsmasq has.
  return text + "  <dnsmasq:options>\n    <dnsmasq:option value='address=/apps" + below + '/' +
         cluster.ingress_vip.to_string() + "'/>\n  </dnsmasq:options>\n</network>\n";
}

std::string render_libvirt_domain(const spec::ValidBootstrapCluster& cluster, const spec::ValidNode& node) {
  const auto& libvirt = cluster.spec.libvirt;
  const std::string machine = machine_name(cluster, node);
  return "<domain type='kvm'>\n  <name>" + machine + "</name>\n  <uuid>" + name_uuid(node.name + '.' + cluster.domain) +
         "</uuid>\n  <memory unit='MiB'>" + std::to_string(libvirt.memory_mib) + "</memory>\n  <vcpu>" +
         std::to_string(libvirt.cpus) +
         "</vcpu>\n  <os>\n    <type arch='x86_64' machine='q35'>hvm</type>\n"
         "    <boot dev='hd'/>\n    <boot dev='cdrom'/>\n  </os>\n"
         "  <features>\n    <acpi/>\n    <apic/>\n  </features>\n  <cpu mode='host-passthrough'/>\n"
         "  <on_poweroff>destroy</on_poweroff>\n  <on_reboot>restart</on_reboot>\n  <devices>\n"
         "    <disk type='volume' device='disk'>\n      <driver name='qemu' type='qcow2'/>\n      <source pool='" +
         libvirt.pool + "' volume='" + machine +
         ".qcow2'/>\n      <target dev='vda' bus='virtio'/>\n    </disk>\n"
         "    <disk type='volume' device='cdrom'>\n      <driver name='qemu' type='raw'/>\n      <source pool='" +
         libvirt.pool + "' volume='" + libvirt.live_iso +
         "'/>\n      <target dev='sda' bus='sata'/>\n      <readonly/>\n    </disk>\n" +
         network_interface(cluster, node) +
         "    <serial type='pty'/>\n    <console type='pty'/>\n"
         "    <graphics type='vnc' port='-1' autoport='yes' listen='127.0.0.1'/>\n"
         "    <rng model='virtio'>\n      <backend model='random'>/dev/urandom</backend>\n    </rng>\n"
         "  </devices>\n</domain>\n";
}

}  // namespace hcpnet::bootstrap
