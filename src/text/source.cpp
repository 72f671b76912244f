// SPDX-License-Identifier: Apache-2.0
#include "text/source.hpp"
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "text/byte_order_mark.hpp"

namespace hcpnet::text {
namespace {

bool is_continuation(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

struct Character {
  std::uint32_t code_point = 0;
  std::size_t bytes = 0;  ///< 0 when this is no UTF-8
};

// RFC 3629 section 4: no overlong form, no surrogate, nothing beyond U+10FFFF.
Character decode(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t value = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!is_continuation(text[i])) return {};
    value = value << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[bytes] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {value, bytes};
}

bool is_printable(std::uint32_t c, bool yaml) noexcept {
  if (c < 0x20) return c == '\t' || c == '\n' || c == '\r';
  if (c == 0x7F || c == 0xFFFE || c == 0xFFFF || (c >= 0x80 && c < 0xA0)) return false;
  return !(yaml && (c == 0x2028 || c == 0x2029));
}

/// Either byte order. Without a byte order mark two characters tell it that are ASCII, as every file of ours begins.
bool is_utf16(std::string_view text) noexcept {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return true;
  if (text.size() < 4) return false;
  const auto is_pair = [](char zero, char ascii) { return zero == 0 && ascii > 0; };
  return (is_pair(text[0], text[1]) && is_pair(text[2], text[3])) ||
         (is_pair(text[1], text[0]) && is_pair(text[3], text[2]));
}

std::string name_of(std::uint32_t code_point) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "U+%04X", static_cast<unsigned>(code_point));
  return text.data();
}

}  // namespace

Source::Source(std::string_view file, std::string_view text) : file_(file), text_(without_byte_order_mark(text)) {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const bool carriage_return = text_[i] == '\r' && (i + 1 == text_.size() || text_[i + 1] != '\n');
    if (text_[i] == '\n' || carriage_return) line_starts_.push_back(i + 1);
  }
}

void Source::check(const LoadLimits& limits, bool yaml) const {
  if (text_.size() > limits.max_file_bytes)
    throw Stop{problem(code::file_limit, {1, 1}, "",
                       "the file is larger than " + std::to_string(limits.max_file_bytes) + " bytes")};
  if (is_utf16(text_)) stop(code::bad_encoding, 0, "this is UTF-16, and UTF-8 is needed");
  for (std::size_t i = 0; i < text_.size();) {
    const Character c = decode(text_.substr(i));
    if (c.bytes == 0) stop(code::bad_encoding, i, "this is not UTF-8 text");
    if (c.code_point == '\r' && !text_.substr(i + 1).starts_with('\n'))
      stop(code::bad_character, i, "a carriage return without a line feed ends a line for some readers only");
    if (!is_printable(c.code_point, yaml))
      stop(code::bad_character, i, "the control character " + name_of(c.code_point) + " has no place in a text");
    i += c.bytes;
  }
}

Position Source::position(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const std::size_t line =
      static_cast<std::size_t>(std::ranges::upper_bound(line_starts_, offset) - line_starts_.begin()) - 1;
  if (line != last_line_) {
    last_line_ = line;
    last_offset_ = line_starts_[line];
    last_column_ = 0;
  }
  // A column moves with every byte that begins a character.
  for (; last_offset_ < offset; ++last_offset_) last_column_ += is_continuation(text_[last_offset_]) ? 0 : 1;
  for (; last_offset_ > offset; --last_offset_) last_column_ -= is_continuation(text_[last_offset_ - 1]) ? 0 : 1;
  return {static_cast<std::uint32_t>(line + 1), static_cast<std::uint32_t>(last_column_ + 1)};
}

Diagnostic Source::problem(std::string_view code, Position position, std::string path, std::string message) const {
  return {.severity = Severity::error,
          .file = file_,
          .line = position.line,
          .column = position.column,
          .path = std::move(path),
          .code = std::string(code),
          .message = std::move(message),
          .found = {},
          .expected = {}};
}

void Source::stop(std::string_view code, std::size_t offset, std::string message) const {
  throw Stop{problem(code, position(offset), "", std::move(message))};
}

}  // namespace hcpnet::text
