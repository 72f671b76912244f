// SPDX-License-Identifier: Apache-2.0
#include "manifest/unit.hpp"
#include <hcpnet/manifest/names.hpp>

#include "spec/format.hpp"
#include "stack/derive.hpp"

namespace hcpnet::manifest {
namespace {

void complain(Diagnostics& problems, const Unit& unit, const std::string& path, const char* code,
              const std::string& message, Severity severity = Severity::error) {
  problems.add(derive::problem(severity, unit.origin, path, unit.owner, code, message));
}

template <class Object>
Unit make_unit(const Object& object, std::string kind) {
  const spec::ObjectMeta& owner = object.metadata;
  Unit unit;
  unit.owner = owner;
  unit.origin = object.origin;
  unit.kind = std::move(kind);
  unit.is_infra = unit.kind == "Infra";
  // "_" is in no object's name, so an Infra can't have the label of a server.
  const std::string mark = unit.is_infra ? "" : '_' + spec::lower(unit.kind);
  unit.instance = cut_name(owner.name, mark);
  return unit;
}

/// The definition has to be there; one that OpenShift's Multus refuses is told now, not when the pod doesn't start.
void attach(Unit& unit, const std::optional<std::string>& name, const std::optional<std::string>& ns,
            const std::string& path, Diagnostics& problems) {
  if (!name)
    return complain(problems, unit, path, "attachment-missing",
                    "names no network attachment, so its pods would have no way to the VLAN");
  unit.attachment = {*name, ns.value_or(unit.owner.namespace_)};
  if (may_use_attachment(unit.owner.namespace_, unit.attachment.namespace_)) return;
  complain(problems, unit, path, "attachment-namespace",
           "OpenShift's Multus lets pods use network attachments of their own namespace, default, openshift-multus, "
           "openshift-sriov-network-operator and openshift-cnv only, and this one is in " +
               unit.attachment.namespace_,
           Severity::warning);
}

Unit infra_unit(const spec::ValidSet& set, const spec::ValidInfra& infra, Diagnostics& problems) {
  Unit unit = make_unit(infra, "Infra");
  const spec::NetworkConfig& network = infra.spec.network;
  if (network.role == spec::Role::primary)
    complain(problems, unit, "/spec/networkConfig/role", "not-a-vlan",
             "a primary network has OVN as its DHCP server and takes no servers at addresses of their own");
  else if (network.attachment)
    attach(unit, network.attachment->name, network.attachment->namespace_, "/spec/networkConfig/attachment", problems);
  else
    attach(unit, network.network_attachment_definition, network.network_attachment_namespace,
           "/spec/networkConfig/networkAttachmentDefinition", problems);
  unit.network = infra.cidr;
  unit.gateway = infra.gateway;
  if (infra.dhcp) unit.dhcp = infra.dhcp->server_ip;
  if (infra.dns) unit.dns = infra.dns->server_ip;
  if (infra.proxy) unit.proxy = infra.proxy->server_ip;
  if (infra.spec.dhcp) unit.dhcp_image = infra.spec.dhcp->image;
  if (infra.spec.dns) unit.dns_image = infra.spec.dns->image;
  unit.envoy_image = infra.spec.proxy ? infra.spec.proxy->proxy_image : spec::ProxyComponent{}.proxy_image;
  unit.set.infras = {infra};
  for (const auto& a : set.attachments)
    if (a.infra_name == infra.metadata.name && a.metadata.namespace_ == infra.metadata.namespace_)
      unit.set.attachments.push_back(a);
  return unit;
}

/// Nothing but a prefix length in serverIP says how large the network of such a server is.
void set_network(Unit& unit, const std::string& server_ip, const std::optional<Cidr>& known, Diagnostics& problems) {
  const auto parsed = spec::parse_ipv4_with_length(server_ip);
  if (parsed && parsed->prefix_length) {
    unit.network = Cidr(parsed->address, *parsed->prefix_length);
  } else if (known) {
    unit.network = *known;
  } else {
    complain(problems, unit, "/spec/networkConfig/serverIP", "prefix-unknown",
             "needs a prefix length, such as " + server_ip + "/24, because the pod's interface does");
  }
}

template <class Policy>
void take_policies(const std::vector<Policy>& all, std::string_view kind, const spec::ObjectMeta& target,
                   std::vector<Policy>& out) {
  for (const Policy& policy : all)
    if (policy.target.kind == kind && policy.target.name == target.name &&
        policy.metadata.namespace_ == target.namespace_)
      out.push_back(policy);
}

}  // namespace

std::string Unit::name(std::string_view component) const {
  return is_infra ? cut_name(owner.name, '-' + std::string(component)) : cut_name(owner.name);
}

std::vector<Unit> make_units(const spec::ValidSet& set, Diagnostics& problems) {
  std::vector<Unit> units;
  for (const spec::ValidInfra& infra : set.infras) units.push_back(infra_unit(set, infra, problems));
  for (const spec::ValidDhcpServer& server : set.dhcp_servers) {
    Unit unit = make_unit(server, "DHCPServer");
    attach(unit, server.spec.network_attachment_name, server.spec.network_attachment_namespace, "/spec/networkConfig",
           problems);
    unit.network = server.cidr;
    unit.gateway = server.gateway;
    unit.dhcp = server.dhcp.server_ip;
    unit.set.dhcp_servers = {server};
    units.push_back(std::move(unit));
  }
  for (const spec::ValidDnsServer& server : set.dns_servers) {
    Unit unit = make_unit(server, "DNSServer");
    attach(unit, server.spec.network_attachment_name, server.spec.network_attachment_namespace, "/spec/networkConfig",
           problems);
    set_network(unit, server.spec.server_ip, server.secondary_network, problems);
    unit.dns = server.server_ip;
    unit.set.dns_servers = {server};
    units.push_back(std::move(unit));
  }
  for (const spec::ValidProxyServer& server : set.proxy_servers) {
    Unit unit = make_unit(server, "ProxyServer");
    attach(unit, server.spec.network_attachment_name, server.spec.network_attachment_namespace, "/spec/networkConfig",
           problems);
    set_network(unit, server.spec.server_ip, {}, problems);
    unit.proxy = server.server_ip;
    unit.envoy_image = server.spec.proxy_image;
    unit.set.proxy_servers = {server};
    units.push_back(std::move(unit));
  }
  for (Unit& unit : units) {
    take_policies(set.dhcp_policies, unit.kind, unit.owner, unit.set.dhcp_policies);
    take_policies(set.dns_policies, unit.kind, unit.owner, unit.set.dns_policies);
    take_policies(set.proxy_policies, unit.kind, unit.owner, unit.set.proxy_policies);
    for (const spec::InfraClusterAttachment& attachment : unit.set.attachments)
      take_policies(set.apps_policies, "InfraClusterAttachment", attachment.metadata, unit.set.apps_policies);
  }
  return units;
}

}  // namespace hcpnet::manifest
