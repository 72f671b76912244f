// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "spec/format.hpp"
#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

const std::string kKind = "/spec/targetRef/kind";
const std::string kName = "/spec/targetRef/name";

std::string at(const char* list, std::size_t index, const char* field) {
  return std::string("/spec/") + list + '/' + std::to_string(index) + '/' + field;
}

template <class Kind>
const Examined<Kind>* find_target(const std::vector<Examined<Kind>>& objects, const ObjectMeta& metadata,
                                  const std::string& name) {
  const auto found = std::ranges::find_if(objects, [&](const Examined<Kind>& object) {
    return object.value.metadata.namespace_ == metadata.namespace_ && object.value.metadata.name == name;
  });
  return found == objects.end() ? nullptr : &*found;
}

/// What a policy refines: an Infra or the server of its part; neither where the reference is at fault.
template <class Server>
struct Target {
  const Examined<Infra>* infra = nullptr;
  const Examined<Server>* server = nullptr;
};

/// Finds targets of one kind of policy and reports what is wrong with the references.
template <class Policy, class Server>
class TargetFinder {
 public:
  TargetFinder(const std::vector<Examined<Infra>>& infras, const std::vector<Examined<Server>>& servers,
               std::string server_kind, bool complete)
      : infras_(infras), servers_(servers), server_kind_(std::move(server_kind)), complete_(complete) {}

  Target<Server> find(Examined<Policy>& policy) {
    Subject& subject = policy.subject;
    const TargetRef& ref = policy.value.target;
    if (!subject.is_good(kKind) || !subject.is_good(kName)) return {};
    if (ref.kind != "Infra" && ref.kind != server_kind_) {
      subject.error(code::bad_choice, kKind, "this policy refines no such kind",
                    server_kind_ == "DHCPServer"  ? "Infra or DHCPServer"
                    : server_kind_ == "DNSServer" ? "Infra or DNSServer"
                                                  : "Infra or ProxyServer");
      return {};
    }
    Target<Server> target;
    const ObjectMeta& metadata = policy.value.metadata;
    if (ref.kind == "Infra")
      target.infra = find_target(infras_, metadata, ref.name);
    else
      target.server = find_target(servers_, metadata, ref.name);
    const std::string key = ref.kind + ' ' + metadata.namespace_ + '/' + ref.name;
    if (target.infra == nullptr && target.server == nullptr) {
      if (complete_) subject.error(code::bad_reference, kName, "there is no " + key + " in these files");
      return {};
    }
    const auto [first, is_new] = claimed_.emplace(key, &policy);
    if (is_new) return target;
    subject.error(code::duplicate_policy, kName,
                  key + " has a policy of this kind already: " + first->second->value.metadata.key() + " (" +
                      first->second->subject.where(kName) + ')');
    return {};
  }

 private:
  const std::vector<Examined<Infra>>& infras_;
  const std::vector<Examined<Server>>& servers_;
  std::string server_kind_;
  bool complete_;
  std::map<std::string, const Examined<Policy>*> claimed_;
};

void check_reservations(Examined<DHCPPolicy>& policy, const NetworkPlan* plan) {
  Subject& subject = policy.subject;
  std::map<MacAddress, std::size_t> macs;
  std::map<Ipv4, std::size_t> addresses;
  for (std::size_t i = 0; i < policy.value.reservations.size(); ++i) {
    const DHCPPolicy::Reservation& reservation = policy.value.reservations[i];
    const std::string mac_pointer = at("reservations", i, "macAddress"),
                      address_pointer = at("reservations", i, "address");
    if (const auto mac = parse_mac_address(reservation.mac_address); mac && subject.is_good(mac_pointer)) {
      const auto [first, is_new] = macs.emplace(*mac, i);
      if (!is_new)
        subject.error(code::duplicate_name, mac_pointer,
                      "reservation " + std::to_string(first->second) + " is for this MAC address");
    }
    const auto address = parse_ipv4(reservation.address);
    if (!address || !subject.is_good(address_pointer)) continue;
    if (plan != nullptr && plan->cidr && !check_inside(subject, *plan->cidr, *address, address_pointer)) continue;
    const auto [first, is_new] = addresses.emplace(*address, i);
    if (!is_new) {
      subject.error(code::addresses_collide, address_pointer,
                    "reservation " + std::to_string(first->second) + " has this address");
    } else if (plan != nullptr) {
      const auto owned = std::ranges::find(plan->owned, *address, &OwnedAddress::address);
      if (owned != plan->owned.end())
        subject.error(code::addresses_collide, address_pointer, "this is also " + owned->owner + " of the target");
    }
  }
}

/// The network that already selects a view of the target.
template <class Server>
std::optional<Cidr> own_view(const Target<Server>& target) {
  if (target.infra != nullptr && target.infra->plan.cidr) return Cidr(*target.infra->plan.cidr);
  if (target.server != nullptr && target.server->value.secondary_network_cidr)
    return parse_cidr(*target.server->value.secondary_network_cidr);
  return {};
}

void check_views(Examined<DNSPolicy>& policy, const std::optional<Cidr>& own) {
  Subject& subject = policy.subject;
  std::map<std::string, std::size_t> names;
  std::map<Cidr, std::string> prefixes;
  if (own) prefixes.emplace(*own, "the network of the target");
  for (std::size_t i = 0; i < policy.value.views.size(); ++i) {
    const DNSPolicy::ExtraView& view = policy.value.views[i];
    if (const std::string pointer = at("views", i, "name"); subject.is_good(pointer)) {
      const auto [first, is_new] = names.emplace(view.name, i);
      if (!is_new)
        subject.error(code::duplicate_name, pointer, "view " + std::to_string(first->second) + " has this name");
    }
    for (std::size_t j = 0; j < view.client_prefixes.size(); ++j) {
      const std::string pointer = at("views", i, "clientPrefixes/") + std::to_string(j);
      const auto prefix = parse_cidr(view.client_prefixes[j]);
      if (!prefix || !subject.is_good(pointer)) continue;
      const auto [first, is_new] = prefixes.emplace(*prefix, "view " + std::to_string(i));
      if (!is_new) subject.error(code::duplicate_prefix, pointer, "this prefix selects " + first->second + " already");
    }
  }
}

}  // namespace

void check_policies(ExaminedPolicies& policies, PolicyTargets targets, bool set_is_complete) {
  TargetFinder<DHCPPolicy, DHCPServer> dhcp(targets.infras, targets.dhcp_servers, "DHCPServer", set_is_complete);
  for (Examined<DHCPPolicy>& policy : policies.dhcp) {
    const auto target = dhcp.find(policy);
    check_options(policy.subject, policy.value.options);
    check_ipv6(policy.subject, policy.value);
    check_reservations(policy, target.infra != nullptr    ? &target.infra->plan
                               : target.server != nullptr ? &target.server->plan
                                                          : nullptr);
  }
  check_ipv6_networks(policies.dhcp);
  TargetFinder<DNSPolicy, DNSServer> dns(targets.infras, targets.dns_servers, "DNSServer", set_is_complete);
  for (Examined<DNSPolicy>& policy : policies.dns) {
    check_views(policy, own_view(dns.find(policy)));
    check_records(policy.subject, "/spec/records", policy.value.records);
    for (std::size_t i = 0; i < policy.value.views.size(); ++i)
      check_records(policy.subject, at("views", i, "records"), policy.value.views[i].records);
  }
  TargetFinder<ProxyPolicy, ProxyServer> proxy(targets.infras, targets.proxy_servers, "ProxyServer", set_is_complete);
  for (Examined<ProxyPolicy>& policy : policies.proxy) proxy.find(policy);
}

}  // namespace hcpnet::spec
