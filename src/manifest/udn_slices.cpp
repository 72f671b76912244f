// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/manifest/udn_slices.hpp>
#include <utility>

namespace hcpnet::manifest {
namespace {

using Json = nlohmann::json;

std::string text_at(const Json& object, const char* name) {
  const auto member = object.find(name);
  return member != object.end() && member->is_string() ? member->get<std::string>() : std::string();
}

Json to_json(const SliceEndpoint& endpoint) {
  Json json = {
      {"addresses", Json::array({endpoint.address.to_string()})},
      {"conditions",
       {{"ready", endpoint.is_ready}, {"serving", endpoint.is_serving}, {"terminating", endpoint.is_terminating}}}};
  if (!endpoint.host_name.empty()) json["hostname"] = endpoint.host_name;
  if (!endpoint.node_name.empty()) json["nodeName"] = endpoint.node_name;
  if (endpoint.target) json["targetRef"] = *endpoint.target;
  return json;
}

bool is_link_local(const IpAddress& address) {
  if (address.is_v4()) return Ipv4Cidr(Ipv4(169, 254, 0, 0), 16).contains(address.v4());
  const auto& bytes = address.v6().bytes();
  return bytes[0] == 0xFE && (bytes[1] & 0xC0) == 0x80;  // fe80::/10, RFC 4291 section 2.5.6
}

void take_first(PrimaryAddresses& found, const IpAddress& address) {
  if (address.is_v4() && !found.v4) found.v4 = address.v4();
  if (address.is_v6() && !found.v6) found.v6 = address.v6();
}

/// The addresses of one entry: "10.150.0.5/16" each.
Result<PrimaryAddresses, std::string> parse_entry(const Json& entry) {
  const auto list = entry.find("ip_addresses");
  if (list == entry.end() || !list->is_array() || list->empty()) return "the primary entry has no ip_addresses";
  // Where both are written they are one address; whoever wrote them otherwise wrote something else wrong, too.
  const std::string single = text_at(entry, "ip_address");
  if (!single.empty() && list->front() != single) return "ip_address of the primary entry is not its ip_addresses";
  PrimaryAddresses found;
  for (const Json& item : *list) {
    if (!item.is_string()) return "an address is no text";
    const std::string text = item.get<std::string>();
    const auto address = parse_ip_address(std::string_view(text).substr(0, text.find('/')));
    if (!address) return text + " is no address";
    take_first(found, *address);
  }
  return found;
}

}  // namespace

Json endpoint_slice(const Slice& slice) {
  Json labels = {{"app.kubernetes.io/managed-by", "hcpnet"},
                 {"app.kubernetes.io/part-of", "hcpnet"},
                 {"endpointslice.kubernetes.io/managed-by", kSliceManager}};
  Json metadata = {{"name", slice.name}, {"namespace", slice.namespace_}};
  if (slice.reader == SliceReader::ovn) {
    labels["k8s.ovn.org/service-name"] = slice.service;
    metadata["annotations"]["k8s.ovn.org/endpointslice-network"] = slice.network;
  } else {
    labels["kubernetes.io/service-name"] = slice.service;
  }
  metadata["labels"] = std::move(labels);
  if (!slice.service_uid.empty())
    metadata["ownerReferences"] = Json::array({{{"apiVersion", "v1"},
                                                {"kind", "Service"},
                                                {"name", slice.service},
                                                {"uid", slice.service_uid},
                                                {"controller", true},
                                                {"blockOwnerDeletion", true}}});
  Json endpoints = Json::array(), ports = Json::array();
  for (const SliceEndpoint& endpoint : slice.endpoints) endpoints.push_back(to_json(endpoint));
  for (const SlicePort& port : slice.ports)
    ports.push_back({{"name", port.name}, {"port", port.port}, {"protocol", port.protocol}});
  return {{"apiVersion", "discovery.k8s.io/v1"}, {"kind", "EndpointSlice"},
          {"metadata", std::move(metadata)},     {"addressType", slice.is_ipv6 ? "IPv6" : "IPv4"},
          {"endpoints", std::move(endpoints)},   {"ports", std::move(ports)}};
}

Result<PrimaryAddresses, std::string> parse_pod_networks(std::string_view annotation) {
  const Json networks = Json::parse(annotation, nullptr, false);
  if (!networks.is_object()) return "k8s.ovn.org/pod-networks is no JSON object";
  const Json* primary = nullptr;
  for (const auto& [name, entry] : networks.items()) {
    if (!entry.is_object() || text_at(entry, "role") != "primary") continue;
    if (primary != nullptr) return "two entries have the role primary";
    primary = &entry;
  }
  if (primary == nullptr) return "no entry has the role primary";
  return parse_entry(*primary);
}

PrimaryAddresses first_internal_addresses(const Json& addresses) {
  PrimaryAddresses found;
  if (!addresses.is_array()) return found;
  for (const Json& item : addresses) {
    if (!item.is_object() || text_at(item, "type") != "InternalIP") continue;
    const auto address = parse_ip_address(text_at(item, "address"));
    if (address && !is_link_local(*address)) take_first(found, *address);
  }
  return found;
}

}  // namespace hcpnet::manifest
