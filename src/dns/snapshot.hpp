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
  [[nodiscard]] QueryContext context(std::optional<std::size_t> position, Transport transport) const noexcept {
    QueryContext context{position ? &views[*position] : nullptr, transport, config.forwarding.is_enabled()};
    context.identity = &config.identity;
    return context;
  }
};

}  // namespace hcpnet::dns
