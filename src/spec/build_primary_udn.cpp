// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "spec/build.hpp"
#include "spec/names.hpp"
#include "spec/primary_udn.hpp"
#include "spec/udn_ranges.hpp"

// Every parse here succeeds, because the rules have passed: .value() says so.
namespace hcpnet::spec {
namespace {

std::vector<Cidr> cidrs(const std::vector<std::string>& texts) {
  std::vector<Cidr> result;
  for (const std::string& text : texts) result.push_back(parse_cidr(text).value());
  std::ranges::stable_sort(result, {}, [](const Cidr& cidr) { return cidr.network().is_v6(); });
  return result;
}

std::vector<IpAddress> addresses(const std::vector<std::string>& texts) {
  std::vector<IpAddress> result;
  for (const std::string& text : texts) result.push_back(parse_ip_address(text).value().unmapped());
  std::ranges::stable_sort(result, {}, [](const IpAddress& address) { return address.is_v6(); });
  return result;
}

void take_layers(ValidPrimaryUdn& valid, const PrimaryUDN& udn) {
  if (udn.layer2) {
    valid.subnets = cidrs(udn.layer2->subnets);
    valid.reserved = cidrs(udn.layer2->reserved_subnets);
    valid.infrastructure = cidrs(udn.layer2->infrastructure_subnets);
    valid.gateways = addresses(udn.layer2->default_gateway_ips);
    valid.join = cidrs(udn.layer2->join_subnets);
    valid.is_persistent = udn.layer2->ipam && udn.layer2->ipam->lifecycle.has_value();
  }
  if (udn.layer3) {
    std::vector<std::string> texts;
    for (const UdnLayer3Subnet& subnet : udn.layer3->subnets) texts.push_back(subnet.cidr);
    valid.subnets = cidrs(texts);
    valid.join = cidrs(udn.layer3->join_subnets);
  }
}

}  // namespace

std::string namespace_of(const PrimaryUDN& udn) {
  if (!udn.hosted_cluster) return udn.namespace_.value_or(udn.metadata.namespace_);
  return control_plane_namespace(udn.hosted_cluster->namespace_.value_or(udn.metadata.namespace_),
                                 udn.hosted_cluster->name);
}

std::string ovn_network_name(PrimaryUDN::Scope scope, std::string_view namespace_, std::string_view name) {
  if (scope == PrimaryUDN::Scope::cluster) return "cluster_udn_" + std::string(name);
  return std::string(namespace_) + '_' + std::string(name);
}

ValidPrimaryUdn build_primary_udn(const PrimaryUDN& udn, const Origin& origin) {
  ValidPrimaryUdn valid;
  valid.metadata = udn.metadata;
  valid.origin = origin;
  valid.name = udn.network_name.value_or(udn.metadata.name);
  valid.namespaces = {namespace_of(udn)};
  valid.namespaces.insert(valid.namespaces.end(), udn.additional_namespaces.begin(), udn.additional_namespaces.end());
  valid.network = ovn_network_name(udn.scope, valid.namespaces.front(), valid.name);
  if (udn.hosted_cluster)
    valid.hosted_cluster =
        udn.hosted_cluster->namespace_.value_or(udn.metadata.namespace_) + '/' + udn.hosted_cluster->name;
  take_layers(valid, udn);
  valid.dns_addresses = dns_addresses(udn.management);
  for (const UdnVirtualMachine& machine : udn.virtual_machines)
    valid.machines.push_back({machine.name, machine.network, addresses(machine.addresses),
                              machine.mac_address ? parse_mac_address(*machine.mac_address) : std::nullopt,
                              machine.additional_networks});
  valid.spec = udn;
  return valid;
}

}  // namespace hcpnet::spec
