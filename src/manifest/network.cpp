// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <hcpnet/manifest/network.hpp>
#include <nlohmann/json.hpp>

namespace hcpnet::manifest {
namespace {

using Json = nlohmann::json;

constexpr const char* kCniVersion = "0.4.0";  // the newest that every plugin in use reads

bool is_reserved(const IpAddress& address, const Cidr& network) {
  if (address == network.network() && network.prefix_length() < (address.is_v4() ? 31U : 127U)) return true;
  return address.is_v4() && network.prefix_length() < 31 &&
         address.v4() == Ipv4Cidr(network.network().v4(), network.prefix_length()).broadcast();
}

template <class T>
std::optional<T> parse_number(std::string_view text, T first, T last) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < first || number > last) return {};
  return number;
}

/// Interface names of Linux: at most 15 bytes, none of them a blank, "/" or ":".
bool is_device(std::string_view name) {
  const auto is_fine = [](char c) { return c > ' ' && c < 127 && c != '/' && c != ':' && c != ','; };
  return !name.empty() && name.size() <= 15 && name != "." && name != ".." && std::ranges::all_of(name, is_fine);
}

/// Halves of everything: a default route of the VLAN would be the pod's second one, which no plugin adds.
Json routes_through(const IpAddress& gateway) {
  const std::string via = gateway.to_string();
  const char* low = gateway.is_v4() ? "0.0.0.0/1" : "::/1";
  const char* high = gateway.is_v4() ? "128.0.0.0/1" : "8000::/1";
  return Json::array({{{"dst", low}, {"gw", via}}, {{"dst", high}, {"gw", via}}});
}

}  // namespace

std::string InterfaceAddress::to_string() const {
  return address.to_string() + '/' + std::to_string(prefix_length);
}

Result<InterfaceAddress, std::string> parse_interface_address(std::string_view text, const Cidr& network,
                                                              const std::optional<IpAddress>& gateway) {
  const std::size_t slash = text.find('/');
  const auto address = parse_ip_address(text.substr(0, slash));
  if (!address) return "is not an address";
  if (slash != std::string_view::npos &&
      parse_number<unsigned>(text.substr(slash + 1), 0, 128) != network.prefix_length())
    return "has another prefix length than " + network.to_string();
  if (!network.contains(*address)) return "lies outside " + network.to_string();
  if (is_reserved(*address, network)) return "is the first or last address of " + network.to_string();
  if (gateway && *gateway == *address) return "is the gateway";
  return InterfaceAddress{*address, network.prefix_length()};
}

std::string networks_annotation(const AttachmentRef& attachment, std::span<const InterfaceAddress> addresses) {
  Json ips = Json::array();
  for (const InterfaceAddress& address : addresses) ips.push_back(address.to_string());
  const Json list =
      Json::array({{{"name", attachment.name}, {"namespace", attachment.namespace_}, {"ips", std::move(ips)}}});
  return list.dump();
}

bool may_use_attachment(std::string_view pod_namespace, std::string_view attachment_namespace) noexcept {
  return pod_namespace == attachment_namespace ||
         std::ranges::find(kGlobalAttachmentNamespaces, attachment_namespace) != std::end(kGlobalAttachmentNamespaces);
}

std::string_view to_string(LinkType type) noexcept {
  switch (type) {
    case LinkType::bridge:
      return "bridge";
    case LinkType::macvlan:
      return "macvlan";
    case LinkType::ipvlan:
      break;
  }
  return "ipvlan";
}

Result<LinkOptions, std::string> parse_link(std::string_view text) {
  LinkOptions link;
  const std::size_t colon = text.find(':');
  const auto* type = std::ranges::find(kLinkTypes, text.substr(0, colon), [](LinkType t) { return to_string(t); });
  if (colon == std::string_view::npos || type == std::end(kLinkTypes))
    return "is not TYPE:DEVICE with the type bridge, macvlan or ipvlan";
  link.type = *type;
  std::string_view rest = text.substr(colon + 1);
  std::size_t comma = rest.find(',');
  link.device = rest.substr(0, comma);
  if (!is_device(link.device)) return "names no network device";
  while (comma != std::string_view::npos) {
    rest.remove_prefix(comma + 1);
    comma = rest.find(',');
    const std::string_view option = rest.substr(0, comma);
    if (option.starts_with("vlan=") && link.type == LinkType::bridge) {
      link.vlan = parse_number<std::uint16_t>(option.substr(5), 1, 4094);
      if (!link.vlan) return "has a vlan that is not 1 to 4094";
    } else if (option.starts_with("mtu=")) {
      link.mtu = parse_number<std::uint32_t>(option.substr(4), 576, 65536);
      if (!link.mtu) return "has an mtu that is not 576 to 65536";
    } else {
      return "has an option that " + std::string(to_string(link.type)) + " doesn't take: " + std::string(option);
    }
  }
  return link;
}

Json network_attachment(const AttachmentRef& ref, const LinkOptions& link, std::span<const IpAddress> gateways) {
  Json ipam = {{"type", "static"}};
  for (const IpAddress& gateway : gateways)
    for (Json& route : routes_through(gateway)) ipam["routes"].push_back(std::move(route));
  Json plugin = {{"type", to_string(link.type)}, {"capabilities", {{"ips", true}}}, {"ipam", std::move(ipam)}};
  if (link.type == LinkType::bridge) {
    plugin["bridge"] = link.device;
    if (link.vlan) plugin["vlan"] = *link.vlan;
  } else {
    plugin["master"] = link.device;
    plugin["mode"] = link.type == LinkType::macvlan ? "bridge" : "l2";
  }
  if (link.mtu) plugin["mtu"] = *link.mtu;
  Json plugins = Json::array({std::move(plugin)});
  if (!gateways.empty()) plugins.push_back({{"type", "sbr"}});
  const Json config = {{"cniVersion", kCniVersion}, {"name", ref.name}, {"plugins", std::move(plugins)}};
  return {{"apiVersion", "k8s.cni.cncf.io/v1"},
          {"kind", "NetworkAttachmentDefinition"},
          {"metadata", {{"name", ref.name}, {"namespace", ref.namespace_}}},
          {"spec", {{"config", config.dump(2) + '\n'}}}};
}

}  // namespace hcpnet::manifest
