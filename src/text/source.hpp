// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <hcpnet/text/codes.hpp>
#include <hcpnet/text/limits.hpp>
#include <hcpnet/text/value.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::text {

/// Thrown inside this module where reading a file ends; parse_yaml and parse_json turn it into the last problem.
struct Stop {
  Diagnostic problem;
};

/// The text of one file and where its lines begin.
class Source {
 public:
  Source(std::string_view file, std::string_view text);

  /// Throws Stop unless the text is UTF-8 of printable characters, TAB, LF and CR, within the limit. `yaml` also
  /// refuses the characters that end a line in YAML 1.1 only (NEL, LS, PS).
  void check(const LoadLimits& limits, bool yaml) const;

  /// Without the byte order mark.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  /// Of the byte at `offset`, or of the end. Costs the distance from the position that was asked for before.
  [[nodiscard]] Position position(std::size_t offset) const;
  [[nodiscard]] Diagnostic problem(std::string_view code, Position position, std::string path,
                                   std::string message) const;
  [[noreturn]] void stop(std::string_view code, std::size_t offset, std::string message) const;

 private:
  std::string file_;
  std::string_view text_;
  std::vector<std::size_t> line_starts_{0};
  mutable std::size_t last_offset_ =
      0;  ///< a character's first byte, in the line last_line_, which it is last_column_ characters into
  mutable std::size_t last_line_ = 0;
  mutable std::size_t last_column_ = 0;
};

}  // namespace hcpnet::text
