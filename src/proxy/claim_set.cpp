// SPDX-License-Identifier: Apache-2.0
#include "proxy/claim_set.hpp"

#include <algorithm>

namespace hcpnet::proxy {
namespace {

using Report = std::function<void(const Conflict&)>;

/// Drops every item that `is_repeat` of the last one kept.
template <class Item, class IsRepeat>
void keep_first(std::vector<Item>& items, IsRepeat&& is_repeat) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (kept == 0 || !is_repeat(items[kept - 1], items[i])) items[kept++] = items[i];
  }
  items.resize(kept);
}

/// Keeps the first claim on each cluster.
void drop_repeated(std::vector<std::pair<std::string_view, std::uint32_t>>& clusters, const Report& report) {
  std::ranges::sort(clusters);
  keep_first(clusters, [&](const auto& kept, const auto& next) {
    if (kept.first != next.first) return false;
    if (kept.second != next.second) report({kept.second, next.second, "clients of cluster " + std::string(next.first)});
    return true;
  });
}

/// Keeps prefixes that lie in no other: then at most one can hold an address, and a binary search finds it.
void drop_nested(std::vector<std::pair<Cidr, std::uint32_t>>& prefixes, const Report& report) {
  std::ranges::sort(prefixes);  // a prefix comes before all that lie in it
  keep_first(prefixes, [&](const auto& kept, const auto& next) {
    if (!kept.first.overlaps(next.first)) return false;
    const auto [first, second] = std::minmax(kept.second, next.second);
    if (first != second) report({first, second, "clients in " + next.first.to_string()});
    return true;
  });
}

}  // namespace

std::string_view Client::cluster() noexcept {
  if (!is_looked_up_) {
    is_looked_up_ = true;
    const auto found = clusters_.find(source_);
    if (found != clusters_.end()) cluster_ = &found->second;
  }
  return cluster_ == nullptr ? std::string_view() : std::string_view(*cluster_);
}

ClaimSet::ClaimSet(std::span<const Route> routes, std::span<const std::uint32_t> claimants, const Report& report) {
  Scoped scoped;
  std::uint32_t previous = kNone;
  for (const std::uint32_t claimant : claimants) {
    if (claimant == previous) continue;
    previous = claimant;
    const SourceMatch& source = routes[claimant].source;
    if (source.is_everyone()) {
      if (everyone_ == kNone)
        everyone_ = claimant;
      else
        report({everyone_, claimant, "every client"});
    }
    if (!source.cluster.empty()) scoped.clusters.emplace_back(source.cluster, claimant);
    for (const Cidr& prefix : source.prefixes) scoped.prefixes.emplace_back(prefix, claimant);
  }
  if (scoped.clusters.empty() && scoped.prefixes.empty()) return;
  drop_repeated(scoped.clusters, report);
  drop_nested(scoped.prefixes, report);
  scoped_ = std::make_unique<Scoped>(std::move(scoped));
}

std::uint32_t ClaimSet::find(Client& client, bool only_scoped) const noexcept {
  if (scoped_) {
    const std::uint32_t route = scoped_->find(client);
    if (route != kNone) return route;
  }
  return only_scoped ? kNone : everyone_;
}

std::uint32_t ClaimSet::Scoped::find(Client& client) const noexcept {
  if (const std::string_view cluster = clusters.empty() ? std::string_view() : client.cluster(); !cluster.empty()) {
    const auto found = std::ranges::lower_bound(clusters, cluster, {}, &decltype(clusters)::value_type::first);
    if (found != clusters.end() && found->first == cluster) return found->second;
  }
  const auto after =
      std::ranges::upper_bound(prefixes, client.source(), {}, [](const auto& p) { return p.first.network(); });
  if (after == prefixes.begin() || !std::prev(after)->first.contains(client.source())) return kNone;
  return std::prev(after)->second;
}

}  // namespace hcpnet::proxy
