// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dns/name.hpp>
#include <hcpnet/dns/zone.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dns/zone_lexer.hpp"

namespace hcpnet::dns {

/// What was wrong with the words of some RDATA.
struct RdataProblem {
  std::size_t token = 0;  ///< which one; their number when one is missing
  std::string expected;
};
using ParsedRdata = Result<std::string, RdataProblem>;

/// As parse_rdata(), of words that are cut already.
[[nodiscard]] ParsedRdata parse_rdata_tokens(Type type, std::span<const ZoneToken> tokens, const Name& origin);

/// A name of a zone file: "@", relative to `origin`, or absolute.
[[nodiscard]] Result<Name> parse_zone_name(const ZoneToken& token, const Name& origin);

/// Digits of a number up to `max`, nothing else.
[[nodiscard]] std::optional<std::uint32_t> parse_number(std::string_view text, std::uint32_t max);
/// Seconds: a number, or numbers with units as in "1h30m"; at most 2^31 - 1 (RFC 2181 section 8).
[[nodiscard]] std::optional<std::uint32_t> parse_ttl(std::string_view text);

/// Two digits for each byte, in lower case.
[[nodiscard]] std::string hexadecimal(std::string_view bytes);
/// RDATA in the form of its type; empty when it has none, or is not what the type asks for.
[[nodiscard]] std::string rdata_in_own_form(Type type, std::string_view rdata);
/// Whether the type has a form of its own here.
[[nodiscard]] bool has_own_form(Type type) noexcept;

}  // namespace hcpnet::dns
