// SPDX-License-Identifier: Apache-2.0
// What a DNSPolicy says of upstreams and of who may ask.
#include <hcpnet/dns/name.hpp>
#include <map>
#include <set>

#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

void check_forwarding(Subject& subject, const DNSPolicy::Forwarding& forwarding) {
  const std::string base = "/spec/forwarding/";
  if (subject.is_good(base + "minTTLSeconds") && subject.is_good(base + "maxTTLSeconds") &&
      forwarding.min_ttl > forwarding.max_ttl)
    subject.error(code::bad_combination, base + "minTTLSeconds", "this is more than maxTTLSeconds");
  std::map<dns::Name, std::size_t> zones;
  for (std::size_t i = 0; i < forwarding.zones.size(); ++i) {
    const std::string pointer = base + "zones/" + std::to_string(i) + "/zone";
    if (!subject.is_good(pointer)) continue;
    const auto name = dns::parse_name(forwarding.zones[i].zone);
    if (!name || name->is_wildcard()) {
      subject.error(code::bad_name, pointer, "this is no domain name", "a domain, such as corp.example.com");
      continue;
    }
    const auto [first, is_new] = zones.emplace(*name, i);
    if (!is_new)
      subject.error(code::duplicate_name, pointer, "zone " + std::to_string(first->second) + " has this name");
  }
}

// Below it a label of 63 bytes has room, and its length.
constexpr std::size_t kMaxLeaseDomainBytes = 255 - 64;

void check_lease_domain(Subject& subject, const DNSPolicy& policy) {
  const std::string pointer = "/spec/leaseDomain";
  if (!policy.lease_domain || !subject.is_good(pointer)) return;
  const auto name = dns::parse_name(*policy.lease_domain);
  if (!name || name->is_root() || name->is_wildcard() || name->wire().size() > kMaxLeaseDomainBytes)
    subject.error(code::bad_name, pointer, "this is no domain that has names below it",
                  "a domain of 189 characters at most, such as vms.example.com");
}

}  // namespace

void check_dns_conduct(Subject& subject, const DNSPolicy& policy) {
  check_lease_domain(subject, policy);
  if (policy.forwarding) check_forwarding(subject, *policy.forwarding);
  std::set<std::string> views{"vlan", "pod"};
  bool knows_views = subject.is_good("/spec/views");  // a name that is at fault may be the one that is meant
  for (std::size_t i = 0; i < policy.views.size(); ++i) {
    views.insert(policy.views[i].name);
    knows_views &= subject.is_good("/spec/views/" + std::to_string(i) + "/name");
  }
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < policy.access.size(); ++i) {
    const DNSPolicy::Access& access = policy.access[i];
    const std::string base = "/spec/access/" + std::to_string(i) + '/';
    if (!access.forward && !access.forwarded_clients.empty())
      subject.error(code::bad_combination, base + "forwardedClients", "nothing is forwarded where forward is false");
    if (!subject.is_good(base + "view")) continue;
    if (knows_views && !views.contains(access.view)) {
      subject.error(code::bad_reference, base + "view", "the policy has no such view", "vlan, pod, or a name in views");
      continue;
    }
    const auto [first, is_new] = seen.emplace(access.view, i);
    if (!is_new)
      subject.error(code::duplicate_name, base + "view", "item " + std::to_string(first->second) + " is for this view");
  }
}

}  // namespace hcpnet::spec
