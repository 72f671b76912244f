// SPDX-License-Identifier: Apache-2.0
#include "dns/zone_lexer.hpp"

namespace hcpnet::dns {
namespace {

bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\r';
}

bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

bool ends_word(char c) noexcept {
  return is_blank(c) || c == '\n' || c == ';' || c == '(' || c == ')' || c == '"';
}

}  // namespace

bool ZoneLexer::next(ZoneEntry& entry) {
  while (!at_end()) {
    entry.tokens.clear();  // its memory serves the next entry
    entry.problem.reset();
    entry.begins_blank = is_blank(text_[at_]);
    entry.line = line_;
    read_entry(entry);
    if (entry.problem) skip_line();
    open_ = 0;
    if (entry.problem || !entry.tokens.empty()) return true;
  }
  return false;
}

// entry = *( word | quoted | "(" | ")" | comment | line end inside parentheses ) line end
void ZoneLexer::read_entry(ZoneEntry& entry) {
  const std::size_t start = at_;
  ZoneEntry::Problem open_place;
  while (!at_end() && !entry.problem) {
    const char c = text_[at_];
    if (at_ - start > max_entry_bytes_)
      return fail(entry, "the entry is too long; perhaps a parenthesis is not closed");
    if (c == '\n') {
      new_line();
      if (open_ == 0) return;
    } else if (is_blank(c)) {
      ++at_;
    } else if (c == ';') {
      skip_comment();
    } else if (c == '(') {
      if (open_++ == 0) open_place = {line_, column(), "a parenthesis is not closed"};
      ++at_;
    } else if (c == ')') {
      if (open_ == 0) return fail(entry, "this parenthesis was never opened");
      --open_;
      ++at_;
    } else if (c == '"') {
      read_quoted(entry);
    } else {
      read_word(entry);
    }
  }
  if (!entry.problem && open_ > 0) entry.problem = open_place;
}

void ZoneLexer::read_word(ZoneEntry& entry) {
  ZoneToken token{{}, false, line_, column()};
  const std::size_t start = at_;
  while (!at_end() && !ends_word(text_[at_])) {
    if (is_control(text_[at_])) return fail(entry, "a control character");
    // What follows a backslash belongs to the word, whatever it is.
    if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    ++at_;
  }
  token.text = text_.substr(start, at_ - start);
  entry.tokens.push_back(token);
}

void ZoneLexer::read_quoted(ZoneEntry& entry) {
  ZoneToken token{{}, true, line_, column()};
  const std::size_t start = ++at_;
  while (!at_end() && text_[at_] != '"' && !is_at_line_end()) {
    // A tab is as good as a blank here.
    if (is_control(text_[at_]) && text_[at_] != '\t') return fail(entry, "a control character");
    if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    ++at_;
  }
  if (at_end() || text_[at_] != '"') {
    entry.problem = ZoneEntry::Problem{token.line, token.column, "this quote is not closed on its line"};
    return;
  }
  token.text = text_.substr(start, at_ - start);
  ++at_;
  entry.tokens.push_back(token);
}

void ZoneLexer::skip_comment() noexcept {
  while (!at_end() && text_[at_] != '\n') ++at_;
}

void ZoneLexer::skip_line() noexcept {
  skip_comment();
  if (!at_end()) new_line();
}

void ZoneLexer::new_line() noexcept {
  line_start_ = ++at_;
  ++line_;
}

void ZoneLexer::fail(ZoneEntry& entry, const char* message) const {
  entry.problem = ZoneEntry::Problem{line_, column(), message};
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    if (text[i] < '0' || text[i] > '9') {
      bytes += text[i];
      continue;
    }
    int value = 0;
    if (text.size() - i < 3) return std::nullopt;
    for (const char digit : text.substr(i, 3)) {
      if (digit < '0' || digit > '9') return std::nullopt;
      value = value * 10 + (digit - '0');
    }
    if (value > 255) return std::nullopt;
    bytes += static_cast<char>(value);
    i += 2;
  }
  return bytes;
}

}  // namespace hcpnet::dns
