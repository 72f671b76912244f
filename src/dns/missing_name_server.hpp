// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dns/zone.hpp>
#include <optional>
#include <string>

#include "dns/folded_name.hpp"
#include "dns/zone_store.hpp"

namespace hcpnet::dns {

/// The NS record of a zone that has none: some name servers load no zone without (RFC 1035 section 5.2). It names
/// nobody, since nobody is to find the zone by delegation. nullopt: the zone has its own.
[[nodiscard]] inline std::optional<RRset> missing_name_server(const Zone& zone) {
  // Not among rrsets(): most zones have them, and those of many zones are not to be unpacked for this.
  if (zone.find(FoldedName(zone.apex()), Type::ns).outcome == Zone::Outcome::answer) return std::nullopt;
  return RRset{zone.apex(), Type::ns, zone.soa().ttl, {std::string("\x09localhost\0", 11)}};
}

}  // namespace hcpnet::dns
