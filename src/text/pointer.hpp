// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::text {

/// A reference token of a JSON pointer.
struct Token {
  std::string name;      ///< escapes resolved
  bool escaped = false;  ///< it was written with an escape
};

/// Reads a JSON pointer: "" or tokens, each behind a "/"; "~0" and "~1" are the only escapes. nullopt for anything
/// else. Specification: RFC 6901 sections 3 and 4.
[[nodiscard]] std::optional<std::vector<Token>> parse_pointer(std::string_view pointer);

/// An index of a list: digits, no zero in front. nullopt for anything else. Specification: RFC 6901 section 4.
[[nodiscard]] std::optional<std::size_t> parse_index(std::string_view token) noexcept;

}  // namespace hcpnet::text
