// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dhcp/lease_file_reader.hpp"

namespace hcpnet::dhcp {

/// One lease per line, fields between commas, the first line names the columns, in any order. A comma inside a field is
/// "&#x2c", as Kea writes it.
class LeaseCsv {
 public:
  LeaseCsv(std::string_view text, LeaseListBuilder& out) : rest_(text), out_(out) {}

  /// The first line. False, and an error: there is none, a column is there twice, or one of `required` is missing.
  bool read_header(std::span<const std::string_view> required);
  [[nodiscard]] bool has_column(std::string_view name) const { return find_column(name).has_value(); }
  /// False at the end, or where a limit was passed. A line with another number of fields than the first is an error.
  bool next();
  [[nodiscard]] std::uint32_t line() const noexcept { return line_; }
  /// Empty where there is no such column.
  [[nodiscard]] std::string_view field(std::string_view name) const;

 private:
  [[nodiscard]] std::optional<std::size_t> find_column(std::string_view name) const;
  void split(std::string_view line, std::vector<std::string_view>& fields) const;

  std::string_view rest_;
  LeaseListBuilder& out_;
  std::vector<std::string_view> columns_;
  std::vector<std::string_view> fields_;
  std::uint32_t line_ = 0;
};

/// Text with what is no plain character as "&#x" and two hexadecimal digits, and back. What is no such sequence stays.
[[nodiscard]] std::string escape_csv(std::string_view text);
[[nodiscard]] std::string unescape_csv(std::string_view text);

}  // namespace hcpnet::dhcp
