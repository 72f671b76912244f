// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dns/config.hpp>
#include <hcpnet/dns/responder.hpp>
#include <hcpnet/dns/view.hpp>
#include <optional>

namespace hcpnet::dns {

/// What answers come from; replaced whole. Any thread may read it.
struct Snapshot {
  Config config;
  ViewSet views;

  /// What respond() is to know about a client of the view at `position`.
  [[nodiscard]] QueryContext context(std::optional<std::size_t> position, Transport transport,
                                     const IpAddress& client) const noexcept {
    const ViewZones* view = position ? &views[*position] : nullptr;
    QueryContext context{view, transport,
                         config.forwarding.is_enabled() && view != nullptr && view->may_forward(client)};
    context.identity = &config.identity;
    return context;
  }
};

}  // namespace hcpnet::dns
