// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/manifest/udn.hpp>
#include <utility>

#include "manifest/objects.hpp"
#include "manifest/udn.hpp"

namespace hcpnet::manifest {
namespace {

/// A name in the machine for its network attachment number `index`, like those that HyperShift gives. One attachment
/// may be there twice.
std::string logical_name(std::size_t index, std::string reference) {
  std::ranges::replace_if(reference, [](char c) { return c == '/' || c == '.'; }, '-');
  return "iface" + std::to_string(index + 1) + '_' + reference;
}

/// Of the pods of a machine that a Service leads to. A label of its own for each Service: a machine may have several.
std::string service_label(const std::string& service) {
  return "service.hcpnet.io/" + service;
}

bool leads_to(const spec::UdnService& service, const std::string& machine) {
  return service.machines.empty() || std::ranges::find(service.machines, machine) != service.machines.end();
}

std::vector<Port> ports_of(const spec::UdnService& service) {
  std::vector<Port> ports;
  for (const spec::UdnServicePort& port : service.ports)
    ports.push_back({port.name, static_cast<std::uint16_t>(port.port),
                     port.protocol == spec::Protocol::udp ? "UDP" : "TCP",
                     static_cast<std::uint16_t>(port.target_port.value_or(0))});
  return ports;
}

const char* type_of(const spec::UdnService& service) {
  switch (service.type) {
    case spec::UdnServiceType::node_port:
      return "NodePort";
    case spec::UdnServiceType::load_balancer:
      return "LoadBalancer";
    case spec::UdnServiceType::cluster_ip:
      break;
  }
  return "ClusterIP";
}

std::string uid_of(const spec::Observed& observed, const std::string& key) {
  const auto found = observed.virtual_machine_uids.find(key);
  return found == observed.virtual_machine_uids.end() ? std::string() : found->second;
}

}  // namespace

/// The interface lists of a VirtualMachine have no keys that a server-side apply could merge by: they are written
/// whole.
void UdnBuilder::add_machines() {
  const bool makes_claims = udn_.spec.claims == spec::UdnClaims::hcpnet;
  const std::string& ns = udn_.namespaces.front();
  for (std::size_t i = 0; i < udn_.machines.size(); ++i) {
    const spec::ValidUdnMachine& machine = udn_.machines[i];
    const std::string pointer = text::child("/spec/virtualMachines", i);
    check_attachments(pointer + "/additionalNetworks", machine.additional_networks);
    Json first = udn_interface(machine.network, udn_.spec.binding);
    if (machine.mac) first["macAddress"] = machine.mac->to_string();
    Json interfaces = Json::array({std::move(first)});
    Json networks = Json::array({{{"name", machine.network}, {"pod", Json::object()}}});
    for (std::size_t n = 0; n < machine.additional_networks.size(); ++n) {
      const std::string name = logical_name(n, machine.additional_networks[n]);
      interfaces.push_back({{"name", name}, {"bridge", Json::object()}});
      networks.push_back({{"name", name}, {"multus", {{"networkName", machine.additional_networks[n]}}}});
    }
    Json pod = {
        {"spec",
         {{"domain", {{"devices", {{"interfaces", std::move(interfaces)}}}}}, {"networks", std::move(networks)}}}};
    if (makes_claims) {
      const std::string uid = uid_of(observed_, ns + '/' + machine.name);
      if (uid.empty())
        warn(pointer + "/name", "claim-without-owner",
             "the VirtualMachine was not observed, so its IPAMClaim has no owner and stays when the machine goes");
      out_.push_back(ipam_claim(ns, {machine.name, uid}, machine.network, udn_.network));
      pod["metadata"]["annotations"][std::string(kDefaultNetworkAnnotation)] =
          default_network_annotation(udn_.spec.management.ovn_namespace, machine.addresses, udn_.subnets, machine.mac,
                                     ipam_claim_name(machine.name, machine.network));
    } else if (!machine.addresses.empty()) {
      pod["metadata"]["annotations"][std::string(kAddressesAnnotation)] =
          addresses_annotation(machine.network, machine.addresses);
    }
    for (const spec::UdnService& service : udn_.spec.services)
      if (leads_to(service, machine.name)) pod["metadata"]["labels"][service_label(service.name)] = "";
    out_.push_back({{"apiVersion", "kubevirt.io/v1"},
                    {"kind", "VirtualMachine"},
                    {"metadata", {{"name", machine.name}, {"namespace", ns}}},
                    {"spec", {{"template", std::move(pod)}}}});
  }
}

/// OVN-Kubernetes mirrors the slices of a Service that selects pods, so that it leads to them on their network.
void UdnBuilder::add_services() {
  for (const spec::UdnService& service : udn_.spec.services) {
    Json json = make_object("v1", "Service", service.name, udn_.namespaces.front());
    Json spec = service_spec(type_of(service), {{service_label(service.name), ""}}, ports_of(service));
    for (std::size_t i = 0; i < service.ports.size(); ++i)
      if (service.ports[i].node_port) spec["ports"][i]["nodePort"] = *service.ports[i].node_port;
    const bool has_ipv4 =
        std::ranges::any_of(udn_.subnets, [](const Cidr& subnet) { return subnet.network().is_v4(); });
    if (has_ipv4 && has_ipv6())
      spec["ipFamilyPolicy"] = "PreferDualStack";
    else
      spec["ipFamilies"] = Json::array({has_ipv4 ? "IPv4" : "IPv6"});
    json["spec"] = std::move(spec);
    out_.push_back(std::move(json));
  }
}

}  // namespace hcpnet::manifest
