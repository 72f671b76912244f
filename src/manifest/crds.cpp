// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdint>
#include <hcpnet/manifest/crds.hpp>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "spec/field_lister.hpp"

namespace hcpnet::manifest {
namespace {

using Json = nlohmann::json;
using spec::Format;

constexpr const char* kLabel = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr const char* kHostLabel = "[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?";

std::string anchored(const std::string& pattern) {
  return '^' + pattern + '$';
}
std::string dotted(const std::string& label) {
  return label + "(\\." + label + ")*";
}

/// What a schema can say about a format. Addresses inside networks and the like are for rules, or for validate().
void add_format(Json& schema, Format format) {
  switch (format) {
    case Format::any:
      break;
    case Format::image:
      schema.update({{"minLength", 1}, {"pattern", "^\\S+$"}});
      break;
    case Format::object_name:
      schema.update({{"maxLength", 253}, {"pattern", anchored(dotted(kLabel))}});
      break;
    case Format::label:
      schema.update({{"maxLength", 63}, {"pattern", anchored(kLabel)}});
      break;
    case Format::host_name:
      schema.update({{"maxLength", 253}, {"pattern", anchored(dotted(kHostLabel))}});
      break;
    case Format::host_or_wildcard:
      schema.update({{"maxLength", 255}, {"pattern", anchored("(\\*\\.)?" + dotted(kHostLabel))}});
      break;
    case Format::lower_domain:
      schema.update({{"maxLength", 253}, {"pattern", anchored(std::string(kLabel) + "(\\." + kLabel + ")+")}});
      break;
    case Format::ipv4:
      schema["format"] = "ipv4";
      break;
    case Format::ipv6:
      schema["format"] = "ipv6";
      break;
    case Format::ipv4_cidr:
    case Format::ipv6_cidr:
    case Format::cidr:
      schema.update({{"format", "cidr"}, {"maxLength", 43}});
      break;
    case Format::ipv4_with_length:
      schema["pattern"] = "^([0-9]{1,3}\\.){3}[0-9]{1,3}(/[0-9]{1,2})?$";
      break;
    case Format::mac:
      schema["pattern"] = "^[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}$";
      break;
    case Format::interface_name:
      schema.update({{"minLength", 1}, {"maxLength", 15}, {"pattern", "^[-._A-Za-z0-9]+$"}});
      break;
    case Format::volume_name:
      schema.update({{"minLength", 1}, {"maxLength", 128}, {"pattern", "^[._A-Za-z0-9][-._A-Za-z0-9]*$"}});
      break;
    case Format::simple_duration:
      schema["pattern"] = "^[0-9]+(s|m|h)$";
      break;
    case Format::go_duration:
      schema["pattern"] = "^([0-9]+(\\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$";
      break;
    case Format::nsid:
      schema.update({{"minLength", 1}, {"maxLength", 128}});
      break;
    case Format::version_text:
      schema.update({{"minLength", 1}, {"maxLength", 255}});
      break;
    case Format::release:
      schema["pattern"] = "^4\\.[0-9]+(\\.[0-9]+)?$";
      break;
    case Format::duid:
      schema["pattern"] = "^[0-9A-Fa-f]{2}(:?[0-9A-Fa-f]{2}){2,129}$";
      break;
    case Format::mac_prefix:
      schema["pattern"] = "^[0-9A-Fa-f]{2}((:[0-9A-Fa-f]{2}){0,5}|(-[0-9A-Fa-f]{2}){0,5})$";
      break;
    case Format::boot_file:
      schema.update({{"minLength", 1}, {"maxLength", 127}});
      break;
    case Format::boot_server:
      schema.update({{"minLength", 1}, {"maxLength", 63}});
      break;
    case Format::domain_or_empty:
      break;
    case Format::attachment_reference:
      schema.update({{"maxLength", 317}, {"pattern", anchored('(' + std::string(kLabel) + "/)?" + dotted(kLabel))}});
      break;
    case Format::route_target:
      schema.update({{"maxLength", 21}, {"pattern", "^(\\*|[0-9]+|([0-9]{1,3}\\.){3}[0-9]{1,3}):[0-9]+$"}});
      break;
    case Format::store_prefix:
      schema.update({{"minLength", 2}, {"maxLength", 256}});
      break;
    case Format::vrf_name:
      schema.update({{"minLength", 1}, {"maxLength", 15}});
      break;
    case Format::ip_address:  // the longest form is an IPv4 address in an IPv6 one
      schema.update({{"minLength", 1}, {"maxLength", 45}});
      break;
    case Format::published_host:
    case Format::node_address:
    case Format::endpoint:
    case Format::store_endpoint:
    case Format::file_name:
    case Format::option_bytes:
    case Format::target:
    case Format::service_reference:
    case Format::pool:
    case Format::resolver:
      schema["minLength"] = 1;
      break;
  }
}

Json default_of(const spec::FieldInfo& field) {
  const std::string& text = *field.default_value;
  if (field.type == "boolean") return text == "true";
  if (field.type != "integer") return text;
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Json schema_of(const spec::FieldInfo& field) {
  Json schema = {{"type", field.type}};
  if (field.format) add_format(schema, *field.format);
  if (field.interval) schema.update({{"minimum", field.interval->first}, {"maximum", field.interval->last}});
  if (field.type == "integer")
    schema["format"] =
        field.interval && field.interval->last > std::numeric_limits<std::int32_t>::max() ? "int64" : "int32";
  if (!field.choices.empty()) schema["enum"] = field.choices;
  if (field.default_value) schema["default"] = default_of(field);
  if (field.list.min_items > 0) schema["minItems"] = field.list.min_items;
  if (field.list.max_items < std::numeric_limits<std::size_t>::max()) schema["maxItems"] = field.list.max_items;
  return schema;
}

/// Puts `field` into the schema of its object, `path` being what is left of its path.
void insert(Json& schema, std::string_view path, const spec::FieldInfo& field) {
  path.remove_prefix(1);
  const std::size_t slash = path.find('/');
  const std::string name(path.substr(0, slash));
  Json& child = name == "*" ? schema["items"] : schema["properties"][name];
  if (slash != std::string_view::npos) return insert(child, path.substr(slash), field);
  child = schema_of(field);
  if (field.is_required && name != "*") schema["required"].push_back(name);
}

/// An object without fields of its own holds words by name.
void finish(Json& schema) {
  if (schema["type"] == "object" && !schema.contains("properties"))
    schema["additionalProperties"] = {{"type", "string"}};
  if (schema.contains("items")) finish(schema["items"]);
  if (schema.contains("properties"))
    for (Json& child : schema["properties"]) finish(child);
}

void add_rule(Json& schema, const char* rule, const char* message) {
  schema["x-kubernetes-validations"].push_back({{"rule", rule}, {"message", message}});
}

Json& at(Json& schema, std::initializer_list<const char*> path) {
  Json* here = &schema;
  for (const char* name : path) here = &(*here)["properties"][name];
  return *here;
}

void add_infra_rules(Json& schema) {
  Json& network = at(schema, {"spec", "networkConfig"});
  add_rule(network, "has(self.attachment) || has(self.networkAttachmentDefinition)",
           "names no network attachment: set networkAttachmentDefinition or attachment");
  add_rule(
      network,
      "!(has(self.networkAttachmentDefinition) || has(self.networkAttachmentNamespace)) || !(has(self.attachment) || "
      "has(self.topology) || has(self.role) || has(self.exposure) || has(self.ipam) || "
      "has(self.routeAdvertisementsRef))",
      "the two ways of naming an attachment can't be mixed");
  add_rule(network,
           "has(self.attachment) || !(has(self.topology) || has(self.role) || has(self.exposure) || has(self.ipam) || "
           "has(self.routeAdvertisementsRef))",
           "these fields need attachment");
  add_rule(network, "has(self.networkAttachmentDefinition) || !has(self.networkAttachmentNamespace)",
           "networkAttachmentNamespace needs networkAttachmentDefinition");
  add_rule(network, "!has(self.gateway) || cidr(self.cidr).containsIP(self.gateway)", "gateway lies outside cidr");
  add_rule(at(schema, {"spec", "infraComponents", "dhcp"}),
           "!self.enabled || (has(self.serverIP) && has(self.rangeStart) && has(self.rangeEnd))",
           "an enabled component needs serverIP, rangeStart and rangeEnd");
  for (const char* part : {"dns", "proxy"})
    add_rule(at(schema, {"spec", "infraComponents", part}), "!self.enabled || has(self.serverIP)",
             "an enabled component needs serverIP");
}

void add_family_rule(Json& layer, const std::string& list) {
  const std::string name = "self." + list;
  const std::string rule = "!has(" + name + ") || size(" + name + ") != 2 || cidr(" + name +
                           "[0]).ip().family() != cidr(" + name + "[1]).ip().family()";
  add_rule(layer, rule.c_str(), "of two networks one is IPv4 and one is IPv6");
}

/// The rules of k8s.ovn.org/v1 in the fields that are like its own, as far as they concern primary networks; and what a
/// change can't carry out, because OVN-Kubernetes takes none.
void add_layer2_rules(Json& layer2) {
  add_rule(layer2, "self == oldSelf", "layer2 can't be changed");
  add_rule(layer2, "self.role == 'Primary'", "this kind is for primary networks");
  add_rule(layer2,
           "!has(self.ipam) || ((has(self.ipam.mode) || has(self.ipam.lifecycle)) && (!has(self.ipam.mode) || "
           "self.ipam.mode == 'Enabled'))",
           "ipam has mode Enabled, lifecycle or both");
  add_family_rule(layer2, "subnets");
  add_family_rule(layer2, "joinSubnets");
  add_rule(layer2, "!has(self.mtu) || self.mtu >= 1280 || !self.subnets.exists(s, cidr(s).ip().family() == 6)",
           "IPv6 needs an MTU of 1280 at least");
  add_rule(layer2, "!has(self.defaultGatewayIPs) || size(self.defaultGatewayIPs) == size(self.subnets)",
           "there is one gateway for each subnet");
  add_rule(layer2,
           "!has(self.defaultGatewayIPs) || self.defaultGatewayIPs.all(g, self.subnets.exists(s, "
           "cidr(s).containsIP(g)))",
           "a gateway lies in a subnet");
  add_rule(layer2,
           "!has(self.defaultGatewayIPs) || !has(self.infrastructureSubnets) || self.defaultGatewayIPs.all(g, "
           "self.infrastructureSubnets.exists(s, cidr(s).containsIP(g)))",
           "a gateway lies in an infrastructure subnet where there are any");
  for (const char* list : {"reservedSubnets", "infrastructureSubnets"}) {
    const std::string name = std::string("self.") + list;
    const std::string inside = "!has(" + name + ") || " + name +
                               ".all(e, cidr(e) == cidr(e).masked() && self.subnets.exists(s, "
                               "cidr(s).containsCIDR(cidr(e))))";
    add_rule(layer2, inside.c_str(), "reserved and infrastructure subnets are parts of a subnet, without host bits");
  }
  add_rule(layer2,
           "!has(self.infrastructureSubnets) || !has(self.reservedSubnets) || self.infrastructureSubnets.all(i, "
           "!self.reservedSubnets.exists(r, cidr(i).containsCIDR(cidr(r)) || cidr(r).containsCIDR(cidr(i))))",
           "infrastructure subnets and reserved subnets don't overlap");
  add_rule(layer2,
           "self.subnets.all(s, !cidr('169.254.0.0/16').containsCIDR(cidr(s)) && "
           "!cidr(s).containsCIDR(cidr('169.254.0.0/16')))",
           "169.254.0.0/16 belongs to OVN-Kubernetes");
}

void add_layer3_rules(Json& layer3) {
  add_rule(layer3, "self.role == 'Primary'", "this kind is for primary networks");
  add_rule(
      layer3,
      "oldSelf.subnets.all(o, self.subnets.exists(n, n.cidr == o.cidr && has(n.hostSubnet) == has(o.hostSubnet) && "
      "(!has(n.hostSubnet) || n.hostSubnet == o.hostSubnet)))",
      "subnets can be added, not taken away");
  add_rule(layer3, "has(self.mtu) == has(oldSelf.mtu) && (!has(self.mtu) || self.mtu == oldSelf.mtu)",
           "mtu can't be changed");
  add_rule(layer3,
           "has(self.joinSubnets) == has(oldSelf.joinSubnets) && (!has(self.joinSubnets) || self.joinSubnets == "
           "oldSelf.joinSubnets)",
           "joinSubnets can't be changed");
  add_family_rule(layer3, "joinSubnets");
  add_rule(layer3, "!has(self.mtu) || self.mtu >= 1280 || !self.subnets.exists(s, cidr(s.cidr).ip().family() == 6)",
           "IPv6 needs an MTU of 1280 at least");
  add_rule(layer3, "self.subnets.all(a, self.subnets.exists_one(b, b.cidr == a.cidr))", "a subnet is there once");
  add_rule(layer3, "!self.subnets.exists(a, self.subnets.exists(b, a != b && cidr(a.cidr).containsCIDR(b.cidr)))",
           "subnets don't overlap");
  add_rule(layer3,
           "self.subnets.all(a, self.subnets.all(b, cidr(a.cidr).ip().family() != cidr(b.cidr).ip().family() || "
           "(has(a.hostSubnet) == has(b.hostSubnet) && (!has(a.hostSubnet) || a.hostSubnet == b.hostSubnet))))",
           "subnets of one family have one hostSubnet");
  Json& subnet = layer3["properties"]["subnets"]["items"];
  add_rule(subnet,
           "!has(self.hostSubnet) || (self.hostSubnet > cidr(self.cidr).prefixLength() && "
           "(cidr(self.cidr).ip().family() == 6 || self.hostSubnet < 32))",
           "hostSubnet is longer than the prefix of cidr, and less than 32 for IPv4");
}

void add_udn_rules(Json& schema) {
  Json& spec = at(schema, {"spec"});
  add_rule(spec,
           "self.scope == 'Cluster' || !(has(self.uplinks) || has(self.routeAdvertisements) || "
           "(has(self.additionalNamespaces) && size(self.additionalNamespaces) > 0) || has(self.network.transport))",
           "uplinks, routeAdvertisements, additionalNamespaces and transport need the scope Cluster");
  add_rule(spec, "!has(self.uplinks) || !has(self.network.transport) || self.network.transport != 'EVPN'",
           "EVPN has no uplinks");
  add_rule(spec, "!has(self.hostedClusterRef) || !has(self.virtualMachines) || size(self.virtualMachines) == 0",
           "the machines of a hosted cluster come from its NodePools");
  add_rule(spec,
           "!has(self.services) || size(self.services) == 0 || (has(self.virtualMachines) && "
           "size(self.virtualMachines) > 0)",
           "services lead to virtualMachines");
  Json& service = at(schema, {"spec", "services"})["items"];
  add_rule(service, "self.type != 'ClusterIP' || !self.ports.exists(p, has(p.nodePort))",
           "a Service of the type ClusterIP has no node ports");
  add_rule(service, "self.name.matches('^[a-z]')", "the name of a Service begins with a letter");
  add_rule(spec, "self.scope == oldSelf.scope", "scope can't be changed");
  add_rule(spec, "has(self.uplinks) == has(oldSelf.uplinks) && (!has(self.uplinks) || self.uplinks == oldSelf.uplinks)",
           "uplinks can't be changed");
  Json& network = at(schema, {"spec", "network"});
  add_rule(network, "self.topology == oldSelf.topology", "topology can't be changed");
  add_rule(network,
           "has(self.transport) == has(oldSelf.transport) && (!has(self.transport) || self.transport == "
           "oldSelf.transport)",
           "transport can't be changed");
  for (const auto& [name, part] : {std::pair{"Layer2", "layer2"}, std::pair{"Layer3", "layer3"}}) {
    const std::string rule = std::string("(self.topology == '") + name + "') == has(self." + part + ')';
    add_rule(network, rule.c_str(), "layer2 or layer3 is there, as the topology says");
  }
  for (const auto& [name, part] : {std::pair{"NoOverlay", "noOverlay"}, std::pair{"EVPN", "evpn"}}) {
    const std::string rule =
        std::string("(has(self.transport) && self.transport == '") + name + "') == has(self." + part + ')';
    add_rule(network, rule.c_str(), "noOverlay or evpn is there, as the transport says");
  }
  add_rule(network, "!has(self.transport) || self.transport != 'NoOverlay' || self.topology == 'Layer3'",
           "NoOverlay needs the topology Layer3");
  add_rule(network,
           "!has(self.evpn) || (self.topology == 'Layer2' ? has(self.evpn.macVRF) : has(self.evpn.ipVRF) && "
           "!has(self.evpn.macVRF))",
           "EVPN has macVRF for Layer2, and ipVRF alone for Layer3");
  add_rule(at(schema, {"spec", "network", "evpn"}),
           "!has(self.macVRF) || !has(self.ipVRF) || self.macVRF.vni != self.ipVRF.vni",
           "macVRF and ipVRF have different VNIs");
  add_layer2_rules(at(schema, {"spec", "network", "layer2"}));
  add_layer3_rules(at(schema, {"spec", "network", "layer3"}));
  add_rule(at(schema, {"spec", "routeAdvertisements"}), "self.podNetwork || self.egressIP",
           "podNetwork or egressIP is true");
  add_rule(at(schema, {"spec", "routeAdvertisements"}),
           "!self.podNetwork || !has(self.nodeLabels) || size(self.nodeLabels) == 0",
           "the pod network is advertised from every node");
}

void add_rules(std::string_view kind, Json& schema) {
  if (kind == "Infra") add_infra_rules(schema);
  if (kind == "PrimaryUDN") add_udn_rules(schema);
  if (kind == "InfraClusterAttachment")
    add_rule(at(schema, {"spec", "appsIngress"}),
             "!self.enabled || (has(self.metallb) && has(self.metallb.addressPoolName) && "
             "has(self.metallb.ipAddressPoolRange))",
             "an enabled appsIngress needs metallb.addressPoolName and metallb.ipAddressPoolRange");
  for (const auto& [policy, server] : {std::pair{"DHCPPolicy", "DHCPServer"}, std::pair{"DNSPolicy", "DNSServer"},
                                       std::pair{"ProxyPolicy", "ProxyServer"}})
    if (kind == policy) at(schema, {"spec", "targetRef", "kind"})["enum"] = {"Infra", server};
  if (kind == "AppsPolicy") at(schema, {"spec", "targetRef", "kind"})["enum"] = Json::array({"InfraClusterAttachment"});
}

template <class Kind>
Json definition(std::string_view api_version, const std::string& kind, const std::string& plural, Json short_names) {
  spec::FieldLister lister;
  Kind object;
  describe(lister, object);
  Json schema = {{"type", "object"}, {"required", Json::array({"spec"})}};
  for (const spec::FieldInfo& field : lister.fields())
    if (field.path.starts_with("/spec")) insert(schema, field.path, field);
  schema["required"] = Json::array({"spec"});
  finish(schema);
  add_rules(kind, schema);
  Json& properties = schema["properties"];
  properties["apiVersion"] = properties["kind"] = {{"type", "string"}};
  properties["metadata"] = {{"type", "object"}};
  properties["status"] = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  const std::string group(api_version.substr(0, api_version.find('/')));
  Json names = {{"kind", kind}, {"listKind", kind + "List"}, {"plural", plural}, {"singular", spec::lower(kind)}};
  if (!short_names.empty()) names["shortNames"] = std::move(short_names);
  Json version = {{"name", api_version.substr(group.size() + 1)},
                  {"served", true},
                  {"storage", true},
                  {"schema", {{"openAPIV3Schema", std::move(schema)}}},
                  {"subresources", {{"status", Json::object()}}}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", plural + '.' + group}}},
          {"spec",
           {{"group", group},
            {"names", std::move(names)},
            {"scope", "Namespaced"},
            {"versions", Json::array({std::move(version)})}}}};
}

}  // namespace

std::vector<Json> custom_resource_definitions() {
  using spec::kHcpnetApiVersion;
  using spec::kOooiApiVersion;
  const auto names = [](std::initializer_list<const char*> list) {
    return Json(std::vector<std::string>(list.begin(), list.end()));
  };
  return {definition<spec::Infra>(kOooiApiVersion, "Infra", "infras", names({"infra"})),
          definition<spec::InfraClusterAttachment>(kOooiApiVersion, "InfraClusterAttachment", "infraclusterattachments",
                                                   names({"infraattachment", "ica"})),
          definition<spec::DHCPServer>(kOooiApiVersion, "DHCPServer", "dhcpservers", names({})),
          definition<spec::DNSServer>(kOooiApiVersion, "DNSServer", "dnsservers", names({"dns"})),
          definition<spec::ProxyServer>(kOooiApiVersion, "ProxyServer", "proxyservers", names({"proxy"})),
          definition<spec::DHCPPolicy>(kHcpnetApiVersion, "DHCPPolicy", "dhcppolicies", names({})),
          definition<spec::DNSPolicy>(kHcpnetApiVersion, "DNSPolicy", "dnspolicies", names({})),
          definition<spec::ProxyPolicy>(kHcpnetApiVersion, "ProxyPolicy", "proxypolicies", names({})),
          definition<spec::AppsPolicy>(kHcpnetApiVersion, "AppsPolicy", "appspolicies", names({})),
          definition<spec::PrimaryUDN>(kHcpnetApiVersion, "PrimaryUDN", "primaryudns", names({"pudn"}))};
}

}  // namespace hcpnet::manifest
