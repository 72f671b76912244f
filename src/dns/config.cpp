// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dns/config.hpp>
#include <hcpnet/dns/view.hpp>

namespace hcpnet::dns {

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
