// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/machine_network.hpp>
#include <utility>

namespace hcpnet::bootstrap {
namespace {

/// The unit of a network device: "-" stands for "/" in such a name.
std::string device_unit(const std::string& interface) {
  std::string unit = "sys-subsystem-net-devices-";
  for (const char c : interface) unit += c == '-' ? std::string("\\x2d") : std::string(1, c);
  return unit + ".device";
}

}  // namespace

std::string render_address_unit(const spec::ValidBootstrapCluster& cluster) {
  const std::string device = device_unit(cluster.bridge);
  std::string text = "[Unit]\nDescription=Virtual addresses of " + cluster.domain + "\nBindsTo=" + device +
                     "\nAfter=" + device + "\nBefore=haproxy.service\n\n[Service]\nType=oneshot\nRemainAfterExit=yes\n";
  for (const Ipv4& address : {cluster.api_vip, cluster.ingress_vip})
    text += "ExecStart=/usr/sbin/ip address replace " + address.to_string() + "/32 dev " + cluster.bridge + '\n';
  for (const Ipv4& address : {cluster.api_vip, cluster.ingress_vip})
    text += "ExecStop=-/usr/sbin/ip address delete " + address.to_string() + "/32 dev " + cluster.bridge + '\n';
  // libvirt makes the bridge when it starts the network, and again when it is started anew.
  return text + "\n[Install]\nWantedBy=" + device + '\n';
}

std::vector<pki::OutputFile> render_machine_network(const spec::ValidBootstrapCluster& cluster,
                                                    const PreviousZones& previous, std::optional<std::uint32_t> day) {
  std::vector<pki::OutputFile> files;
  const auto add = [&](std::string name, std::string text) {
    files.push_back({std::move(name), pki::Secret(std::move(text))});
  };
  for (RenderedFile& zone : render_zones(cluster, previous, day)) add(std::move(zone.name), std::move(zone.text));
  if (cluster.gateway) add("libvirt/network.xml", render_libvirt_network(cluster));
  for (const spec::ValidNode& node : cluster.nodes)
    add("libvirt/machines/" + node.name + ".xml", render_libvirt_domain(cluster, node));
  add("nftables.nft", render_packet_filter(cluster));
  for (RenderedFile& file : render_firewalld(cluster)) add(std::move(file.name), std::move(file.text));
  if (!cluster.spec.keepalived) add("virtual-addresses.service", render_address_unit(cluster));
  return files;
}

}  // namespace hcpnet::bootstrap
