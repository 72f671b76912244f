// SPDX-License-Identifier: Apache-2.0
#include "dhcp/lease_csv.hpp"

#include <algorithm>
#include <charconv>

namespace hcpnet::dhcp {
namespace {

constexpr std::size_t kMaxColumns = 64;
constexpr std::string_view kEscape = "&#x";
constexpr std::size_t kEscapeBytes = 5;

}  // namespace

std::optional<std::size_t> LeaseCsv::find_column(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

/// More fields than any file has are only counted.
void LeaseCsv::split(std::string_view line, std::vector<std::string_view>& fields) const {
  fields.clear();
  while (true) {
    const std::string_view field = line.substr(0, line.find(','));
    if (fields.size() <= kMaxColumns) fields.push_back(field);
    if (field.size() == line.size()) return;
    line.remove_prefix(field.size() + 1);
  }
}

bool LeaseCsv::read_header(std::span<const std::string_view> required) {
  line_ = 1;
  if (rest_.empty()) {
    out_.error(1, "lease-syntax", "the file is empty: its first line has to name the columns");
    return false;
  }
  const std::string_view header = take_line(rest_);
  split(header, columns_);
  for (const std::string_view name : required) {
    if (has_column(name)) continue;
    out_.error(1, "lease-syntax", "the first line names no column " + std::string(name), header);
    return false;
  }
  auto sorted = columns_;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice == sorted.end() && columns_.size() <= kMaxColumns) return true;
  out_.error(1, "lease-syntax", twice == sorted.end() ? "too many columns" : "a column is named twice",
             twice == sorted.end() ? header : *twice);
  return false;
}

bool LeaseCsv::next() {
  while (!rest_.empty() && !out_.is_full()) {
    ++line_;
    const std::string_view line = take_line(rest_);
    if (line.empty()) continue;
    split(line, fields_);
    if (fields_.size() == columns_.size()) return true;
    out_.error(line_, "lease-syntax",
               std::to_string(fields_.size()) + " fields, but the first line names " + std::to_string(columns_.size()) +
                   " columns",
               line);
  }
  return false;
}

std::string_view LeaseCsv::field(std::string_view name) const {
  const auto column = find_column(name);
  return column ? fields_[*column] : std::string_view();
}

std::string escape_csv(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && c != ',' && c != '&')
      out += c;
    else
      out.append(kEscape).append({kDigits[byte >> 4], kDigits[byte & 15]});
  }
  return out;
}

std::string unescape_csv(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view plain = text.substr(0, text.find(kEscape));
    out += plain;
    text.remove_prefix(plain.size());
    if (text.empty()) break;
    const std::string_view digits = text.substr(kEscape.size(), 2);
    std::uint8_t byte = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    const bool is_escape = digits.size() == 2 && error == std::errc() && end == digits.data() + 2;
    if (is_escape) {
      out += static_cast<char>(byte);
    } else {
      out += text.front();
    }
    text.remove_prefix(is_escape ? kEscapeBytes : 1);
  }
  return out;
}

}  // namespace hcpnet::dhcp
