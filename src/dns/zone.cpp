// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/assert.hpp>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/zone.hpp>
#include <mutex>
#include <ranges>

#include "dns/delegations.hpp"
#include "dns/folded_name.hpp"
#include "dns/soa.hpp"
#include "dns/zone_store.hpp"

namespace hcpnet::dns {
namespace {

constexpr std::uint32_t kRefresh = 3600;
constexpr std::uint32_t kRetry = 600;
constexpr std::uint32_t kExpire = 86400;

/// Of a record in an answer: a pointer to its owner, then type, class, TTL and length.
constexpr std::size_t kBytesBesidesRdata = 12;

std::string big_endian(std::uint32_t value) {
  std::string bytes(4, '\0');
  ByteWriter({reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()}).u32(value);
  return bytes;
}

/// `label` in front of the apex, or the apex itself where that would be too long.
std::string below(const Name& apex, std::string_view label) {
  std::string wire(as_text(apex.wire()));
  if (wire.size() + 1 + label.size() > Name::kMaxBytes) return wire;
  return static_cast<char>(label.size()) + std::string(label) + wire;
}

RRset make_soa(const Name& apex, std::uint32_t serial) {
  std::string rdata = below(apex, "ns") + below(apex, "hostmaster");
  for (const std::uint32_t number : {serial, kRefresh, kRetry, kExpire, Zone::kNegativeTtl})
    rdata += big_endian(number);
  return {apex, Type::soa, Zone::kNegativeTtl, {std::move(rdata)}};
}

bool has_soa(const Name& apex, const std::vector<RRset>& rrsets) {
  return std::ranges::any_of(rrsets, [&](const RRset& set) { return set.type == Type::soa && set.owner == apex; });
}

bool is_before(const RRset& a, const RRset& b) noexcept {
  if (const auto order = a.owner <=> b.owner; order != 0) return order < 0;
  return rank_at_owner(a.type) < rank_at_owner(b.type);
}

/// Joins neighbours of the same owner and type, and puts RDATA into canonical order without repetitions.
void merge_equal(std::vector<RRset>& rrsets) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rrsets.size(); ++i) {
    if (kept > 0 && rrsets[kept - 1].type == rrsets[i].type && rrsets[kept - 1].owner == rrsets[i].owner) {
      RRset& into = rrsets[kept - 1];
      into.ttl = std::min(into.ttl, rrsets[i].ttl);
      std::ranges::move(rrsets[i].rdata, std::back_inserter(into.rdata));
    } else {
      if (kept != i) rrsets[kept] = std::move(rrsets[i]);
      ++kept;
    }
  }
  rrsets.erase(rrsets.begin() + static_cast<std::ptrdiff_t>(kept), rrsets.end());
  for (RRset& set : rrsets) {
    if (set.rdata.size() == 1) continue;
    std::ranges::sort(set.rdata);
    const auto repeated = std::ranges::unique(set.rdata);
    set.rdata.erase(repeated.begin(), repeated.end());
  }
}

std::vector<RRset> in_order(const Name& apex, std::vector<RRset> rrsets, std::uint32_t serial) {
  BOOST_ASSERT(std::ranges::all_of(rrsets, [&](const RRset& set) { return set.owner.is_below_or_equal(apex); }));
  std::erase_if(rrsets, [](const RRset& set) { return set.rdata.empty(); });
  if (!has_soa(apex, rrsets)) rrsets.insert(rrsets.begin(), make_soa(apex, serial));
  if (!std::ranges::is_sorted(rrsets, is_before)) std::ranges::sort(rrsets, is_before);  // files mostly are
  merge_equal(rrsets);
  return rrsets;
}

/// RFC 2308 section 4: the last number of the SOA limits how long "there is nothing" may be believed.
std::uint32_t negative_ttl_of(const RRset& soa) {
  const std::string& rdata = soa.rdata.front();
  if (rdata.size() < kSoaNumbersBytes) return 0;
  return std::min(soa.ttl, ByteReader(as_bytes(rdata).last(4)).u32());
}

}  // namespace

struct Zone::Impl {
  Impl(Name name, const std::vector<RRset>& records, Availability state)
      : apex(std::move(name)),
        soa_rdata(records.front().rdata.front()),
        store(apex, records),
        delegations(apex, records),
        negative_ttl(negative_ttl_of(records.front())),
        availability(state) {}

  Name apex;
  std::string soa_rdata;
  ZoneStore store;
  Delegations delegations;
  std::uint32_t negative_ttl;
  Availability availability;
  // Lookups need none of this, and for many zones nobody ever asks.
  mutable std::once_flag unpacked_once;
  mutable std::vector<RRset> unpacked;
};

Zone::Zone(Name apex, std::vector<RRset> rrsets, std::uint32_t serial, Availability availability) {
  const std::vector<RRset> ordered = in_order(apex, std::move(rrsets), serial);
  impl_ = std::make_unique<const Impl>(std::move(apex), ordered, availability);
}
Zone::~Zone() = default;

const Name& Zone::apex() const noexcept {
  return impl_->apex;
}
ByteView Zone::soa_rdata() const noexcept {
  return as_bytes(impl_->soa_rdata);
}
const RRset& Zone::soa() const {
  return rrsets().front();
}
const std::vector<RRset>& Zone::rrsets() const {
  std::call_once(impl_->unpacked_once, [this] { impl_->unpacked = impl_->store.unpack(); });
  return impl_->unpacked;
}
bool Zone::is_available() const noexcept {
  return impl_->availability == Availability::available;
}
std::size_t Zone::size_bytes() const noexcept {
  return impl_->store.size_bytes();
}
std::uint32_t Zone::negative_ttl() const noexcept {
  return impl_->negative_ttl;
}

Zone::Found Zone::find(const Name& name, Type type) const {
  const FoldedName folded(name);
  if (const Delegation* cut = find_delegation(folded, type)) return {Outcome::referral, &cut->name_servers, false};
  const ZoneMatch match = find(folded, type);
  const RRset* rrset = match.outcome == Outcome::answer ? &rrsets()[match.position] : nullptr;
  return {match.outcome, rrset, match.from_wildcard};
}

ZoneMatch Zone::find(const FoldedName& name, Type type) const noexcept {
  return impl_->store.find(name, type);
}

const Delegation* Zone::find_delegation(const FoldedName& name, Type type) const noexcept {
  const Delegation* cut = impl_->delegations.find(name);
  const bool is_cut = cut != nullptr && cut->name_servers.owner.wire().size() == name.wire().size();
  return is_cut && type == Type::ds ? nullptr : cut;
}

bool fits_message(const RRset& rrset) noexcept {
  std::size_t bytes = 0;
  for (const std::string& rdata : rrset.rdata) bytes += kBytesBesidesRdata + rdata.size();
  return bytes <= kMaxRRsetBytes;
}

RRset make_a(Name owner, Ipv4 address, std::uint32_t ttl) {
  return {std::move(owner), Type::a, ttl, {std::string(as_text(address.bytes()))}};
}

RRset make_aaaa(Name owner, const Ipv6& address, std::uint32_t ttl) {
  return {std::move(owner), Type::aaaa, ttl, {std::string(as_text(address.bytes()))}};
}

}  // namespace hcpnet::dns
