// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/bootstrap/load_balancer.hpp>
#include <hcpnet/bootstrap/machine_network.hpp>
#include <set>
#include <string_view>

namespace hcpnet::bootstrap {
namespace {

constexpr std::uint16_t kMachineConfigPort = 22623;
constexpr std::uint16_t kIgnitionPort = 8080;  // of the stages that install

std::string ports_of(const std::vector<BalancedService>& services, Ipv4 address) {
  std::set<std::uint16_t> ports;
  for (const BalancedService& service : services)
    if (service.address == address && service.port != kMachineConfigPort) ports.insert(service.port);
  std::string text;
  for (const std::uint16_t port : ports) text += (text.empty() ? "" : ", ") + std::to_string(port);
  return ports.size() == 1 ? text : "{ " + text + " }";
}

constexpr std::string_view kXmlHead = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n";

std::string xml_port(std::uint16_t port) {
  return "  <port protocol=\"tcp\" port=\"" + std::to_string(port) + "\"/>\n";
}

RenderedFile service_file(const spec::ValidBootstrapCluster& cluster, const BalancedService& service) {
  return {"firewalld/services/" + cluster.spec.cluster_name + '-' + service.name + ".xml",
          std::string(kXmlHead) + "<service>\n  <short>" + service.name + " of " + cluster.domain + "</short>\n" +
              xml_port(service.port) + "  <destination ipv4=\"" + service.address.to_string() + "\"/>\n</service>\n"};
}

/// firewalld makes names of chains out of it: 17 characters at most, and no dot.
std::string zone_name(const spec::ValidBootstrapCluster& cluster) {
  std::string name = cluster.bridge;
  std::ranges::replace(name, '.', '-');
  return name;
}
/// Another name than any zone's, firewalld says.
std::string policy_name(const spec::ValidBootstrapCluster& cluster) {
  return zone_name(cluster).substr(0, 13) + "-out";
}

}  // namespace

std::string render_packet_filter(const spec::ValidBootstrapCluster& cluster) {
  const std::vector<BalancedService> services = balanced_services(cluster, Phase::bootstrap);
  const std::string table = "table ip hcpnet_" + cluster.spec.cluster_name;
  const std::string machines = cluster.machine_network.to_string(), api = cluster.api_vip.to_string(),
                    ingress = cluster.ingress_vip.to_string();
  return "# " + cluster.domain + ", in a table of its own: loaded again, it replaces itself and nothing else.\n" +
         table + "\ndelete " + table + '\n' + table +
         " {\n  chain input {\n    type filter hook input priority filter; policy accept;\n"
         "    ct state established,related accept\n    ip daddr " +
         api + " tcp dport " + ports_of(services, cluster.api_vip) + " accept\n    ip daddr " + ingress +
         " tcp dport " + ports_of(services, cluster.ingress_vip) +
         " accept\n    # what is served there holds keys: for machines alone\n    ip saddr " + machines + " ip daddr " +
         api + " tcp dport " + std::to_string(kMachineConfigPort) + " accept\n    ip daddr { " + api + ", " + ingress +
         " } meta l4proto { tcp, udp } drop\n  }\n"
         "  chain postrouting {\n    type nat hook postrouting priority srcnat; policy accept;\n    ip saddr " +
         machines + " ip daddr != { " + machines + ", 224.0.0.0/4, 255.255.255.255 } masquerade\n  }\n}\n";
}

std::vector<RenderedFile> render_firewalld(const spec::ValidBootstrapCluster& cluster) {
  std::vector<RenderedFile> files;
  std::string opened;
  for (const BalancedService& service : balanced_services(cluster, Phase::bootstrap)) {
    files.push_back(service_file(cluster, service));
    opened += "  <service name=\"" + cluster.spec.cluster_name + '-' + service.name + "\"/>\n";
  }
  if (cluster.spec.keepalived) opened += "  <protocol value=\"vrrp\"/>\n";  // from its other hosts
  const std::string zone = zone_name(cluster);
  // By address and not by the bridge: with the iptables backend a policy masquerades only what comes from such a zone.
  files.push_back({"firewalld/zones/" + zone + ".xml", std::string(kXmlHead) + "<zone>\n  <short>machines of " +
                                                           cluster.domain + "</short>\n" + "  <source address=\"" +
                                                           cluster.machine_network.to_string() + "\"/>\n" +
                                                           "  <service name=\"dhcp\"/>\n  <service name=\"dns\"/>\n" +
                                                           opened + xml_port(kIgnitionPort) + "</zone>\n"});
  files.push_back({"firewalld/policies/" + policy_name(cluster) + ".xml",
                   std::string(kXmlHead) + "<policy target=\"ACCEPT\">\n  <short>machines of " + cluster.domain +
                       " to elsewhere</short>\n  <masquerade/>\n  <ingress-zone name=\"" + zone +
                       "\"/>\n  <egress-zone name=\"ANY\"/>\n</policy>\n"});
  return files;
}

}  // namespace hcpnet::bootstrap
