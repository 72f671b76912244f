// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dns/config.hpp>
#include <hcpnet/dns/view.hpp>

#include "dns/folded_name.hpp"

namespace hcpnet::dns {

const ZoneForwarding* Forwarding::zone_of(const FoldedName& name) const noexcept {
  const ZoneForwarding* longest = nullptr;
  for (const ZoneForwarding& candidate : zones) {
    const std::size_t labels = candidate.zone.label_count();
    if (labels > name.label_count() || (longest != nullptr && longest->zone.label_count() >= labels)) continue;
    const ByteView suffix = name.suffix(labels);
    if (suffix.size() == candidate.zone.wire().size() && equals_folded(candidate.zone.wire().data(), suffix))
      longest = &candidate;
  }
  return longest;
}

bool Forwarding::is_responsible_for(const FoldedName& name) const noexcept {
  return resolv_conf || !upstreams.empty() || zone_of(name) != nullptr;
}

Result<void> check_config(const Config& config) {
  const auto views = ViewSet::make(config.views);
  if (!views) return views.error();
  const auto is_listener = [&](const Endpoint& upstream) {
    return std::ranges::find(config.listeners, upstream) != config.listeners.end();
  };
  if (std::ranges::any_of(config.forwarding.upstreams, is_listener)) return Errc::upstream_is_self;
  for (const ZoneForwarding& zone : config.forwarding.zones)
    if (std::ranges::any_of(zone.upstreams, is_listener)) return Errc::upstream_is_self;
  return {};
}

}  // namespace hcpnet::dns
