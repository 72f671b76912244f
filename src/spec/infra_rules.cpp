// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "spec/format.hpp"
#include "spec/names.hpp"
#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

const std::string kNetwork = "/spec/networkConfig";
const std::string kDhcp = "/spec/infraComponents/dhcp";
const std::string kDns = "/spec/infraComponents/dns";
const std::string kProxy = "/spec/infraComponents/proxy";

/// The first written key of a form, in the order of the text; nullptr when none is.
template <std::size_t N>
const char* first_written(const Subject& subject, const std::array<std::pair<const char*, bool>, N>& fields) {
  const char* first = nullptr;
  for (const auto& [name, is_set] : fields) {
    const std::string pointer = kNetwork + '/' + name;
    if (!subject.is_written(pointer, is_set)) continue;
    if (first == nullptr || subject.key_place(pointer) < subject.key_place(kNetwork + '/' + first)) first = name;
  }
  return first;
}

void check_forms(Subject& subject, const NetworkConfig& network) {
  const char* legacy =
      first_written<2>(subject, {{{"networkAttachmentDefinition", network.network_attachment_definition.has_value()},
                                  {"networkAttachmentNamespace", network.network_attachment_namespace.has_value()}}});
  const char* structured =
      first_written<6>(subject, {{{"attachment", network.attachment.has_value()},
                                  {"topology", network.topology.has_value()},
                                  {"role", network.role.has_value()},
                                  {"exposure", network.exposure.has_value()},
                                  {"ipam", network.ipam.has_value()},
                                  {"routeAdvertisementsRef", network.route_advertisements_ref.has_value()}}});
  if (legacy != nullptr && structured != nullptr) {
    const std::string a = kNetwork + '/' + legacy;
    const std::string b = kNetwork + '/' + structured;
    const bool legacy_is_later = subject.key_place(b) < subject.key_place(a);
    const std::string& later = legacy_is_later ? a : b;
    subject.error_at(subject.key_place(later).position, code::mixed_forms, later,
                     std::string(legacy_is_later ? structured : legacy) +
                         " is set, so nothing of the other form may be: either networkAttachmentDefinition or "
                         "attachment describes the network");
  } else if (structured != nullptr && !subject.is_written(kNetwork + "/attachment", network.attachment.has_value())) {
    subject.missing(kNetwork + "/attachment", std::string(structured) + " needs attachment beside it");
  } else if (structured == nullptr && !subject.is_written(kNetwork + "/networkAttachmentDefinition",
                                                          network.network_attachment_definition.has_value())) {
    subject.missing(kNetwork + "/networkAttachmentDefinition",
                    "networkAttachmentDefinition is needed here, or attachment in the structured form");
  }
}

// What oooi's own normalisation refuses, and what no network of ours can carry (docs/spec.md).
void check_structured(Subject& subject, const Infra& infra) {
  const NetworkConfig& network = infra.network;
  if (!network.attachment || !subject.is_good(kNetwork + "/attachment")) return;
  const auto refuse = [&](const char* field, const char* message) {
    const std::string pointer = kNetwork + '/' + field;
    if (subject.is_good(pointer)) subject.error(code::bad_combination, pointer, message);
  };
  const bool cudn = network.attachment->kind == AttachmentKind::cluster_user_defined_network;
  if (cudn && !network.attachment->namespace_ && subject.is_good(kNetwork + "/attachment/kind") &&
      subject.is_good(kNetwork + "/attachment/namespace"))
    subject.missing(kNetwork + "/attachment/namespace",
                    "a ClusterUserDefinedNetwork needs the namespace of its network attachment");
  if (!subject.is_good(kNetwork + "/attachment/kind")) return;

  const bool primary = network.role == Role::primary;
  if (network.topology == Topology::layer3)
    refuse("topology", "workers share one layer 2 network; Layer3 gives each node its own");
  if (primary && !cudn) refuse("role", "a NetworkAttachmentDefinition is never a primary network");
  if (network.ipam == Ipam::ovn_kubernetes && !cudn)
    refuse("ipam", "OVN-Kubernetes gives addresses on a ClusterUserDefinedNetwork only");
  if (network.topology == Topology::localnet && network.route_advertisements_ref)
    refuse("routeAdvertisementsRef", "a Localnet network is not announced by routes");
  if (network.topology == Topology::localnet && network.exposure == Exposure::bgp)
    refuse("exposure", "a Localnet network is reached on layer 2");
  if (primary && cudn && network.topology == Topology::localnet) refuse("topology", "a primary network is Layer2");
  if (primary && cudn && network.ipam && network.ipam != Ipam::ovn_kubernetes)
    refuse("ipam", "OVN-Kubernetes gives the addresses of a primary network");
  if (network.role == Role::secondary && cudn && network.topology && network.topology != Topology::localnet)
    refuse("topology", "a secondary ClusterUserDefinedNetwork is Localnet");

  if (!subject.is_good(kDhcp + "/enabled")) return;
  const bool serves_dhcp = infra.dhcp && infra.dhcp->enabled;
  if (network.ipam == Ipam::dhcp && !serves_dhcp) refuse("ipam", "with DHCP here the dhcp component has to be enabled");
  if (network.ipam && network.ipam != Ipam::dhcp && serves_dhcp)
    refuse("ipam", "the dhcp component is enabled, so addresses come from DHCP");
}

void warn_dropped(Subject& subject, const std::string& pointer, bool is_set, const char* successor) {
  if (is_set && subject.is_good(pointer))
    subject.warning(code::dropped_field, pointer,
                    std::string("a newer oooi drops this field in silence; its successor is ") + successor);
}

void check_own_cluster(Subject& subject, const Infra& infra) {
  if (infra.dns && infra.dns->enabled && subject.is_good(kDns + "/enabled")) {
    const std::string domain = kDns + "/baseDomain", name = kDns + "/clusterName";
    if (infra.dns->cluster_name && !infra.dns->base_domain && subject.is_good(domain))
      subject.missing(domain, "clusterName is set, so baseDomain is needed beside it");
    if (infra.dns->base_domain && !infra.dns->cluster_name && subject.is_good(name))
      subject.missing(name, "baseDomain is set, so clusterName is needed beside it");
  }
  if (infra.dns) {
    warn_dropped(subject, kDns + "/baseDomain", infra.dns->base_domain.has_value(),
                 "dns.baseDomain of an InfraClusterAttachment");
    warn_dropped(subject, kDns + "/clusterName", infra.dns->cluster_name.has_value(),
                 "dns.clusterName of an InfraClusterAttachment");
  }
  if (infra.proxy) {
    warn_dropped(subject, kProxy + "/controlPlaneNamespace", infra.proxy->control_plane_namespace.has_value(),
                 "controlPlaneNamespace of an InfraClusterAttachment");
    warn_dropped(subject, kProxy + "/apiServerService", infra.proxy->api_server_service.has_value(),
                 "apiServerService of an InfraClusterAttachment");
  }
}

/// Adds what an enabled component has to own; reports what it lacks.
template <class Component>
void own_server(Subject& subject, const std::optional<Component>& component, const std::string& pointer,
                const char* name, std::vector<OwnedAddress>& owned) {
  if (!component || !component->enabled || !subject.is_good(pointer + "/enabled")) return;
  const std::string field = pointer + "/serverIP";
  if (!subject.is_good(field)) return;
  if (!component->server_ip)
    subject.missing(field, std::string(name) + " is enabled (the default) and needs serverIP");
  else if (const auto address = parse_ipv4(*component->server_ip))
    owned.push_back({std::string("infraComponents.") + name + ".serverIP", field, *address});
}

std::optional<Ipv4> range_end(Subject& subject, const std::optional<std::string>& text, const std::string& pointer,
                              const char* name) {
  if (!subject.is_good(pointer)) return {};
  if (!text) subject.missing(pointer, std::string("dhcp is enabled (the default) and needs ") + name);
  return address_of(text);
}

}  // namespace

std::optional<Ipv4> address_of(const std::optional<std::string>& text) {
  const auto parsed = text ? parse_ipv4_with_length(*text) : std::nullopt;
  return parsed ? std::optional(parsed->address) : std::nullopt;
}

bool names_cluster(const Infra& infra) {
  return infra.dns && infra.dns->cluster_name && infra.dns->base_domain;
}

std::string control_plane_of(const Infra& infra) {
  if (infra.proxy && infra.proxy->control_plane_namespace) return *infra.proxy->control_plane_namespace;
  return control_plane_namespace(infra.metadata.namespace_, infra.dns->cluster_name.value_or(""));
}

void check_infra(Examined<Infra>& examined) {
  Subject& subject = examined.subject;
  const Infra& infra = examined.value;
  if (!subject.is_good(kNetwork)) return;
  const NetworkConfig& network = infra.network;
  check_forms(subject, network);
  const bool needs_gateway = network.role != Role::primary && subject.is_good(kNetwork + "/role");
  if (needs_gateway && !network.gateway && subject.is_good(kNetwork + "/gateway"))
    subject.missing(kNetwork + "/gateway", "gateway is needed here, unless role is Primary");

  std::vector<OwnedAddress> owned;
  if (network.gateway && subject.is_good(kNetwork + "/gateway"))
    if (const auto gateway = parse_ipv4(*network.gateway))
      owned.push_back({"networkConfig.gateway", kNetwork + "/gateway", *gateway});
  std::optional<RangeFields> range;
  if (subject.is_good("/spec/infraComponents")) {
    own_server(subject, infra.dhcp, kDhcp, "dhcp", owned);
    own_server(subject, infra.dns, kDns, "dns", owned);
    own_server(subject, infra.proxy, kProxy, "proxy", owned);
    if (infra.dhcp && infra.dhcp->enabled && subject.is_good(kDhcp + "/enabled")) {
      range = {.start_pointer = kDhcp + "/rangeStart", .end_pointer = kDhcp + "/rangeEnd", .start = {}, .end = {}};
      range->start = range_end(subject, infra.dhcp->range_start, range->start_pointer, "rangeStart");
      range->end = range_end(subject, infra.dhcp->range_end, range->end_pointer, "rangeEnd");
    }
  }
  const auto cidr = subject.is_good(kNetwork + "/cidr") ? parse_ipv4_cidr(network.cidr) : std::nullopt;
  examined.plan = check_network(subject, cidr, std::move(owned), range);
  check_structured(subject, infra);
  check_own_cluster(subject, infra);
  if (!infra.dhcp && !infra.dns && !infra.proxy && subject.is_good("/spec/infraComponents"))
    subject.warning(code::no_component, "/metadata/name",
                    "this Infra asks for no component, so there is nothing to run for it");
}

}  // namespace hcpnet::spec
