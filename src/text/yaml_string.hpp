// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace hcpnet::text {

enum class YamlStyle : std::uint8_t { plain, single_quoted, double_quoted, literal };

/// The most readable style in which every reader gets `text` back as this string. `one_line` rules out the literal.
/// Throws std::invalid_argument unless it is UTF-8.
[[nodiscard]] YamlStyle choose_yaml_style(std::string_view text, bool one_line);

/// Appends `text` in a style of one line. Precondition: choose_yaml_style() allowed it, or it is double_quoted.
void append_yaml_string(std::string& out, std::string_view text, YamlStyle style);

}  // namespace hcpnet::text
