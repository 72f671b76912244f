// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <hcpnet/dns/name.hpp>
#include <hcpnet/dns/zone.hpp>
#include <hcpnet/result.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dns/zone_lexer.hpp"

namespace hcpnet::dns {

/// What was wrong with one of the words of some RDATA.
struct RdataProblem {
  std::size_t token = 0;  ///< which one; their number when one is missing
  std::string expected;
  bool lacks_origin = false;  ///< a relative name, and nothing says what it is below
};
/// RDATA; or the first mistake, and before it every name that lacks its origin.
using ParsedRdata = Result<std::string, std::vector<RdataProblem>>;

/// As parse_rdata(), of words that are cut already. `origin` may be null: then names have to be absolute.
[[nodiscard]] ParsedRdata parse_rdata_tokens(Type type, std::span<const ZoneToken> tokens, const Name* origin);

/// A name of a zone file: "@", relative to `origin`, or absolute. Without an origin as if it were the root: the caller
/// has to refuse a name that is_relative().
[[nodiscard]] Result<Name> parse_zone_name(const ZoneToken& token, const Name* origin);
/// Of a token that is a name: whether an origin belongs to it.
[[nodiscard]] bool is_relative(const ZoneToken& token) noexcept;

/// In ASCII; other bytes stay as they are.
[[nodiscard]] constexpr char to_upper(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 0x20) : c;
}
[[nodiscard]] inline bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, {}, to_upper, to_upper);
}

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
