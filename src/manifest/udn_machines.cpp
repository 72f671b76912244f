// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/manifest/names.hpp>
#include <hcpnet/manifest/udn.hpp>
#include <nlohmann/json.hpp>
#include <utility>

namespace hcpnet::manifest {
namespace {

using Json = nlohmann::json;

const std::string kFirstInterface = "/spec/template/spec/domain/devices/interfaces/0";

/// The key and value of a binding in an interface.
std::pair<std::string, Json> binding_member(spec::UdnBinding binding) {
  switch (binding) {
    case spec::UdnBinding::passt:
      return {"passtBinding", Json::object()};
    case spec::UdnBinding::passt_plugin:
      return {"binding", {{"name", "passt"}}};
    case spec::UdnBinding::l2bridge:
      break;
  }
  return {"binding", {{"name", "l2bridge"}}};
}

/// Null is none.
std::vector<std::string> bindings_of(const Json& interface) {
  std::vector<std::string> found;
  for (const char* key : kInterfaceBindings)
    if (interface.contains(key) && !interface[key].is_null()) found.emplace_back(key);
  return found;
}

}  // namespace

Json udn_interface(std::string_view network, spec::UdnBinding binding) {
  auto [key, value] = binding_member(binding);
  return {{"name", network}, {key, std::move(value)}};
}

Json hypershift_vm_template(std::span<const std::string> additional_networks) {
  Json interfaces = Json::array({{{"name", "default"}, {"bridge", Json::object()}}});
  Json networks = Json::array({{{"name", "default"}, {"pod", Json::object()}}});
  for (std::size_t i = 0; i < additional_networks.size(); ++i) {
    std::string name = "iface" + std::to_string(i + 1) + '_' + additional_networks[i];
    std::ranges::replace(name, '/', '-');
    interfaces.push_back({{"name", name}, {"bridge", Json::object()}});
    networks.push_back({{"name", name}, {"multus", {{"networkName", additional_networks[i]}}}});
  }
  const Json labels = {{"hypershift.openshift.io/infra-id", "infra"},
                       {"hypershift.openshift.io/nodepool-name", "pool"}};
  return {{"metadata", {{"labels", labels}}},
          {"spec",
           {{"runStrategy", "Always"},
            {"template",
             {{"metadata", {{"labels", labels}, {"annotations", {{kBridgeMigrationAnnotation, ""}}}}},
              {"spec",
               {{"domain",
                 {{"cpu", {{"cores", 2}}},
                  {"memory", {{"guest", "8Gi"}}},
                  {"devices",
                   {{"disks", Json::array({{{"name", "rhcos"}, {"disk", {{"bus", "virtio"}}}}})},
                    {"interfaces", std::move(interfaces)},
                    {"networkInterfaceMultiqueue", true}}}}},
                {"evictionStrategy", "External"},
                {"networks", std::move(networks)},
                {"volumes", Json::array({{{"name", "rhcos"}, {"dataVolume", {{"name", "rhcos"}}}}})}}}}}}}};
}

Json hypershift_vm_patch(spec::UdnBinding binding) {
  auto [key, value] = binding_member(binding);
  std::string annotation(kBridgeMigrationAnnotation);
  annotation.replace(annotation.find('/'), 1, "~1");  // RFC 6901 section 3
  return Json::array({{{"op", "replace"}, {"path", kFirstInterface + "/bridge"}, {"value", nullptr}},
                      {{"op", "add"}, {"path", kFirstInterface + '/' + key}, {"value", std::move(value)}},
                      {{"op", "remove"}, {"path", "/spec/template/metadata/annotations/" + annotation}}});
}

VmPatchCheck check_vm_patch(const Json& patch, spec::UdnBinding binding,
                            std::span<const std::string> additional_networks, std::optional<text::Release> release) {
  const Json before = hypershift_vm_template(additional_networks);
  const auto result = text::apply_hypershift_patches(before, std::span(&patch, 1), release);
  if (result.has_error()) return {"it can't be applied to a machine's template: " + result.error().to_string(), {}};
  const Json interface = result->object.value(Json::json_pointer(kFirstInterface), Json::object());
  const auto [key, value] = binding_member(binding);
  const std::vector<std::string> found = bindings_of(interface);
  if (found == std::vector{key} && interface[key] == value) return {{}, result->kept};
  if (found.size() > 1) return {"the first interface would have two bindings: " + found[0] + " and " + found[1], {}};
  return {
      "the first interface would not have the binding " + (key == "binding" ? value["name"].get<std::string>() : key),
      {}};
}

std::string ipam_claim_name(std::string_view machine, std::string_view network) {
  std::string name;
  for (const std::string_view part : {machine, std::string_view("."), network})
    for (const char c : part) {
      const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      const bool is_kept =
          (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9') || lower == '-' || lower == '.';
      if (is_kept) name += lower;
    }
  name.resize(std::min(name.size(), kMaxNameBytes));
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  return name;
}

Json ipam_claim(const std::string& namespace_, const ClaimOwner& machine, std::string_view network,
                const std::string& ovn_network) {
  Json metadata = {{"name", ipam_claim_name(machine.name, network)},
                   {"namespace", namespace_},
                   {"labels",
                    {{"app.kubernetes.io/managed-by", "hcpnet"},
                     {"app.kubernetes.io/part-of", "hcpnet"},
                     {"kubevirt.io/vm", cut_name(machine.name)}}}};
  if (!machine.uid.empty())
    metadata["ownerReferences"] = Json::array({{{"apiVersion", "kubevirt.io/v1"},
                                                {"kind", "VirtualMachine"},
                                                {"name", machine.name},
                                                {"uid", machine.uid},
                                                {"controller", true},
                                                {"blockOwnerDeletion", true}}});
  return {{"apiVersion", "k8s.cni.cncf.io/v1alpha1"},
          {"kind", "IPAMClaim"},
          {"metadata", std::move(metadata)},
          // The interface is a name inside of the pod, which a primary network doesn't need.
          {"spec", {{"network", ovn_network}, {"interface", ""}}}};
}

std::string addresses_annotation(const std::string& network, std::span<const IpAddress> addresses) {
  Json list = Json::array();
  for (const IpAddress& address : addresses) list.push_back(address.to_string());
  return Json{{network, std::move(list)}}.dump();
}

std::string default_network_annotation(const std::string& ovn_namespace, std::span<const IpAddress> addresses,
                                       std::span<const Cidr> subnets, std::optional<MacAddress> mac,
                                       const std::string& claim) {
  Json element = {{"name", "default"}, {"namespace", ovn_namespace}, {"ipam-claim-reference", claim}};
  for (const IpAddress& address : addresses) {
    const auto subnet = std::ranges::find_if(subnets, [&](const Cidr& s) { return s.contains(address); });
    if (subnet != subnets.end())
      element["ips"].push_back(address.to_string() + '/' + std::to_string(subnet->prefix_length()));
  }
  if (mac) element["mac"] = mac->to_string();
  return Json::array({std::move(element)}).dump();
}

}  // namespace hcpnet::manifest
