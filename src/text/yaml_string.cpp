// SPDX-License-Identifier: Apache-2.0
#include "text/yaml_string.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

namespace hcpnet::text {
namespace {

enum class Class : std::uint8_t { safe, colon, hash, blank, tab, newline, escape_prone, control, high };

constexpr std::array<Class, 256> make_classes() {
  std::array<Class, 256> classes{};
  for (std::size_t c = 0; c < 0x20; ++c) classes[c] = Class::control;
  for (std::size_t c = 0x80; c < 0x100; ++c) classes[c] = Class::high;
  classes[0x7F] = Class::control;
  classes['\t'] = Class::tab;
  classes['\n'] = Class::newline;
  classes[' '] = Class::blank;
  classes[':'] = Class::colon;
  classes['#'] = Class::hash;
  classes['"'] = Class::escape_prone;
  classes['\\'] = Class::escape_prone;
  return classes;
}
constexpr std::array<Class, 256> kClasses = make_classes();

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t size_bytes = 0;
};

// RFC 3629: no overlong form, no surrogate, nothing beyond U+10FFFF.
CodePoint decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (size == 0 || size > text.size()) throw std::invalid_argument("text that is not UTF-8 has no form in YAML");
  std::uint32_t value = size == 1 ? lead : lead & (0x7FU >> size);
  bool good = true;
  for (std::size_t i = 1; i < size; ++i) {
    good = good && (byte(i) & 0xC0) == 0x80;
    value = value << 6 | (byte(i) & 0x3FU);
  }
  const bool overlong = (size == 3 && value < 0x800) || (size == 4 && value < 0x10000);
  if (!good || overlong || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
    throw std::invalid_argument("text that is not UTF-8 has no form in YAML");
  return {value, size};
}

// Beyond ASCII: what YAML 1.2 section 5.1 lets stand, less what ends a line in YAML 1.1 only, and the byte order mark.
bool is_printable(std::uint32_t c) {
  return c >= 0xA0 && c != 0x2028 && c != 0x2029 && c != 0xFEFF && c != 0xFFFE && c != 0xFFFF;
}

struct Traits {
  bool has_control = false;
  bool has_newline = false;
  bool has_tab = false;
  bool has_text = false;          ///< anything but line ends
  bool has_escape_prone = false;  ///< a quote or backslash, which double quotes would double
  bool has_indicator = false;     ///< ": " or " #", which would end a plain scalar
  bool blank_ends_line = false;
};

Traits examine(std::string_view text) {
  Traits t;
  const auto ends_word = [&](std::size_t i) {
    return i >= text.size() || text[i] == ' ' || text[i] == '\t' || text[i] == '\n';
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Class c = kClasses[static_cast<unsigned char>(text[i])];
    if (c == Class::safe) continue;
    switch (c) {
      case Class::colon:
        t.has_indicator |= ends_word(i + 1);
        break;
      case Class::hash:
        t.has_indicator |= i > 0 && ends_word(i - 1);
        break;
      case Class::tab:
        t.has_tab = true;
        [[fallthrough]];
      case Class::blank:
        t.blank_ends_line |= i + 1 == text.size() || text[i + 1] == '\n';
        break;
      case Class::newline:
        t.has_newline = true;
        break;
      case Class::escape_prone:
        t.has_escape_prone = true;
        break;
      case Class::high: {
        const CodePoint code = decode_utf8(text.substr(i));
        t.has_control |= !is_printable(code.value);
        i += code.size_bytes - 1;
        break;
      }
      default:
        t.has_control = true;
    }
  }
  t.has_text = text.find_first_not_of('\n') != std::string_view::npos;
  return t;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return lower(c) >= 'a' && lower(c) <= 'z';
}

// Words that some reader takes for null, a boolean, a number, a merge or a default, in any case of letters.
bool is_special_word(std::string_view text) {
  constexpr std::size_t kLongest = 5;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
  if (text.size() > kLongest) return false;
  std::array<char, kLongest> folded{};
  std::ranges::transform(text, folded.begin(), lower);
  constexpr std::array<std::string_view, 14> kWords{"",   "~",   "=",   "<<",   "y",    "n",     "on",
                                                    "no", "off", "yes", "null", "true", "false", ".inf"};
  const std::string_view word(folded.data(), text.size());
  return std::ranges::find(kWords, word) != kWords.end() || word == ".nan";
}

// Wider than any reader's numbers and dates, narrow enough to leave addresses, versions and quantities alone.
bool resembles_number(std::string_view text) {
  const std::size_t sign = text.front() == '+' || text.front() == '-' ? 1 : 0;
  const std::string_view digits = text.substr(sign);
  if (digits.empty()) return true;
  if (!is_digit(digits[0]) && digits[0] != '.' && digits[0] != '_') return false;
  if (digits.size() > 1 && digits[0] == '0' && std::string_view("xob").find(lower(digits[1])) != std::string_view::npos)
    return true;
  const bool date = digits.size() > 5 && std::ranges::all_of(digits.substr(0, 4), is_digit) && digits[4] == '-' &&
                    is_digit(digits[5]);
  return date || (digits.find_first_not_of("0123456789.,_:+-eE") == std::string_view::npos &&
                  std::ranges::count(digits, '.') < 2);
}

// YAML 1.2 section 7.3.3, in a block: what a plain scalar must not begin with.
bool begins_like_syntax(std::string_view text) {
  if (text.front() == '-') return text.size() == 1 || text[1] == ' ' || text.starts_with("---");
  return std::string_view("?:,[]{}#&*!|>'\"%@` ").find(text.front()) != std::string_view::npos ||
         text.starts_with("...");
}

bool is_plain(std::string_view text, const Traits& t) {
  if (!t.has_text || t.has_newline || t.has_tab || t.has_indicator || t.blank_ends_line) return false;
  if (is_special_word(text)) return false;
  // Nearly every text begins with a letter, as no number and no syntax does.
  return is_letter(text.front()) || (!begins_like_syntax(text) && !resembles_number(text));
}

void append_hex(std::string& out, char kind, std::uint32_t value, int digits) {
  out += '\\';
  out += kind;
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += "0123456789abcdef"[value >> shift & 0xF];
}

void append_escaped(std::string& out, std::uint32_t c) {
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      break;
  }
  if (c < 0x100)
    append_hex(out, 'x', c, 2);
  else
    append_hex(out, 'u', c, 4);  // nothing beyond U+FFFF needs an escape
}

void append_double_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Class c = kClasses[static_cast<unsigned char>(text[i])];
    if (c == Class::high) {
      const CodePoint code = decode_utf8(text.substr(i));
      if (is_printable(code.value))
        out.append(text, i, code.size_bytes);
      else
        append_escaped(out, code.value);
      i += code.size_bytes - 1;
    } else if (c == Class::escape_prone) {
      out += '\\';
      out += text[i];
    } else if (c == Class::control || c == Class::tab || c == Class::newline) {
      append_escaped(out, static_cast<unsigned char>(text[i]));
    } else {
      out += text[i];
    }
  }
  out += '"';
}

void append_single_quoted(std::string& out, std::string_view text) {
  out += '\'';
  for (const char c : text) {
    if (c == '\'') out += c;
    out += c;
  }
  out += '\'';
}

}  // namespace

YamlStyle choose_yaml_style(std::string_view text, bool one_line) {
  const Traits t = examine(text);
  if (t.has_control) return YamlStyle::double_quoted;
  if (is_plain(text, t)) return YamlStyle::plain;
  if (t.has_newline)
    return !one_line && t.has_text && !t.blank_ends_line ? YamlStyle::literal : YamlStyle::double_quoted;
  return t.has_escape_prone && !t.has_tab ? YamlStyle::single_quoted : YamlStyle::double_quoted;
}

void append_yaml_string(std::string& out, std::string_view text, YamlStyle style) {
  if (style == YamlStyle::plain)
    out += text;
  else if (style == YamlStyle::single_quoted)
    append_single_quoted(out, text);
  else
    append_double_quoted(out, text);
}

}  // namespace hcpnet::text
