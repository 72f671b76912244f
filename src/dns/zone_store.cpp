// SPDX-License-Identifier: Apache-2.0
#include "dns/zone_store.hpp"

#include <algorithm>
#include <bit>
#include <hcpnet/dns/message.hpp>
#include <utility>

namespace hcpnet::dns {
namespace {

constexpr std::size_t kMinSlots = 16;

/// RFC 1034 section 3.6.2: a CNAME answers for every type but its own, which the comparison finds anyway.
bool answers(Type stored, Type asked) noexcept {
  return stored == asked || stored == Type::cname || asked == Type::any;
}

}  // namespace

ZoneStore::ZoneStore(const Name& apex, const std::vector<RRset>& rrsets)
    : apex_labels_(apex.label_count()), slots_(std::bit_ceil(std::max(kMinSlots, 2 * rrsets.size()))) {
  std::size_t bytes = 0;
  for (const RRset& set : rrsets) {
    bytes += sizeof(Head) + set.owner.wire().size() + sizeof(RowHead) + kAlignment;
    for (const std::string& rdata : set.rdata) bytes += StoredRRset::kRecordHeadBytes + rdata.size();
  }
  blocks_.reserve(bytes);
  for (std::size_t i = 0; i < rrsets.size();) {
    std::size_t end = i + 1;
    while (end < rrsets.size() && rrsets[end].owner == rrsets[i].owner) ++end;
    const FoldedName owner(rrsets[i].owner);
    const std::uint32_t block =
        add_block(rrsets[i].owner.wire(), static_cast<std::uint32_t>(i), static_cast<std::uint16_t>(end - i));
    for (; i < end; ++i) add_row(rrsets[i]);
    insert(owner.hash(owner.label_count()), block);
    add_names_above(owner);
  }
  blocks_.shrink_to_fit();
  link_wildcards();
}

/// The empty non-terminals between the owner and the apex that are new. Canonical order puts a name before those below
/// it, so whichever of them has records is there already.
void ZoneStore::add_names_above(const FoldedName& owner) {
  for (std::size_t labels = owner.label_count(); labels > apex_labels_ + 1;) {
    --labels;
    if (find_block(owner, labels) != kNone) return;
    insert(owner.hash(labels), add_block(owner.suffix(labels), 0, 0));
  }
}

std::uint32_t ZoneStore::add_block(ByteView name, std::uint32_t first, std::uint16_t rrsets) {
  blocks_.resize((blocks_.size() + kAlignment - 1) / kAlignment * kAlignment);
  const auto place = static_cast<std::uint32_t>(blocks_.size() / kAlignment);
  store(Head{kNone, first, rrsets, static_cast<std::uint16_t>(name.size())});
  blocks_.insert(blocks_.end(), name.begin(), name.end());
  return place;
}

void ZoneStore::add_row(const RRset& rrset) {
  std::size_t bytes = 0;
  for (const std::string& rdata : rrset.rdata) bytes += StoredRRset::kRecordHeadBytes + rdata.size();
  store(RowHead{static_cast<std::uint32_t>(bytes), static_cast<std::uint16_t>(rrset.rdata.size()), rrset.type});
  const std::size_t before = blocks_.size();
  blocks_.resize(before + bytes);
  ByteWriter out(std::span<std::uint8_t>(blocks_).subspan(before));
  for (const std::string& rdata : rrset.rdata) {
    out.u16(static_cast<std::uint16_t>(0xc000 | kHeaderBytes));
    out.u16(static_cast<std::uint16_t>(rrset.type));
    out.u16(kClassIn);
    out.u32(rrset.ttl);
    out.u16(static_cast<std::uint16_t>(rdata.size()));
    out.bytes(as_bytes(rdata));
  }
}

void ZoneStore::insert(std::uint32_t hash, std::uint32_t block) {
  if (2 * ++names_ > slots_.size()) {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& slot : old)
      if (slot.block != kNone) put(slot);
  }
  put({hash, block});
}

void ZoneStore::put(Slot slot) noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = slot.hash & mask;
  while (slots_[at].block != kNone) at = (at + 1) & mask;
  slots_[at] = slot;
}

void ZoneStore::link_wildcards() {
  for (const Slot& slot : slots_) {
    if (slot.block == kNone) continue;
    const ByteView name = name_of(slot.block);
    if (name.size() < 3 || name[0] != 1 || name[1] != '*') continue;
    FoldedName folded;
    static_cast<void>(folded.read(name));
    if (folded.label_count() <= apex_labels_) continue;  // the apex itself begins with "*"
    std::uint8_t* parent = blocks_.data() + std::size_t{find_block(folded, folded.label_count() - 1)} * kAlignment;
    auto head = load<Head>(parent);
    head.wildcard = slot.block;
    std::memcpy(parent, &head, sizeof head);
  }
}

std::uint32_t ZoneStore::find_block(const FoldedName& name, std::size_t labels) const noexcept {
  const std::uint32_t hash = name.hash(labels);
  const ByteView wanted = name.suffix(labels);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask; slots_[at].block != kNone; at = (at + 1) & mask) {
    if (slots_[at].hash != hash) continue;
    const ByteView known = name_of(slots_[at].block);
    if (known.size() == wanted.size() && equals_folded(known.data(), wanted)) return slots_[at].block;
  }
  return kNone;
}

ZoneStore::Place ZoneStore::find_name(const FoldedName& name) const noexcept {
  std::size_t labels = name.label_count();
  std::uint32_t found = find_block(name, labels);
  const bool is_exact = found != kNone;
  while (found == kNone && labels > apex_labels_) found = find_block(name, --labels);
  if (found != kNone && !is_exact) found = load<Head>(block(found)).wildcard;
  if (found == kNone) return {};
  const auto head = load<Head>(block(found));
  return {block(found) + sizeof(Head) + head.name_bytes, head, !is_exact};
}

ZoneMatch ZoneStore::find(const FoldedName& name, Type type) const noexcept {
  const Place place = find_name(name);
  if (place.rows == nullptr) return {};
  const std::uint8_t* row = place.rows;
  for (std::size_t i = 0; i < place.head.rrsets; ++i) {
    const auto head = load<RowHead>(row);
    row += sizeof head;
    if (answers(head.type, type))
      return {
          Zone::Outcome::answer, place.from_wildcard, place.head.first + i, {head.type, head.count, {row, head.bytes}}};
    row += head.bytes;
  }
  return {Zone::Outcome::nodata, place.from_wildcard, 0, {}};
}

std::vector<RRset> ZoneStore::unpack() const {
  std::vector<RRset> rrsets;
  for (std::size_t at = 0; at < blocks_.size(); at = (at + kAlignment - 1) / kAlignment * kAlignment) {
    const auto head = load<Head>(blocks_.data() + at);
    at += sizeof head;
    const std::string owner(reinterpret_cast<const char*>(blocks_.data() + at), head.name_bytes);
    at += head.name_bytes;
    for (std::size_t i = 0; i < head.rrsets; ++i) {
      const auto row = load<RowHead>(blocks_.data() + at);
      at += sizeof row;
      const StoredRRset stored{row.type, row.count, {blocks_.data() + at, row.bytes}};
      RRset& set = rrsets.emplace_back(RRset{make_name(owner).value(), row.type, stored.ttl(), {}});
      stored.for_each([&](ByteView rdata) {
        set.rdata.emplace_back(as_text(rdata));
        return true;
      });
      at += row.bytes;
    }
  }
  return rrsets;
}

}  // namespace hcpnet::dns
