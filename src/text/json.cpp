// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <hcpnet/text/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "text/source.hpp"
#include "text/tree_builder.hpp"

namespace hcpnet::text {
namespace {

void append_utf8(std::string& text, std::uint32_t c) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    text += static_cast<char>(0xE0 | c >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

/// RFC 8259, one function per rule of its grammar. Depth is bounded by the tree's limit, so recursion is too.
class JsonParser {
 public:
  JsonParser(const Source& source, const LoadLimits& limits, Diagnostics& problems)
      : source_(source), text_(source.text()), tree_(source, limits, problems) {}

  Value document() {
    skip_blanks();
    value();
    skip_blanks();
    if (at_ < text_.size()) fail("something follows the end of the document");
    return tree_.take();
  }

 private:
  [[noreturn]] void fail(const char* message) const { source_.stop(code::json_syntax, at_, message); }
  [[nodiscard]] char peek() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  bool take(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  void value() {
    switch (peek()) {
      case '{':
        return object();
      case '[':
        return array();
      case '"':
        return string();
      default:
        break;
    }
    if (peek() == '-' || is_digit(peek())) return number();
    word();
  }

  // object = "{" [ member *( "," member ) ] "}"      member = string ":" value
  void object() {
    tree_.begin(ValueType::map, at_++);
    skip_blanks();
    if (!take('}')) {
      do {
        skip_blanks();
        if (peek() != '"') fail("a member begins with its name in double quotes");
        string();
        skip_blanks();
        if (!take(':')) fail("a colon is missing here");
        skip_blanks();
        value();
        skip_blanks();
      } while (take(','));
      if (!take('}')) fail("a comma or the closing brace is missing here");
    }
    tree_.end();
  }

  // array = "[" [ value *( "," value ) ] "]"
  void array() {
    tree_.begin(ValueType::list, at_++);
    skip_blanks();
    if (!take(']')) {
      do {
        skip_blanks();
        value();
        skip_blanks();
      } while (take(','));
      if (!take(']')) fail("a comma or the closing bracket is missing here");
    }
    tree_.end();
  }

  void string() {
    const std::size_t begin = at_++;
    Value result;
    result.type = ValueType::string;
    while (!take('"')) {
      if (at_ >= text_.size()) source_.stop(code::json_syntax, begin, "the quote that opens here is never closed");
      const char c = text_[at_++];
      if (static_cast<unsigned char>(c) < 0x20) {
        --at_;
        fail("a control character in a string is written as an escape");
      }
      if (c == '\\')
        escape(result.text);
      else
        result.text += c;
    }
    tree_.scalar(std::move(result), begin);
  }

  void escape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const std::size_t known = at_ < text_.size() ? kNames.find(text_[at_]) : std::string_view::npos;
    if (known != std::string_view::npos) {
      out += kMeanings[known];
      ++at_;
    } else if (take('u')) {
      append_utf8(out, unicode());
    } else {
      fail("there is no such escape");
    }
  }

  // Section 7: a character beyond the basic plane is two escapes, a surrogate pair; half of one is no character.
  std::uint32_t unicode() {
    const std::uint32_t first = hex4();
    if (first < 0xD800 || first > 0xDFFF) return first;
    if (first > 0xDBFF || !take('\\') || !take('u')) fail("half of a surrogate pair is no character");
    const std::uint32_t second = hex4();
    if (second < 0xDC00 || second > 0xDFFF) fail("half of a surrogate pair is no character");
    return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
  }
  std::uint32_t hex4() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = peek();
      const bool letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      if (!letter && !is_digit(c)) fail("four hexadecimal digits are needed");
      value = value << 4 | static_cast<std::uint32_t>(letter ? (c | 0x20) - 'a' + 10 : c - '0');
      ++at_;
    }
    return value;
  }

  // number = [ "-" ] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ e [ "-" / "+" ] 1*digit ]
  void number() {
    const std::size_t begin = at_;
    Value result;
    result.type = ValueType::integer;
    take('-');
    if (!take('0')) digits();
    if (take('.')) {
      digits();
      result.type = ValueType::floating;
    }
    if (take('e') || take('E')) {
      if (!take('-')) take('+');
      digits();
      result.type = ValueType::floating;
    }
    result.text = text_.substr(begin, at_ - begin);
    tree_.scalar(std::move(result), begin);
  }
  void digits() {
    if (!is_digit(peek())) fail("a digit is needed here");
    while (is_digit(peek())) ++at_;
  }
  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

  void word() {
    Value result;
    const std::string_view rest = text_.substr(at_);
    for (const std::string_view name : {"true", "false", "null"}) {
      if (!rest.starts_with(name)) continue;
      result.type = name == "null" ? ValueType::null : ValueType::boolean;
      result.flag = name == "true";
      result.text = name;
    }
    if (result.text.empty()) fail(rest.empty() ? "the text ends where a value is needed" : "this is no JSON value");
    const std::size_t begin = std::exchange(at_, at_ + result.text.size());
    tree_.scalar(std::move(result), begin);
  }

  const Source& source_;
  std::string_view text_;
  std::size_t at_ = 0;
  TreeBuilder tree_;
};

}  // namespace

Parsed parse_json(std::string_view file, std::string_view text, const LoadLimits& limits) {
  Parsed parsed{{}, Diagnostics(limits.max_errors), false};
  const Source source(file, text);
  try {
    source.check(limits, false);
    if (source.text().find_first_not_of(" \t\r\n") == std::string_view::npos) {
      parsed.complete = true;  // empty: no document, as in YAML
      return parsed;
    }
    parsed.documents.push_back(JsonParser(source, limits, parsed.problems).document());
    parsed.complete = true;
  } catch (const Stop& stop) {
    parsed.documents.clear();
    parsed.problems = Diagnostics(limits.max_errors);
    parsed.problems.add(stop.problem);
  }
  return parsed;
}

}  // namespace hcpnet::text
