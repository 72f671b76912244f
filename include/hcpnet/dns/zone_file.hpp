// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/dns/name.hpp>
#include <hcpnet/dns/zone.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/text/value.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Zone files (RFC 1035 section 5) and hosts files, read whole: either everything is good, or every error is reported
/// with its line and nothing is taken. A byte order mark is passed over.
namespace hcpnet::dns {

/// What a file may cost. Beyond a limit reading stops with one error that names the limit.
struct ZoneFileLimits {
  std::size_t max_file_bytes = 64 * 1024 * 1024;
  std::size_t max_entry_bytes = 256 * 1024;  ///< one record with everything between its parentheses
  std::size_t max_records = 1'000'000;
};

/// What a zone file says, in the order in which it says it.
struct ZoneRecords {
  Name apex;                  ///< the owner of its SOA
  std::vector<RRset> rrsets;  ///< one per owner and type
  /// Where the first record of each RRset begins: at its type, or at its data.
  std::vector<text::Position> places;
  std::uint32_t serial = 0;
  Diagnostics warnings;  ///< records given twice, TTLs that differ inside an RRset
};

/// Reads a zone file: $ORIGIN, $TTL with units, "@", relative names, parentheses, quoted strings, \DDD, generic types
/// and RDATA (RFC 3597). $INCLUDE is refused: a file is all there is. `file` names it in diagnostics. Without `origin`
/// a relative name needs a $ORIGIN before it.
///
/// Besides syntax it checks what Zone requires: one SOA, class IN, owners at or below the apex, a CNAME alone at its
/// owner and not at the apex. Pure; throws only std::bad_alloc. Codes: docs/dns_render.md.
[[nodiscard]] Result<ZoneRecords, Diagnostics> parse_zone_file(const std::string& file, std::string_view text,
                                                               const std::optional<Name>& origin = {},
                                                               const ZoneFileLimits& limits = {});
/// The zone that the records make.
[[nodiscard]] std::shared_ptr<const Zone> make_zone(ZoneRecords records);

struct HostsEntry {
  IpAddress address;
  std::vector<Name> names;  ///< the canonical one first
  std::uint32_t line = 0;   ///< of the file, from 1; 0: of none
  friend bool operator==(const HostsEntry&, const HostsEntry&) = default;
};
/// Reads a hosts file: per line an address and its names, "#" begins a comment. The root and wildcards are no hosts. An
/// address with a zone ("fe80::1%eth0") means something on one host only, and is refused.
[[nodiscard]] Result<std::vector<HostsEntry>, Diagnostics> parse_hosts_file(const std::string& file,
                                                                            std::string_view text,
                                                                            const ZoneFileLimits& limits = {});
/// A and AAAA records of a hosts file, one RRset per name and family, in the order of first mention.
[[nodiscard]] std::vector<RRset> to_rrsets(const std::vector<HostsEntry>& entries, std::uint32_t ttl);

}  // namespace hcpnet::dns
