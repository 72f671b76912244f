// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dhcp6/duid.hpp>
#include <map>
#include <set>

#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

const std::string kCidr = "/spec/ipv6/cidr";
const std::string kStart = "/spec/ipv6/rangeStart";
const std::string kEnd = "/spec/ipv6/rangeEnd";

/// A value that can be read, from a field that is good.
template <class T>
std::optional<T> good(Subject& subject, const std::string& pointer, std::optional<T> value) {
  return subject.is_good(pointer) ? value : std::nullopt;
}

/// Whether the address lies in the network, and is not that of all routers (RFC 4291 section 2.6.1).
bool check_inside(Subject& subject, const std::optional<Cidr>& cidr, const Ipv6& address, const std::string& pointer) {
  if (!cidr) return true;
  if (!cidr->contains(IpAddress(address))) {
    subject.error(code::address_outside_cidr, pointer, "this address is not in " + cidr->to_string());
    return false;
  }
  if (cidr->prefix_length() < 127 && cidr->network() == IpAddress(address)) {
    subject.error(code::address_reserved, pointer, "the first address of a network belongs to all its routers");
    return false;
  }
  return true;
}

void check_range(Subject& subject, const DHCPPolicy::V6& ipv6, const std::optional<Cidr>& cidr) {
  const auto first = good(subject, kStart, parse_ipv6(ipv6.range_start));
  const auto last = good(subject, kEnd, parse_ipv6(ipv6.range_end));
  const bool is_first_inside = first && check_inside(subject, cidr, *first, kStart);
  const bool is_last_inside = last && check_inside(subject, cidr, *last, kEnd);
  if (!is_first_inside || !is_last_inside) return;
  if (*last < *first)
    return subject.error(code::range_reversed, kEnd, "the range ends before it begins, at " + first->to_string());
  if (!std::ranges::equal(ByteView(first->bytes()).first(8), ByteView(last->bytes()).first(8)))
    subject.error(code::bad_range, kEnd, "a range lies in one /64, where " + first->to_string() + " is");
}

void check_reservation(Subject& subject, const DHCPPolicy::Reservation6& reservation, const std::string& pointer,
                       const std::optional<Cidr>& cidr, std::set<std::string>& seen) {
  if (!subject.is_good(pointer)) return;
  const std::string mac_pointer = pointer + "/macAddress", duid_pointer = pointer + "/duid";
  if (subject.is_good(mac_pointer) && subject.is_good(duid_pointer) &&
      reservation.mac_address.has_value() == reservation.duid.has_value())
    subject.error(code::bad_combination, pointer, "a reservation has either macAddress or duid");
  const auto claim = [&](const std::string& at, std::string_view code, const std::string& key) {
    if (seen.insert(key).second) return;
    subject.error(code, at, "another reservation has this already");
  };
  if (const auto mac = good(subject, mac_pointer, parse_mac_address(reservation.mac_address.value_or(""))))
    claim(mac_pointer, code::duplicate_name, "mac " + mac->to_string());
  if (const auto duid = good(subject, duid_pointer, dhcp6::parse_duid(reservation.duid.value_or(""))))
    claim(duid_pointer, code::duplicate_name, "duid " + duid->to_string());
  const auto address = good(subject, pointer + "/address", parse_ipv6(reservation.address));
  if (address && check_inside(subject, cidr, *address, pointer + "/address"))
    claim(pointer + "/address", code::addresses_collide, "address " + address->to_string());
}

void check_advertisement(Subject& subject, const DHCPPolicy& policy) {
  if (!policy.ipv6) {
    if (subject.is_good("/spec/ipv6"))
      subject.error(code::bad_combination, "/spec/routerAdvertisement", "there is no prefix to advertise",
                    "ipv6 beside it");
    return;
  }
  const auto cidr = good(subject, kCidr, parse_cidr(policy.ipv6->cidr));
  if (policy.router_advertisement->autonomous && cidr && cidr->prefix_length() != 64)
    subject.error(code::bad_combination, "/spec/routerAdvertisement/autonomous",
                  "hosts make addresses of their own in a /64 only, and this network is " + cidr->to_string());
}

}  // namespace

void check_ipv6(Subject& subject, const DHCPPolicy& policy) {
  if (policy.router_advertisement) check_advertisement(subject, policy);
  if (!policy.ipv6) return;
  const DHCPPolicy::V6& ipv6 = *policy.ipv6;
  const auto cidr = good(subject, kCidr, parse_cidr(ipv6.cidr));
  check_range(subject, ipv6, cidr);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < ipv6.reservations.size(); ++i)
    check_reservation(subject, ipv6.reservations[i], "/spec/ipv6/reservations/" + std::to_string(i), cidr, seen);
}

void check_ipv6_networks(std::vector<Examined<DHCPPolicy>>& policies) {
  std::map<Cidr, const Examined<DHCPPolicy>*> seen;
  for (Examined<DHCPPolicy>& policy : policies) {
    const auto cidr =
        policy.value.ipv6 ? good(policy.subject, kCidr, parse_cidr(policy.value.ipv6->cidr)) : std::nullopt;
    if (!cidr) continue;
    const auto other = std::ranges::find_if(seen, [&](const auto& item) { return item.first.overlaps(*cidr); });
    if (other == seen.end()) {
      seen.emplace(*cidr, &policy);
      continue;
    }
    policy.subject.error(code::networks_overlap, kCidr,
                         "this network overlaps " + other->first.to_string() + " of " +
                             other->second->value.metadata.key() + " (" + other->second->subject.where(kCidr) + ')');
  }
}

}  // namespace hcpnet::spec
