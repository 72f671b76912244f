// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "spec/build.hpp"
#include "spec/format.hpp"

namespace hcpnet::spec {
namespace {

/// As much of the cluster's name as Linux has room for.
std::string default_bridge(std::string_view cluster_name) {
  constexpr std::size_t kMaxNameBytes = 9;
  std::string bridge = "virbr-" + std::string(cluster_name.substr(0, kMaxNameBytes));
  while (bridge.ends_with('-')) bridge.pop_back();
  return bridge;
}

}  // namespace

const ValidNode& ValidBootstrapCluster::bootstrap() const {
  return *with_role(NodeRole::bootstrap).front();
}

std::vector<const ValidNode*> ValidBootstrapCluster::with_role(NodeRole role) const {
  std::vector<const ValidNode*> found;
  for (const ValidNode& node : nodes)
    if (node.role == role) found.push_back(&node);
  return found;
}

// Every parse here succeeds, because the rules have passed: .value() says so.
ValidBootstrapCluster build_bootstrap_cluster(const BootstrapCluster& cluster, const Origin& origin) {
  ValidBootstrapCluster valid;
  valid.metadata = cluster.metadata;
  valid.origin = origin;
  valid.domain = cluster.cluster_name + '.' + cluster.base_domain;
  valid.minor = parse_release_minor(cluster.openshift_version).value();
  valid.machine_network = parse_ipv4_cidr(cluster.networks.machine).value();
  valid.pod_network = parse_ipv4_cidr(cluster.networks.pod).value();
  valid.service_network = parse_ipv4_cidr(cluster.networks.service).value();
  if (cluster.networks.gateway) valid.gateway = parse_ipv4(*cluster.networks.gateway).value();
  for (const std::string& text : cluster.networks.dns_servers) valid.dns_servers.push_back(parse_ipv4(text).value());
  if (cluster.networks.dhcp_start)
    valid.dhcp =
        Ipv4Range{parse_ipv4(*cluster.networks.dhcp_start).value(), parse_ipv4(*cluster.networks.dhcp_end).value()};
  valid.api_vip = parse_ipv4(cluster.api_vip).value();
  valid.ingress_vip = parse_ipv4(cluster.ingress_vip).value();
  for (const BootstrapCluster::Node& node : cluster.nodes)
    valid.nodes.push_back({node.name, node.role, parse_mac_address(node.mac_address).value(),
                           parse_ipv4(node.address).value(), node.disk, node.interface});
  valid.bridge = cluster.libvirt.bridge.value_or(default_bridge(cluster.cluster_name));
  const std::size_t slash = origin.file.rfind('/');
  if (slash != std::string::npos) valid.folder = origin.file.substr(0, slash + 1);
  valid.spec = cluster;
  return valid;
}

}  // namespace hcpnet::spec
