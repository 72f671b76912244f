// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>

/// Kinds of problem that reading text can find. docs/spec.md explains each.
namespace hcpnet::text::code {

inline constexpr std::string_view alias_cycle = "alias-cycle";
inline constexpr std::string_view alias_limit = "alias-limit";
inline constexpr std::string_view bad_character = "bad-character";
inline constexpr std::string_view bad_encoding = "bad-encoding";
inline constexpr std::string_view depth_limit = "depth-limit";
inline constexpr std::string_view duplicate_key = "duplicate-key";
inline constexpr std::string_view file_limit = "file-limit";
inline constexpr std::string_view json_syntax = "json-syntax";
inline constexpr std::string_view unsupported_tag = "unsupported-tag";
inline constexpr std::string_view wrong_type = "wrong-type";
inline constexpr std::string_view yaml_syntax = "yaml-syntax";

inline constexpr std::array all{alias_cycle, alias_limit, bad_character,   bad_encoding, depth_limit, duplicate_key,
                                file_limit,  json_syntax, unsupported_tag, wrong_type,   yaml_syntax};

}  // namespace hcpnet::text::code
