// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <hcpnet/text/yaml.hpp>
#include <string>

namespace hcpnet::text {
namespace {

// A pattern matcher small enough to show the grammars as they are written in the two specifications: takes what fits
// from the front.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}
  bool take(std::string_view any_of) {
    if (rest_.empty() || any_of.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::size_t take_all(std::string_view any_of) {
    const std::size_t count = std::min(rest_.find_first_not_of(any_of), rest_.size());
    rest_.remove_prefix(count);
    return count;
  }
  bool take_word(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, text) != words.end();
}

bool is_null(std::string_view text) {
  return is_one_of<5>(text, {"", "~", "null", "Null", "NULL"});
}
bool is_true_or_false(std::string_view text) {
  return is_one_of<6>(text, {"true", "True", "TRUE", "false", "False", "FALSE"});
}
// https://yaml.org/type/bool.html
bool is_old_boolean(std::string_view text) {
  return is_one_of<16>(
      text, {"y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF"});
}
bool is_infinity_or_nan(std::string_view text) {
  if (is_one_of<3>(text, {".nan", ".NaN", ".NAN"})) return true;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return is_one_of<3>(text, {".inf", ".Inf", ".INF"});
}

// [-+]?[0-9]+ | 0o[0-7]+ | 0x[0-9a-fA-F]+
bool is_core_integer(std::string_view text) {
  Cursor c(text);
  if (c.take_word("0o")) return c.take_all("01234567") > 0 && c.at_end();
  if (c.take_word("0x")) return c.take_all(kHexDigits) > 0 && c.at_end();
  c.take("-+");
  return c.take_all(kDigits) > 0 && c.at_end();
}

// [-+]? ( \.[0-9]+ | [0-9]+ (\.[0-9]*)? ) ( [eE] [-+]? [0-9]+ )?
bool is_core_float(std::string_view text) {
  Cursor c(text);
  c.take("-+");
  const std::size_t whole = c.take_all(kDigits);
  const std::size_t part = c.take(".") ? c.take_all(kDigits) : 0;
  if (whole + part == 0) return false;
  if (c.take("eE")) {
    c.take("-+");
    if (c.take_all(kDigits) == 0) return false;
  }
  return c.at_end();
}

// [1-9][0-9_]* (:[0-5]?[0-9])+, and for a float one more \.[0-9_]*
bool is_sexagesimal(Cursor c, bool is_float) {
  if (!c.take(is_float ? kDigits : "123456789")) return false;
  c.take_all("0123456789_");
  std::size_t groups = 0;
  while (c.take(":")) {
    const bool tens = c.take("012345");
    if (!c.take(kDigits) && !tens) {
      if (!c.take("6789")) return false;
    }
    ++groups;
  }
  if (groups == 0) return false;
  if (is_float) {
    if (!c.take(".")) return false;
    c.take_all("0123456789_");
  }
  return c.at_end();
}

enum class OldNumber { none, decimal, other_base };

// [-+]? ( 0b[0-1_]+ | 0[0-7_]+ | 0 | [1-9][0-9_]* | 0x[0-9a-fA-F_]+ | sexagesimal )
OldNumber old_integer(std::string_view text) {
  const bool is_signed = !text.empty() && (text.front() == '-' || text.front() == '+');
  const std::string_view digits = text.substr(is_signed ? 1 : 0);
  if (is_sexagesimal(Cursor(digits), false)) return OldNumber::other_base;
  if (digits == "0") return OldNumber::decimal;
  Cursor c(digits);
  if (c.take_word("0b")) return c.take_all("01_") > 0 && c.at_end() ? OldNumber::other_base : OldNumber::none;
  if (c.take_word("0x")) {
    if (c.take_all("0123456789abcdefABCDEF_") == 0 || !c.at_end()) return OldNumber::none;
    // Without a sign or underscores both versions read the same number.
    return is_core_integer(text) ? OldNumber::decimal : OldNumber::other_base;
  }
  if (c.take("0")) return c.take_all("01234567_") > 0 && c.at_end() ? OldNumber::other_base : OldNumber::none;
  if (!c.take("123456789")) return OldNumber::none;
  c.take_all("0123456789_");
  return c.at_end() ? OldNumber::decimal : OldNumber::none;
}

// [-+]? ( [0-9][0-9_]* \.[0-9_]* | \.[0-9_]+ ) ( [eE][-+][0-9]+ )?, or sexagesimal
bool is_old_float(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  if (is_sexagesimal(Cursor(text), true)) return true;
  Cursor c(text);
  const bool whole = c.take(kDigits);
  if (whole) c.take_all("0123456789_");
  if (!c.take(".")) return false;
  if (c.take_all("0123456789_") == 0 && !whole) return false;
  if (c.take("eE") && (!c.take("-+") || c.take_all(kDigits) == 0)) return false;
  return c.at_end();
}

// What Go makes a number of, which is kubectl: underscores count for nothing, a base is a letter of either case, also
// behind a sign, and else the core schema's float. May take a few texts of underscores that are none.
bool is_go_number(std::string_view text) {
  Cursor c(text);
  const bool is_signed = c.take("-+");
  if (!is_signed && (text.empty() || kDigits.find(text.front()) == std::string_view::npos)) return false;
  c.take_all("_");
  if (Cursor based = c; based.take("0")) {
    based.take_all("_");
    const std::string_view digits = based.take("xX")   ? "0123456789abcdefABCDEF_"
                                    : based.take("oO") ? "01234567_"
                                    : based.take("bB") ? "01_"
                                                       : "";
    if (!digits.empty()) return based.take_all(digits) > 0 && based.at_end();
  }
  std::size_t count = c.take_all("0123456789_");
  if (c.take(".")) count += c.take_all("0123456789_");
  if (count == 0) return false;
  if (c.take("eE")) {
    c.take_all("_");
    c.take("-+");
    if (c.take_all("0123456789_") == 0) return false;
  }
  return c.at_end();
}

// YYYY-M-D, alone or with a time behind it: https://yaml.org/type/timestamp.html. A string in YAML 1.2.
bool is_old_timestamp(std::string_view text) {
  Cursor c(text);
  if (c.take_all(kDigits) != 4 || !c.take("-")) return false;
  const std::size_t month = c.take_all(kDigits);
  if (!c.take("-")) return false;
  const std::size_t day = c.take_all(kDigits);
  return month > 0 && month <= 2 && day > 0 && day <= 2 && (c.at_end() || c.take("Tt \t"));
}

}  // namespace

ValueType classify_plain_scalar(std::string_view text) noexcept {
  if (is_null(text)) return ValueType::null;
  if (is_true_or_false(text)) return ValueType::boolean;
  if (is_infinity_or_nan(text)) return ValueType::floating;
  if (is_old_boolean(text) || text == "<<" || text == "=" || is_old_timestamp(text)) return ValueType::ambiguous;

  const bool integer = is_core_integer(text);
  const OldNumber old = old_integer(text);
  if (integer && old == OldNumber::decimal) return ValueType::integer;
  if (integer || old != OldNumber::none) return ValueType::ambiguous;

  const bool floating = is_core_float(text);
  if (floating != is_old_float(text)) return ValueType::ambiguous;
  if (floating) return ValueType::floating;
  return is_go_number(text) ? ValueType::ambiguous : ValueType::string;
}

}  // namespace hcpnet::text
