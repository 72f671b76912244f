// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <hcpnet/dns/zone.hpp>
#include <optional>
#include <string>

namespace hcpnet::dns {

/// The NS record of a zone that has none: some name servers load no zone without (RFC 1035 section 5.2). It names
/// nobody, since nobody is to find the zone by delegation. nullopt: the zone has its own.
[[nodiscard]] inline std::optional<RRset> missing_name_server(const Zone& zone) {
  const bool has_one = std::ranges::any_of(
      zone.rrsets(), [&](const RRset& set) { return set.type == Type::ns && set.owner == zone.apex(); });
  if (has_one) return std::nullopt;
  return RRset{zone.apex(), Type::ns, zone.soa().ttl, {std::string("\x09localhost\0", 11)}};
}

}  // namespace hcpnet::dns
