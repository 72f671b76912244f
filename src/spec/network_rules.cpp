// SPDX-License-Identifier: Apache-2.0
#include "spec/network_rules.hpp"
#include <algorithm>
#include <utility>

namespace hcpnet::spec {
namespace {

/// The range, if both ends are hosts of the network and in order.
std::optional<Ipv4Range> check_range(Subject& subject, const std::optional<Ipv4Cidr>& cidr, const RangeFields& fields) {
  if (!fields.start || !fields.end) return {};
  if (cidr) {
    const bool start = check_inside(subject, *cidr, *fields.start, fields.start_pointer);
    const bool end = check_inside(subject, *cidr, *fields.end, fields.end_pointer);
    if (!start || !end) return {};
  }
  if (*fields.end < *fields.start) {
    subject.error(code::range_reversed, fields.end_pointer, "this is before rangeStart " + fields.start->to_string());
    return {};
  }
  return Ipv4Range{*fields.start, *fields.end};
}

}  // namespace

std::string taken_by(const NetworkPlan& plan, const Ipv4Range& range) {
  std::string list;
  const auto add = [&](const std::string& what) { list += (list.empty() ? "" : ", ") + what; };
  if (plan.range && plan.range->overlaps(range)) add("the DHCP range " + plan.range->to_string());
  for (const OwnedAddress& owned : plan.owned)
    if (range.contains(owned.address)) add(owned.owner + ' ' + owned.address.to_string());
  return list;
}

bool check_inside(Subject& subject, const Ipv4Cidr& cidr, Ipv4 address, const std::string& pointer) {
  if (!cidr.contains(address)) {
    subject.error(code::address_outside_cidr, pointer,
                  "this is outside " + cidr.to_string() + ", which is " + cidr.network().to_string() + " to " +
                      cidr.broadcast().to_string());
    return false;
  }
  if (!cidr.is_host(address)) {
    const char* what = address == cidr.network() ? "network" : "broadcast";
    subject.error(code::address_reserved, pointer,
                  std::string("this is the ") + what + " address of " + cidr.to_string());
    return false;
  }
  return true;
}

NetworkPlan check_network(Subject& subject, std::optional<Ipv4Cidr> cidr, std::vector<OwnedAddress> owned,
                          const std::optional<RangeFields>& range) {
  NetworkPlan plan{.cidr = cidr, .owned = {}, .range = {}};
  if (range) plan.range = check_range(subject, cidr, *range);

  std::ranges::stable_sort(owned, {}, [&](const OwnedAddress& a) { return subject.place(a.pointer); });
  for (OwnedAddress& candidate : owned) {
    if (cidr && !check_inside(subject, *cidr, candidate.address, candidate.pointer)) continue;
    const auto earlier = std::ranges::find(plan.owned, candidate.address, &OwnedAddress::address);
    if (earlier != plan.owned.end()) {
      subject.error(code::addresses_collide, candidate.pointer,
                    "this is also " + earlier->owner + " (" + subject.where(earlier->pointer) + ')');
    } else if (plan.range && plan.range->contains(candidate.address)) {
      subject.error(code::address_in_range, candidate.pointer,
                    "this is inside the DHCP range " + plan.range->to_string() + ", so a client may be given it");
    } else {
      plan.owned.push_back(std::move(candidate));
    }
  }
  return plan;
}

}  // namespace hcpnet::spec
