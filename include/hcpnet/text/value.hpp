// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <hcpnet/diagnostic.hpp>
#include <string>
#include <string_view>
#include <vector>

/// Text as a tree of values, each with its place. YAML and JSON both become this.
namespace hcpnet::text {

/// A place in a file: line and column from 1, in characters, over the whole file; CR LF is one line end. Line 0 is no
/// place.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend auto operator<=>(const Position&, const Position&) noexcept = default;
};

enum class ValueType : std::uint8_t {
  null,
  boolean,
  integer,  ///< any number of digits; `text` holds them
  floating,
  string,
  ambiguous,  ///< a plain YAML scalar that YAML 1.1 and the YAML 1.2 core schema read differently
  list,
  map,
  invalid,  ///< already reported (an unsupported tag); to be read past
};
/// "a string", "a number", "a list": for messages.
[[nodiscard]] std::string_view to_string(ValueType type) noexcept;

struct Member;

struct Value {
  ValueType type = ValueType::null;
  bool flag = false;         ///< what a boolean is
  Position position;         ///< first character, quote and tag included; of a block collection its first key or dash
  Position key;              ///< of the key whose value this is; no place for a document or a list item
  std::string text;          ///< of a scalar, with quotes and escapes resolved
  std::vector<Value> items;  ///< of a list
  std::vector<Member> members;  ///< of a map, in the order of the text, keys unique

  /// The value of `name` in a map, or nullptr.
  [[nodiscard]] const Value* find(std::string_view name) const noexcept;
  /// Where something that this map lacks is reported: at its key, or where it begins.
  [[nodiscard]] Position owner() const noexcept { return key.line > 0 ? key : position; }
};

struct Member {
  std::string key;
  ValueType key_type = ValueType::string;  ///< what the key is if it stands without quotes
  Value value;
};

/// The value at a JSON pointer (RFC 6901) below `root`, or nullptr.
[[nodiscard]] const Value* find(const Value& root, std::string_view pointer) noexcept;
/// `pointer` with one more reference token, escaped.
[[nodiscard]] std::string child(std::string_view pointer, std::string_view token);
[[nodiscard]] std::string child(std::string_view pointer, std::size_t index);

/// What a file holds: the root of each document. When `complete` is false reading stopped at the last of `problems`.
struct Parsed {
  std::vector<Value> documents;
  Diagnostics problems;
  bool complete = false;
};

}  // namespace hcpnet::text
