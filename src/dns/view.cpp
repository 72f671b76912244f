// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <hcpnet/dns/view.hpp>
#include <span>

#include "dns/folded_name.hpp"
#include "dns/zone_store.hpp"

namespace hcpnet::dns {
namespace {

/// Whether a zone delegates exactly this name, or has DS records there.
bool is_parent_of(const Zone& outer, const FoldedName& apex) noexcept {
  if (!outer.is_available()) return false;
  if (const Delegation* cut = outer.find_delegation(apex, Type::ns))
    return cut->name_servers.owner.wire().size() == apex.wire().size();
  const ZoneMatch match = outer.find(apex, Type::ds);
  return match.outcome == Zone::Outcome::answer && !match.from_wildcard && match.rrset.type == Type::ds;
}

struct Prefix {
  Cidr cidr;
  std::size_t view = 0;
};

std::vector<Prefix> prefixes_of(const std::vector<View>& views) {
  std::vector<Prefix> prefixes;
  for (std::size_t i = 0; i < views.size(); ++i)
    for (const Cidr& cidr : views[i].clients) prefixes.push_back({cidr, i});
  // By network, then the shorter one first: an enclosing prefix comes before what it encloses.
  std::ranges::sort(prefixes, {}, &Prefix::cidr);
  return prefixes;
}

/// Adds one to a number in network byte order; false when it wraps to zero.
bool increment(std::span<std::uint8_t> bytes) noexcept {
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte)
    if (++*byte != 0) return true;
  return false;
}

void fill_host_bits(std::span<std::uint8_t> bytes, unsigned prefix_length) noexcept {
  for (std::size_t bit = prefix_length; bit < 8 * bytes.size(); ++bit)
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] | 0x80u >> bit % 8);
}

/// The first address after the network, which for the last IPv4 network is the first IPv6 address; nullopt after the
/// very last.
std::optional<IpAddress> address_after(const Cidr& cidr) noexcept {
  if (cidr.network().is_v4()) {
    auto bytes = cidr.network().v4().bytes();
    fill_host_bits(bytes, cidr.prefix_length());
    if (!increment(bytes)) return IpAddress(Ipv6{});
    return IpAddress(Ipv4(bytes[0], bytes[1], bytes[2], bytes[3]));
  }
  auto bytes = cidr.network().v6().bytes();
  fill_host_bits(bytes, cidr.prefix_length());
  if (!increment(bytes)) return std::nullopt;
  return IpAddress(Ipv6(bytes));
}

}  // namespace

bool ViewZones::holds(const std::optional<std::vector<Cidr>>& list, const IpAddress& client) noexcept {
  return !list || std::ranges::any_of(*list, [&](const Cidr& cidr) { return cidr.contains(client); });
}

Result<ViewZones> ViewZones::make(const View& view) {
  ViewZones made;
  made.name_ = view.name;
  made.allowed_ = view.allowed;
  made.forwarding_allowed_ = view.forwarding_allowed;
  made.zones_ = view.zones;
  made.slots_.resize(std::bit_ceil(2 * view.zones.size() + 1));
  for (const auto& zone : view.zones) {
    const FoldedName apex(zone->apex());
    const std::uint32_t hash = apex.hash(apex.label_count());
    std::size_t at = hash & (made.slots_.size() - 1);
    for (; made.slots_[at].zone != nullptr; at = (at + 1) & (made.slots_.size() - 1))
      if (made.slots_[at].zone->apex() == zone->apex()) return Errc::duplicate_zone;
    made.slots_[at] = {hash, zone.get()};
    made.max_apex_labels_ = std::max(made.max_apex_labels_, apex.label_count());
  }
  return made;
}

const Zone* ViewZones::find(const Name& name) const noexcept {
  return find(FoldedName(name));
}

const Zone* ViewZones::find(const FoldedName& name) const noexcept {
  return find(name, name.label_count());
}

const Zone* ViewZones::find_for(const FoldedName& name, Type type) const noexcept {
  const Zone* zone = find(name);
  if (type != Type::ds || zone == nullptr || name.label_count() == 0 ||
      zone->apex().wire().size() != name.wire().size())
    return zone;
  const Zone* outer = find(name, name.label_count() - 1);
  return outer != nullptr && is_parent_of(*outer, name) ? outer : zone;
}

const Zone* ViewZones::find(const FoldedName& name, std::size_t max_labels) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t above = std::min(max_labels, max_apex_labels_) + 1; above > 0; --above) {
    const std::size_t labels = above - 1;
    const std::uint32_t hash = name.hash(labels);
    for (std::size_t at = hash & mask; slots_[at].zone != nullptr; at = (at + 1) & mask) {
      if (slots_[at].hash != hash) continue;
      const ByteView apex = slots_[at].zone->apex().wire();
      const ByteView wanted = name.suffix(labels);
      if (apex.size() == wanted.size() && equals_folded(apex.data(), wanted)) return slots_[at].zone;
    }
  }
  return nullptr;
}

Result<ViewSet> ViewSet::make(const std::vector<View>& views) {
  ViewSet made;
  for (const View& view : views) {
    auto zones = ViewZones::make(view);
    if (!zones) return zones.error();
    made.views_.push_back(std::move(*zones));
  }
  const auto begin_range = [&](const IpAddress& first, std::optional<std::size_t> view) {
    if (!made.ranges_.empty() && made.ranges_.back().first == first) made.ranges_.pop_back();
    made.ranges_.push_back({first, view});
  };
  std::vector<Prefix> enclosing;
  const auto leave_innermost = [&] {
    const auto next = address_after(enclosing.back().cidr);
    enclosing.pop_back();
    if (next) begin_range(*next, enclosing.empty() ? std::nullopt : std::optional(enclosing.back().view));
  };
  for (const Prefix& prefix : prefixes_of(views)) {
    while (!enclosing.empty() && !enclosing.back().cidr.contains(prefix.cidr.network())) leave_innermost();
    if (!enclosing.empty() && enclosing.back().cidr == prefix.cidr) return Errc::duplicate_prefix;
    begin_range(prefix.cidr.network(), prefix.view);
    enclosing.push_back(prefix);
  }
  while (!enclosing.empty()) leave_innermost();
  return made;
}

std::optional<std::size_t> ViewSet::find(const IpAddress& client) const noexcept {
  const auto after = std::ranges::upper_bound(ranges_, client, {}, &Range::first);
  const auto view = after == ranges_.begin() ? std::nullopt : std::prev(after)->view;
  return view && views_[*view].is_allowed(client) ? view : std::nullopt;
}

}  // namespace hcpnet::dns
