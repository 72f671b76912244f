// SPDX-License-Identifier: Apache-2.0
#include "dns/delegations.hpp"

#include <algorithm>
#include <hcpnet/dns/name.hpp>
#include <string>

namespace hcpnet::dns {
namespace {

/// The addresses that the zone has for the name servers. RRsets of one owner stand together, in canonical order.
void add_glue(Delegation& delegation, const Name& apex, const std::vector<RRset>& rrsets) {
  for (const std::string& rdata : delegation.name_servers.rdata) {
    const auto target = make_name(rdata);
    if (!target || !target->is_below_or_equal(apex)) continue;
    const bool is_required = target->is_below_or_equal(delegation.name_servers.owner);
    // The SOA stands first and is of no interest; the order holds from there on.
    for (auto set = std::ranges::lower_bound(rrsets, *target, {}, &RRset::owner);
         set != rrsets.end() && set->owner == *target; ++set) {
      if (set->type == Type::a || set->type == Type::aaaa)
        (is_required ? delegation.required_glue : delegation.other_glue).push_back(*set);
    }
  }
}

}  // namespace

Delegations::Delegations(const Name& apex, const std::vector<RRset>& rrsets) : apex_labels_(apex.label_count()) {
  for (const RRset& set : rrsets) {
    if (set.type != Type::ns || set.owner == apex || set.owner.is_wildcard()) continue;
    const FoldedName owner(set.owner);
    Cut cut{owner.hash(owner.label_count()), {set, {}, {}}};
    add_glue(cut.delegation, apex, rrsets);
    cuts_.push_back(std::move(cut));
    max_labels_ = std::max(max_labels_, owner.label_count());
  }
  std::ranges::sort(cuts_, {}, &Cut::hash);
}

const Delegation* Delegations::find(const FoldedName& name) const noexcept {
  const std::size_t deepest = std::min(name.label_count(), max_labels_);
  for (std::size_t labels = apex_labels_ + 1; labels <= deepest; ++labels) {
    const ByteView wanted = name.suffix(labels);
    for (auto cut = std::ranges::lower_bound(cuts_, name.hash(labels), {}, &Cut::hash);
         cut != cuts_.end() && cut->hash == name.hash(labels); ++cut) {
      const ByteView owner = cut->delegation.name_servers.owner.wire();
      if (owner.size() == wanted.size() && equals_folded(owner.data(), wanted)) return &cut->delegation;
    }
  }
  return nullptr;
}

}  // namespace hcpnet::dns
