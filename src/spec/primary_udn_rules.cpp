// SPDX-License-Identifier: Apache-2.0
// What OVN-Kubernetes asks of a primary network (the rules of its schemas, which see one object), and what it does not
// see: namespaces, networks that overlap what the machines have to reach.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "spec/names.hpp"
#include "spec/primary_udn.hpp"
#include "spec/udn_ranges.hpp"

namespace hcpnet::spec {
namespace {

const std::string kNetwork = "/spec/network", kLayer2 = kNetwork + "/layer2", kLayer3 = kNetwork + "/layer3";
const std::string kReference = "/spec/hostedClusterRef";
constexpr std::int32_t kMinIpv6Mtu = 1280;  // RFC 8200 section 5

/// Namespaces of a cluster's own pods, and those whose attachments every pod may use.
bool is_system_namespace(std::string_view name) {
  return name == "default" || name == "kube-system" || name == "kube-public" || name == "kube-node-lease" ||
         name == "openshift" || name.starts_with("openshift-");
}

std::string at(const std::string& list, std::size_t index) {
  return text::child(list, index);
}

/// A value of a list that is good, with its place.
template <class T>
struct Item {
  std::string pointer;
  T value;
};

class UdnRules {
 public:
  UdnRules(Examined<PrimaryUDN>& udn, const HostedCluster* cluster)
      : udn_(udn.value), subject_(udn.subject), cluster_(cluster) {}

  void run() {
    check_namespaces();
    check_topology();
    if (udn_.layer2 && subject_.is_good(kLayer2)) check_layer2(*udn_.layer2);
    if (udn_.layer3 && subject_.is_good(kLayer3)) check_layer3(*udn_.layer3);
    check_cluster_scope();
    check_transport();
    check_advertisements();
    check_hosted_cluster();
    check_udn_machines(subject_, udn_, plan_);
    check_udn_services(subject_, udn_);
  }

 private:
  [[nodiscard]] bool is_cluster_scoped() const {
    return udn_.scope == PrimaryUDN::Scope::cluster || !subject_.is_good("/spec/scope");
  }

  void combination(const std::string& pointer, std::string message, std::string_view expected = {}) {
    if (subject_.is_good(pointer)) subject_.error(code::bad_combination, pointer, std::move(message), expected);
  }

  template <class T, class Parse>
  std::vector<Item<T>> parse_all(const std::string& list, const std::vector<std::string>& texts, Parse parse) {
    std::vector<Item<T>> items;
    for (std::size_t i = 0; i < texts.size(); ++i)
      if (const std::string pointer = at(list, i); subject_.is_good(pointer))
        if (const auto value = parse(texts[i])) items.push_back({pointer, *value});
    return items;
  }
  std::vector<Item<Cidr>> networks(const std::string& list, const std::vector<std::string>& texts) {
    return parse_all<Cidr>(list, texts, [](const std::string& t) { return parse_cidr(t); });
  }
  std::vector<Item<IpAddress>> addresses(const std::string& list, const std::vector<std::string>& texts) {
    return parse_all<IpAddress>(list, texts, [](const std::string& t) { return parse_ip_address(t); });
  }

  // --- where it is

  void check_namespaces() {
    const std::string explicit_one = "/spec/namespace";
    if (udn_.hosted_cluster) {
      check_control_plane(explicit_one);
    } else {
      const std::string pointer = udn_.namespace_ ? explicit_one : "/metadata/namespace";
      if (subject_.is_good(pointer)) check_namespace(pointer, namespace_of(udn_));
    }
    const std::string list = "/spec/additionalNamespaces";
    std::set<std::string> seen{namespace_of(udn_)};
    for (std::size_t i = 0; i < udn_.additional_namespaces.size(); ++i) {
      const std::string pointer = at(list, i);
      if (!subject_.is_good(pointer)) continue;
      const std::string& name = udn_.additional_namespaces[i];
      if (!seen.insert(name).second)
        subject_.error(code::duplicate_name, pointer, "this namespace is on the network already");
      else
        check_namespace(pointer, name);
    }
    if (!udn_.additional_namespaces.empty() && !is_cluster_scoped())
      combination(list, "a UserDefinedNetwork has its own namespace alone", "scope: Cluster");
  }

  void check_namespace(const std::string& pointer, const std::string& name) {
    if (is_system_namespace(name))
      subject_.error(code::bad_name, pointer,
                     "pods of " + name +
                         " have to stay on the default network: a primary network needs a namespace of "
                         "its own");
  }

  void check_control_plane(const std::string& explicit_one) {
    if (!subject_.is_good(kReference + "/name") || !subject_.is_good(kReference + "/namespace")) return;
    const std::string plane = namespace_of(udn_);
    if (plane.size() > kMaxLabelBytes)
      return subject_.error(code::bad_name, kReference + "/name",
                            "the namespace of the control plane, " + plane + ", would have " +
                                std::to_string(plane.size()) + " characters; 63 are allowed");
    check_namespace(kReference + "/name", plane);
    if (udn_.namespace_ && subject_.is_good(explicit_one) && *udn_.namespace_ != plane)
      subject_.error(code::bad_combination, explicit_one,
                     "HyperShift puts the control plane and the machines of this hosted cluster into " + plane, plane);
  }

  // --- layers

  void check_topology() {
    if (!subject_.is_good(kNetwork + "/topology") || !subject_.is_good(kNetwork)) return;
    const auto check = [&](UdnTopology topology, const std::string& pointer, const char* name, bool is_present) {
      if (udn_.topology == topology && !is_present && subject_.is_good(pointer))
        subject_.missing(pointer, std::string("the topology ") + name + " needs its part");
      if (udn_.topology != topology && is_present)
        combination(pointer, std::string("this part goes with the topology ") + name + " alone");
    };
    check(UdnTopology::layer2, kLayer2, "Layer2", udn_.layer2.has_value());
    check(UdnTopology::layer3, kLayer3, "Layer3", udn_.layer3.has_value());
  }

  void check_role(const std::string& layer, Role role) {
    if (role != Role::primary)
      combination(layer + "/role",
                  "this kind is for primary networks: a secondary one is an attachment beside the "
                  "default network",
                  "Primary");
  }

  void check_mtu(const std::string& layer, std::optional<std::int32_t> mtu, const std::vector<Item<Cidr>>& subnets) {
    const bool has_v6 = std::ranges::any_of(subnets, [](const auto& s) { return s.value.network().is_v6(); });
    const std::string pointer = layer + "/mtu";
    if (mtu && has_v6 && *mtu < kMinIpv6Mtu && subject_.is_good(pointer))
      subject_.error(code::out_of_range, pointer, "IPv6 needs an MTU of 1280 at least", "1280 to 65536");
  }

  /// Of two, one is IPv4 and one IPv6.
  template <class T>
  void check_families(const std::vector<Item<T>>& items, const char* what) {
    if (items.size() == 2 && is_v4(items[0].value) == is_v4(items[1].value))
      combination(items[1].pointer, std::string("of two ") + what + " one is IPv4 and one is IPv6");
  }
  static bool is_v4(const Cidr& cidr) { return cidr.network().is_v4(); }
  static bool is_v4(const IpAddress& address) { return address.is_v4(); }

  static bool holds(const Cidr& outer, const Cidr& inner) {
    return outer.prefix_length() <= inner.prefix_length() && outer.contains(inner.network());
  }

  void check_inside(const std::vector<Item<Cidr>>& parts, const std::vector<Item<Cidr>>& subnets) {
    for (const auto& [pointer, part] : parts)
      if (std::ranges::none_of(subnets, [&](const auto& s) { return holds(s.value, part); }))
        subject_.error(code::address_outside_cidr, pointer, part.to_string() + " is no part of a subnet");
  }

  /// Nothing that is wrong with the subnets themselves spoils what is measured by them.
  [[nodiscard]] bool are_complete(const std::vector<Item<Cidr>>& good, std::size_t written) const {
    return good.size() == written &&
           std::ranges::all_of(good, [&](const auto& i) { return subject_.is_good(i.pointer); });
  }

  void check_layer2(const UdnLayer2& layer2) {
    check_role(kLayer2, layer2.role);
    if (!subject_.is_good(kLayer2 + "/subnets")) return;
    const auto subnets = networks(kLayer2 + "/subnets", layer2.subnets);
    check_families(subnets, "subnets");
    check_mtu(kLayer2, layer2.mtu, subnets);
    check_ipam(layer2);
    const auto join = networks(kLayer2 + "/joinSubnets", layer2.join_subnets);
    check_families(join, "join subnets");
    check_ranges(subnets, join, kLayer2 + "/joinSubnets");
    const auto reserved = networks(kLayer2 + "/reservedSubnets", layer2.reserved_subnets);
    const auto infrastructure = networks(kLayer2 + "/infrastructureSubnets", layer2.infrastructure_subnets);
    const auto gateways = addresses(kLayer2 + "/defaultGatewayIPs", layer2.default_gateway_ips);
    if (!are_complete(subnets, layer2.subnets.size())) return;
    check_inside(reserved, subnets);
    check_inside(infrastructure, subnets);
    for (const auto& [pointer, network] : infrastructure)
      for (const auto& [other, taken] : reserved)
        if (subject_.is_good(pointer) && subject_.is_good(other) && network.overlaps(taken))
          subject_.error(code::networks_overlap, pointer,
                         network.to_string() + " overlaps the reserved subnet " + taken.to_string());
    check_gateways(layer2, gateways, subnets, infrastructure);
    take_plan(subnets, infrastructure, gateways);
  }

  void take_plan(const std::vector<Item<Cidr>>& subnets, const std::vector<Item<Cidr>>& infrastructure,
                 const std::vector<Item<IpAddress>>& gateways) {
    plan_.is_complete = true;
    for (const auto& item : subnets) plan_.subnets.push_back(item.value);
    for (const auto& item : infrastructure) plan_.infrastructure.push_back(item.value);
    for (const auto& item : gateways) plan_.gateways.push_back(item.value);
  }

  void check_gateways(const UdnLayer2& layer2, const std::vector<Item<IpAddress>>& gateways,
                      const std::vector<Item<Cidr>>& subnets, const std::vector<Item<Cidr>>& infrastructure) {
    if (layer2.default_gateway_ips.empty() || !subject_.is_good(kLayer2 + "/defaultGatewayIPs")) return;
    check_families(gateways, "gateways");
    if (layer2.default_gateway_ips.size() != subnets.size())
      combination(kLayer2 + "/defaultGatewayIPs",
                  "there is one gateway for each subnet: " + std::to_string(subnets.size()) + " here");
    const auto is_in = [](const std::vector<Item<Cidr>>& networks, const IpAddress& address) {
      return std::ranges::any_of(networks, [&](const auto& n) { return n.value.contains(address); });
    };
    for (const auto& [pointer, address] : gateways) {
      if (!subject_.is_good(pointer)) continue;
      if (!is_in(subnets, address))
        subject_.error(code::address_outside_cidr, pointer, address.to_string() + " lies in no subnet");
      else if (!layer2.infrastructure_subnets.empty() && subject_.is_good(kLayer2 + "/infrastructureSubnets") &&
               infrastructure.size() == layer2.infrastructure_subnets.size() && !is_in(infrastructure, address))
        subject_.error(code::address_outside_cidr, pointer,
                       address.to_string() + " lies in no infrastructure subnet, and gateways do where there are any");
    }
  }

  void check_ipam(const UdnLayer2& layer2) {
    const std::string pointer = kLayer2 + "/ipam";
    if (!layer2.ipam || !subject_.is_good(pointer)) return;
    if (layer2.ipam->mode == UdnIpamMode::disabled)
      combination(pointer + "/mode", "a primary network always has its addresses from OVN-Kubernetes", "Enabled");
    else if (!layer2.ipam->mode && !layer2.ipam->lifecycle && subject_.is_good(pointer + "/mode") &&
             subject_.is_good(pointer + "/lifecycle"))
      subject_.missing(pointer, "it needs mode or lifecycle; leave it out for the defaults");
  }

  void check_layer3(const UdnLayer3& layer3) {
    const std::string list = kLayer3 + "/subnets";
    check_role(kLayer3, layer3.role);
    if (!subject_.is_good(list)) return;
    std::vector<Item<Cidr>> subnets;
    std::map<bool, std::pair<std::size_t, std::optional<std::int32_t>>> host_subnets;  // by family: first to say
    for (std::size_t i = 0; i < layer3.subnets.size(); ++i) {
      const std::string item = at(list, i);
      if (!subject_.is_good(item) || !subject_.is_good(item + "/cidr")) continue;
      const auto cidr = parse_cidr(layer3.subnets[i].cidr);
      if (!cidr) continue;
      check_host_subnet(item, *cidr, layer3.subnets[i].host_subnet);
      const auto [first, is_new] = host_subnets.try_emplace(is_v4(*cidr), i, layer3.subnets[i].host_subnet);
      if (!is_new && first->second.second != layer3.subnets[i].host_subnet)
        combination(item + "/hostSubnet", "subnets of one family have one hostSubnet, and that of subnet " +
                                              std::to_string(first->second.first) + " is another");
      check_layer3_overlap(item + "/cidr", *cidr, subnets);
      subnets.push_back({item + "/cidr", *cidr});
    }
    check_mtu(kLayer3, layer3.mtu, subnets);
    const auto join = networks(kLayer3 + "/joinSubnets", layer3.join_subnets);
    check_families(join, "join subnets");
    check_ranges(subnets, join, kLayer3 + "/joinSubnets");
    if (are_complete(subnets, layer3.subnets.size())) take_plan(subnets, {}, {});
  }

  void check_host_subnet(const std::string& item, const Cidr& cidr, std::optional<std::int32_t> host_subnet) {
    if (!host_subnet || !subject_.is_good(item + "/hostSubnet")) return;
    if (static_cast<unsigned>(*host_subnet) <= cidr.prefix_length() || (is_v4(cidr) && *host_subnet >= 32))
      subject_.error(code::out_of_range, item + "/hostSubnet",
                     "each node gets a part of " + cidr.to_string() + ", with room for more than one pod",
                     std::to_string(cidr.prefix_length() + 1) + (is_v4(cidr) ? " to 31" : " to 127"));
  }

  void check_layer3_overlap(const std::string& pointer, const Cidr& cidr, const std::vector<Item<Cidr>>& before) {
    const auto other = std::ranges::find_if(before, [&](const auto& b) { return b.value.overlaps(cidr); });
    if (other != before.end())
      subject_.error(code::networks_overlap, pointer,
                     cidr.to_string() + " overlaps " + other->value.to_string() + ", another subnet");
  }

  // --- what the machines have to reach

  void check_ranges(const std::vector<Item<Cidr>>& subnets, const std::vector<Item<Cidr>>& join,
                    const std::string& join_list) {
    const std::vector<TakenNetwork> taken = taken_networks(udn_, cluster_);
    std::vector<Cidr> own_join;
    for (const auto& item : join) own_join.push_back(item.value);
    for (const Cidr& otherwise : default_join_subnets()) {
      const auto has_family = [&](const auto& item) { return is_v4(item.value) == is_v4(otherwise); };
      if (std::ranges::any_of(join, has_family)) continue;
      own_join.push_back(otherwise);
      if (std::ranges::any_of(subnets, has_family)) check_default_join(join_list, otherwise, taken);
    }
    for (const auto& [pointer, subnet] : subnets) {
      check_range(pointer, subnet, taken);
      for (const Cidr& j : own_join)
        if (subject_.is_good(pointer) && subnet.overlaps(j))
          subject_.error(code::networks_overlap, pointer,
                         subnet.to_string() + " overlaps " + j.to_string() + ", the network's own join subnet");
    }
    for (const auto& [pointer, subnet] : join) check_range(pointer, subnet, taken);
  }

  /// What OVN-Kubernetes takes where `list` names none of this family.
  void check_default_join(const std::string& list, const Cidr& join, const std::vector<TakenNetwork>& taken) {
    for (const TakenNetwork& range : taken)
      if (subject_.is_good(list) && join.overlaps(range.range))
        subject_.error(code::networks_overlap, list,
                       "without another join subnet the network uses " + join.to_string() + ", which overlaps " +
                           range.range.to_string() + ", " + range.owner);
  }

  void check_range(const std::string& pointer, const Cidr& cidr, const std::vector<TakenNetwork>& taken) {
    for (const TakenNetwork& range : taken)
      if (subject_.is_good(pointer) && cidr.overlaps(range.range))
        subject_.error(code::networks_overlap, pointer,
                       cidr.to_string() + " overlaps " + range.range.to_string() + ", " + range.owner);
  }

  // --- what only a ClusterUserDefinedNetwork has

  void check_cluster_scope() {
    if (is_cluster_scoped()) return;
    const auto check = [&](const std::string& pointer, bool is_present) {
      if (is_present) combination(pointer, "only a ClusterUserDefinedNetwork has this", "scope: Cluster");
    };
    check("/spec/uplinks", !udn_.uplinks.empty());
    check(kNetwork + "/transport", udn_.transport.has_value());
    check(kNetwork + "/noOverlay", udn_.no_overlay.has_value());
    check(kNetwork + "/evpn", udn_.evpn.has_value());
    if (udn_.route_advertisements)
      combination("/spec/routeAdvertisements", "routes of a ClusterUserDefinedNetwork alone can be advertised",
                  "scope: Cluster");
  }

  void check_transport() {
    const std::string transport = kNetwork + "/transport", evpn = kNetwork + "/evpn", plain = kNetwork + "/noOverlay";
    if (!subject_.is_good(transport)) return;
    const auto check = [&](UdnTransport type, const std::string& pointer, const char* name, bool is_present) {
      const bool is_wanted = udn_.transport == type;
      if (is_wanted && !is_present && subject_.is_good(pointer))
        subject_.missing(pointer, std::string("the transport ") + name + " needs its part");
      if (!is_wanted && is_present)
        combination(pointer, std::string("this part goes with the transport ") + name + " alone");
    };
    check(UdnTransport::no_overlay, plain, "NoOverlay", udn_.no_overlay.has_value());
    check(UdnTransport::evpn, evpn, "EVPN", udn_.evpn.has_value());
    const bool is_layer2 = udn_.topology == UdnTopology::layer2;
    if (udn_.transport == UdnTransport::no_overlay && is_layer2)
      combination(transport, "without an overlay there are networks of the topology Layer3 alone", "EVPN");
    if (udn_.transport != UdnTransport::evpn) return;
    if (!udn_.uplinks.empty()) combination("/spec/uplinks", "EVPN has no uplinks");
    if (udn_.evpn && subject_.is_good(evpn)) check_evpn(evpn, *udn_.evpn, is_layer2);
  }

  void check_evpn(const std::string& evpn, const UdnEvpn& part, bool is_layer2) {
    const std::string mac = evpn + "/macVRF", ip = evpn + "/ipVRF";
    if (is_layer2 && !part.mac_vrf && subject_.is_good(mac)) subject_.missing(mac, "Layer2 over EVPN needs macVRF");
    if (!is_layer2 && !part.ip_vrf && subject_.is_good(ip)) subject_.missing(ip, "Layer3 over EVPN needs ipVRF");
    if (!is_layer2 && part.mac_vrf) combination(mac, "Layer3 over EVPN has ipVRF alone");
    if (part.mac_vrf && part.ip_vrf && part.mac_vrf->vni == part.ip_vrf->vni && subject_.is_good(mac + "/vni"))
      combination(ip + "/vni", "macVRF has this VNI already");
  }

  void check_advertisements() {
    const std::string pointer = "/spec/routeAdvertisements";
    if (!udn_.route_advertisements || !subject_.is_good(pointer)) return;
    const UdnRouteAdvertisements& routes = *udn_.route_advertisements;
    if (!routes.pod_network && !routes.egress_ip)
      combination(pointer, "podNetwork or egressIP is true, else there is nothing to advertise");
    if (routes.pod_network && !routes.node_labels.empty())
      combination(pointer + "/nodeLabels", "the pod network is advertised from every node");
  }

  // --- the hosted cluster

  void check_hosted_cluster() {
    if (!udn_.hosted_cluster || !subject_.is_good(kReference)) return;
    std::set<std::string> seen;
    const std::vector<std::string>& pools = udn_.hosted_cluster->node_pools;
    for (std::size_t i = 0; i < pools.size(); ++i)
      if (const std::string pointer = at(kReference + "/nodePools", i);
          subject_.is_good(pointer) && !seen.insert(pools[i]).second)
        subject_.error(code::duplicate_name, pointer, "this NodePool is in the list already");
    if (cluster_ == nullptr || !subject_.is_good(kReference + "/name")) return;
    if (cluster_->platform != PlatformType::kubevirt)
      subject_.error(code::bad_combination, kReference + "/name",
                     "only machines of the platform KubeVirt are pods that a network of OVN-Kubernetes can have");
    else if (cluster_->infra_namespace)
      subject_.error(code::bad_combination, kReference + "/name",
                     "the machines of this HostedCluster are in another cluster (platform.kubevirt.credentials), "
                     "where its control plane can't be on their network");
  }

  const PrimaryUDN& udn_;
  Subject& subject_;
  const HostedCluster* cluster_;
  UdnPlan plan_;
};

const HostedCluster* find_cluster(const PrimaryUDN& udn, const std::vector<Examined<HostedCluster>>& clusters) {
  if (!udn.hosted_cluster) return nullptr;
  for (const Examined<HostedCluster>& cluster : clusters)
    if (cluster.value.metadata.name == udn.hosted_cluster->name &&
        cluster.value.metadata.namespace_ == udn.hosted_cluster->namespace_.value_or(udn.metadata.namespace_))
      return &cluster.value;
  return nullptr;
}

/// A namespace has one primary network; a ClusterUserDefinedNetwork has its name, and each of its VNIs, in the whole
/// cluster.
void check_against_each_other(std::vector<Examined<PrimaryUDN>>& udns) {
  std::map<std::string, const Examined<PrimaryUDN>*> namespaces, cluster_scoped, vnis;
  const auto claim = [](auto& owners, const std::string& name, Examined<PrimaryUDN>& udn, const std::string& pointer,
                        const std::string& what) {
    const auto [first, is_new] = owners.emplace(name, &udn);
    if (!is_new && first->second != &udn && udn.subject.is_good(pointer))
      udn.subject.error(code::duplicate_name, pointer,
                        what + name + " is taken by PrimaryUDN " + first->second->value.metadata.key() + ", " +
                            first->second->subject.where("/metadata/name"));
  };
  for (Examined<PrimaryUDN>& udn : udns) {
    if (udn.subject.has_problems()) continue;
    const PrimaryUDN& value = udn.value;
    const std::string main = value.hosted_cluster ? kReference + "/name"
                             : value.namespace_   ? "/spec/namespace"
                                                  : "/metadata/namespace";
    claim(namespaces, namespace_of(value), udn, main, "the one primary network of namespace ");
    for (std::size_t i = 0; i < value.additional_namespaces.size(); ++i)
      claim(namespaces, value.additional_namespaces[i], udn, at("/spec/additionalNamespaces", i),
            "the one primary network of namespace ");
    if (value.scope == PrimaryUDN::Scope::cluster)
      claim(cluster_scoped, value.network_name.value_or(value.metadata.name), udn,
            value.network_name ? "/spec/networkName" : "/metadata/name", "the name of ClusterUserDefinedNetwork ");
    if (!value.evpn) continue;
    for (const auto& [part, pointer] :
         {std::pair{&value.evpn->mac_vrf, "/evpn/macVRF/vni"}, std::pair{&value.evpn->ip_vrf, "/evpn/ipVRF/vni"}})
      if (*part) claim(vnis, std::to_string((*part)->vni), udn, kNetwork + pointer, "VNI ");
  }
}

}  // namespace

void check_primary_udns(std::vector<Examined<PrimaryUDN>>& udns, const std::vector<Examined<HostedCluster>>& clusters) {
  for (Examined<PrimaryUDN>& udn : udns) UdnRules(udn, find_cluster(udn.value, clusters)).run();
  check_against_each_other(udns);
}

}  // namespace hcpnet::spec
