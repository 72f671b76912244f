// SPDX-License-Identifier: Apache-2.0
#include "stack/zone_set.hpp"

#include <algorithm>
#include <utility>

#include "stack/lease_names.hpp"

namespace hcpnet::derive {
namespace {

constexpr std::uint32_t kSerial = 1;  // nobody chose it: the server counts where zones are transferred

}  // namespace

bool ZoneSet::Owner::has_alias() const {
  return std::ranges::find(records, dns::Type::cname, &dns::RRset::type) != records.end();
}

void ZoneSet::add_unavailable_zone(const std::string& domain) {
  const dns::Name apex = dns::parse_name(domain).value();
  add_zone(apex);
  unavailable_.insert(apex);
}

void ZoneSet::make_unavailable() {
  for (const auto& [apex, owners] : zones_) unavailable_.insert(apex);
}

void ZoneSet::add_complete_zone(std::shared_ptr<const dns::Zone> zone) {
  const dns::Name apex = zone->apex();
  complete_.emplace(apex, std::move(zone));
}

void ZoneSet::add_address(const std::string& name, Ipv4 address) {
  const dns::Name owner = dns::parse_name(name).value();
  std::vector<Ipv4>& addresses = zone_for(owner).second[owner].addresses;
  if (std::ranges::find(addresses, address) == addresses.end()) addresses.push_back(address);
}

bool ZoneSet::add_record(const dns::RRset& rrset) {
  auto& [apex, owners] = zone_for(rrset.owner);
  const auto others = owners.find(rrset.owner);
  const bool is_alias = rrset.type == dns::Type::cname;
  if (is_alias ? rrset.owner == apex || others != owners.end() : others != owners.end() && others->second.has_alias())
    return false;
  owners[rrset.owner].records.push_back(rrset);
  return true;
}

void ZoneSet::add_reverse() {
  std::map<dns::Name, std::vector<std::string>> names;
  for (const auto& [apex, owners] : zones_)
    for (const auto& [name, owner] : owners)
      for (const Ipv4 address : owner.addresses)
        if (!name.is_wildcard()) names[reverse_name(address)].emplace_back(as_text(name.wire()));
  for (auto& [owner, targets] : names) {
    const dns::RRset pointers{owner, dns::Type::ptr, ttl_, std::move(targets)};
    static_cast<void>(add_record(pointers));  // beside an alias that the policy has there, it gives way
  }
}

bool ZoneSet::has_zone(const dns::Name& apex) const {
  if (zones_.contains(apex) || complete_.contains(apex)) return true;
  return reserved_.contains(apex) && closest(apex) == zones_.end();  // to be a zone of its own
}

bool ZoneSet::has_record(const dns::Name& owner, dns::Type type) const {
  if (type == dns::Type::a && reserved_.contains(owner)) return true;
  const auto zone = closest(owner);
  if (zone == zones_.end()) return false;
  const auto found = zone->second.find(owner);
  if (found == zone->second.end()) return false;
  const Owner& there = found->second;
  return (type == dns::Type::a && !there.addresses.empty()) || there.has_alias() ||
         std::ranges::find(there.records, type, &dns::RRset::type) != there.records.end();
}

std::vector<ZoneSet::Published> ZoneSet::published() const {
  std::vector<Published> all;
  for (const auto& [apex, owners] : zones_)
    for (const auto& [name, owner] : owners) {
      if (!owner.addresses.empty()) all.push_back({apex, name, dns::Type::a});
      for (const dns::RRset& rrset : owner.records)
        if (all.empty() || all.back().owner != name || all.back().type != rrset.type)
          all.push_back({apex, name, rrset.type});
    }
  for (const dns::Name& name : reserved_) {
    const auto zone = closest(name);
    all.push_back({zone != zones_.end() ? zone->first : name, name, dns::Type::a});
  }
  return all;
}

std::vector<dns::Name> ZoneSet::apexes() const {
  std::vector<dns::Name> all;
  for (const auto& [apex, owners] : zones_) all.push_back(apex);
  return all;
}

std::vector<std::shared_ptr<const dns::Zone>> ZoneSet::build() const {
  std::vector<std::shared_ptr<const dns::Zone>> built;
  for (const auto& [apex, owners] : zones_) {
    std::vector<dns::RRset> rrsets;
    for (const auto& [name, owner] : owners) {
      for (const Ipv4 address : owner.addresses) rrsets.push_back(dns::make_a(name, address, ttl_));
      rrsets.insert(rrsets.end(), owner.records.begin(), owner.records.end());
    }
    built.push_back(std::make_shared<const dns::Zone>(
        apex, std::move(rrsets), kSerial,
        unavailable_.contains(apex) ? dns::Availability::unavailable : dns::Availability::available));
  }
  for (const auto& [apex, zone] : complete_) built.push_back(zone);
  return built;
}

ZoneSet::Zones::const_iterator ZoneSet::closest(dns::Name name) const {
  for (;; name = name.parent()) {
    if (const auto zone = zones_.find(name); zone != zones_.end() || name.is_root()) return zone;
  }
}

ZoneSet::Zones::value_type& ZoneSet::zone_for(const dns::Name& owner) {
  const auto zone = closest(owner);
  const dns::Name apex = zone != zones_.end() ? zone->first : owner.is_wildcard() ? owner.parent() : owner;
  return *zones_.try_emplace(apex).first;
}

}  // namespace hcpnet::derive
