// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dns/config.hpp>
#include <hcpnet/dns/view.hpp>

namespace hcpnet::dns {

Result<void> check_config(const Config& config) {
  const auto views = ViewSet::make(config.views);
  if (!views) return views.error();
  for (const Endpoint& upstream : config.forwarding.upstreams)
    if (std::ranges::find(config.listeners, upstream) != config.listeners.end()) return Errc::upstream_is_self;
  return {};
}

}  // namespace hcpnet::dns
