// SPDX-License-Identifier: Apache-2.0
#include "dhcp/isc_lexer.hpp"

#include <algorithm>
#include <charconv>

namespace hcpnet::dhcp {
namespace {

constexpr std::string_view kMarks = "{};,=()";
constexpr std::string_view kEndOfWord = "{};,=()\"# \t\r\n";

bool is_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

void IscLexer::skip_space() {
  while (!rest_.empty()) {
    if (rest_.front() == '#') {
      rest_.remove_prefix(std::min(rest_.size(), rest_.find('\n')));
      continue;
    }
    if (!is_space(rest_.front())) return;
    if (rest_.front() == '\n') ++line_;
    rest_.remove_prefix(1);
  }
}

IscToken IscLexer::bad(std::uint32_t line, const char* why) {
  rest_ = {};
  return {IscToken::Kind::bad, why, line};
}

IscToken IscLexer::next() {
  skip_space();
  if (rest_.empty()) return {IscToken::Kind::end, {}, line_};
  if (rest_.front() == '"') return read_string();
  const bool is_mark = kMarks.find(rest_.front()) != std::string_view::npos;
  const std::size_t size = is_mark ? 1 : std::min(rest_.size(), rest_.find_first_of(kEndOfWord));
  if (size > kMaxTokenBytes) return bad(line_, "a word has more than 65536 bytes");
  IscToken token{is_mark ? IscToken::Kind::mark : IscToken::Kind::word, std::string(rest_.substr(0, size)), line_};
  rest_.remove_prefix(size);
  return token;
}

IscToken IscLexer::read_string() {
  IscToken token{IscToken::Kind::string, {}, line_};
  rest_.remove_prefix(1);
  while (!rest_.empty() && rest_.front() != '"' && rest_.front() != '\n') {
    if (token.text.size() == kMaxTokenBytes) return bad(token.line, "a string has more than 65536 bytes");
    if (rest_.front() == '\\') {
      if (!read_escape(token.text)) return bad(token.line, "a string has an escape that is none");
    } else {
      token.text += rest_.front();
      rest_.remove_prefix(1);
    }
  }
  if (rest_.empty() || rest_.front() == '\n') return bad(token.line, "a string does not end in its line");
  rest_.remove_prefix(1);
  return token;
}

/// \ooo with up to three octal digits, \xHH, \t, \r, \n, \b, and any other character for itself.
bool IscLexer::read_escape(std::string& out) {
  rest_.remove_prefix(1);
  if (rest_.empty()) return false;
  const char c = rest_.front();
  const bool is_octal = c >= '0' && c <= '7';
  if (!is_octal && c != 'x') {
    static constexpr std::string_view kNames = "trnb", kMeanings = "\t\r\n\b";
    const std::size_t name = kNames.find(c);
    if (c == '\n') return false;
    out += name == std::string_view::npos ? c : kMeanings[name];
    rest_.remove_prefix(1);
    return true;
  }
  if (!is_octal) rest_.remove_prefix(1);
  const std::string_view digits = rest_.substr(0, is_octal ? 3 : 2);
  std::uint16_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, is_octal ? 8 : 16);
  if (error != std::errc() || value > 0xFF) return false;
  out += static_cast<char>(value);
  rest_.remove_prefix(static_cast<std::size_t>(end - digits.data()));
  return true;
}

}  // namespace hcpnet::dhcp
