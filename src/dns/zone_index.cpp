// SPDX-License-Identifier: Apache-2.0
#include "dns/zone_index.hpp"

#include <utility>

namespace hcpnet::dns {

ZoneIndex::ZoneIndex(const Name& apex, const std::vector<RRset>& rrsets)
    : rrsets_(rrsets.data()), apex_labels_(apex.label_count()), slots_(16) {
  std::uint32_t owner_node = kNone;
  for (std::uint32_t i = 0; i < rrsets.size(); ++i) {
    if (i == 0 || !(rrsets[i].owner == rrsets[i - 1].owner)) {
      owner_node = static_cast<std::uint32_t>(nodes_.size());
      add_owner(FoldedName(rrsets[i].owner), i);
    }
    ++nodes_[owner_node].count;
  }
  link_wildcards();
}

/// The name and whichever names between it and the apex are new. Canonical order puts a name before those below it, so
/// the name itself is always new.
void ZoneIndex::add_owner(const FoldedName& owner, std::uint32_t first) {
  for (std::size_t labels = owner.label_count(); labels + 1 > apex_labels_; --labels) {
    if (find_node(owner, labels) != kNone) return;
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({first, kNone, 0, static_cast<std::uint8_t>(owner.offset(labels))});
    insert(owner.hash(labels), node);
    if (labels == 0) return;
  }
}

void ZoneIndex::insert(std::uint32_t hash, std::uint32_t node) {
  if (2 * nodes_.size() > slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].node != kNone) at = (at + 1) & mask;
  slots_[at] = {hash, node};
}

void ZoneIndex::grow() {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
  for (const Slot& slot : old)
    if (slot.node != kNone) insert(slot.hash, slot.node);
}

void ZoneIndex::link_wildcards() {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const ByteView name = rrsets_[nodes_[i].first].owner.wire().subspan(nodes_[i].offset);
    if (name.size() < 3 || name[0] != 1 || name[1] != '*') continue;
    FoldedName folded;
    folded.read(name);
    if (folded.label_count() <= apex_labels_) continue;  // the apex itself begins with "*"
    nodes_[find_node(folded, folded.label_count() - 1)].wildcard = i;
  }
}

std::uint32_t ZoneIndex::find_node(const FoldedName& name, std::size_t labels) const noexcept {
  const std::uint32_t hash = name.hash(labels);
  const ByteView wanted = name.suffix(labels);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask; slots_[at].node != kNone; at = (at + 1) & mask) {
    if (slots_[at].hash != hash) continue;
    const Node& node = nodes_[slots_[at].node];
    const ByteView known = rrsets_[node.first].owner.wire().subspan(node.offset);
    if (known.size() == wanted.size() && equals_folded(known.data(), wanted)) return slots_[at].node;
  }
  return kNone;
}

ZoneIndex::Owner ZoneIndex::find(const FoldedName& name) const noexcept {
  std::size_t labels = name.label_count();
  std::uint32_t node = find_node(name, labels);
  const bool is_exact = node != kNone;
  while (node == kNone && labels > apex_labels_) node = find_node(name, --labels);
  if (node == kNone) return {};
  if (!is_exact) node = nodes_[node].wildcard;
  if (node == kNone) return {};
  return {true, !is_exact, nodes_[node].first, nodes_[node].count};
}

}  // namespace hcpnet::dns
