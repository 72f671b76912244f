// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/manifest/udn.hpp>
#include <utility>

#include "manifest/udn.hpp"

namespace hcpnet::manifest {
namespace {

using Json = nlohmann::json;

/// A name in the machine for a network attachment.
std::string logical_name(std::string reference) {
  std::ranges::replace_if(reference, [](char c) { return c == '/' || c == '.'; }, '-');
  return reference;
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
    for (const std::string& reference : machine.additional_networks) {
      const std::string name = logical_name(reference);
      interfaces.push_back({{"name", name}, {"bridge", Json::object()}});
      networks.push_back({{"name", name}, {"multus", {{"networkName", reference}}}});
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
    out_.push_back({{"apiVersion", "kubevirt.io/v1"},
                    {"kind", "VirtualMachine"},
                    {"metadata", {{"name", machine.name}, {"namespace", ns}}},
                    {"spec", {{"template", std::move(pod)}}}});
  }
}

}  // namespace hcpnet::manifest
