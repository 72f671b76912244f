// SPDX-License-Identifier: Apache-2.0
#include "lint/lines.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hcpnet::lint {
namespace {

constexpr std::string_view kBlanks = " \t\r";

/// Without the quotes around it, if it has them.
std::string_view unquoted(std::string_view text) {
  const bool has_quotes =
      text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return has_quotes ? text.substr(1, text.size() - 2) : text;
}

/// Sections of HAProxy's configuration manual, chapters 2.1, 3 and 4.
bool is_haproxy_section(std::string_view word) {
  static constexpr std::array<std::string_view, 14> kSections{
      "backend",     "cache",  "crt-store",   "defaults", "fcgi-app", "frontend",  "global",
      "http-errors", "listen", "log-forward", "mailers",  "peers",    "resolvers", "userlist"};
  return std::ranges::find(kSections, word) != kSections.end();
}

/// Reads attributes from `at` up to the end of the tag; returns where that is.
std::size_t read_attributes(std::string_view text, std::size_t at, Tag& tag) {
  while (at < text.size() && text[at] != '>') {
    const std::size_t equals = text.find_first_of("=>", at);
    if (equals == std::string_view::npos || text[equals] == '>') return std::min(equals, text.size());
    const std::size_t open = text.find_first_not_of(" \t\r\n", equals + 1);
    if (open == std::string_view::npos || (text[open] != '"' && text[open] != '\''))
      return open == std::string_view::npos ? text.size() : open;
    const std::size_t close = text.find(text[open], open + 1);
    if (close == std::string_view::npos) return text.size();
    std::string_view name = text.substr(at, equals - at);
    while (!name.empty() && (name.front() == '\n' || kBlanks.find(name.front()) != std::string_view::npos))
      name.remove_prefix(1);
    tag.attributes.emplace_back(trimmed(name), text.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return at;
}

}  // namespace

std::vector<Line> lines_of(std::string_view text, bool joins) {
  std::vector<Line> lines;
  bool goes_on = false;
  std::uint32_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool has_more = joins && line.ends_with('\\');
    if (has_more) line.remove_suffix(1);
    if (goes_on)
      (lines.back().text += ' ') += line;
    else
      lines.push_back({number, std::string(line)});
    goes_on = has_more;
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        words.back() += c;
      continue;
    }
    const bool is_blank = c == '\n' || kBlanks.find(c) != std::string_view::npos;
    if (!is_blank && !in_word) words.emplace_back();
    in_word = !is_blank;
    if (c == '"' || c == '\'')
      quote = c;
    else if (!is_blank)
      words.back() += c;
  }
  return words;
}

std::optional<std::string> flag(const std::vector<std::string>& words, std::string_view name) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with(name)) continue;
    if (word.size() > name.size() && word[name.size()] == '=') return std::string(word.substr(name.size() + 1));
    if (word.size() > name.size()) continue;
    const bool has_value = i + 1 < words.size() && !words[i + 1].starts_with('-');
    return has_value ? words[i + 1] : std::string();
  }
  return std::nullopt;
}

std::vector<Setting> settings_of(std::string_view text) {
  std::vector<Setting> settings;
  std::string section;
  for (const Line& line : lines_of(text, true)) {
    const std::string_view content = trimmed(line.text);
    if (content.empty() || content.front() == '#' || content.front() == ';') continue;
    if (content.front() == '[' && content.back() == ']') {
      section = content.substr(1, content.size() - 2);
      continue;
    }
    const std::size_t equals = content.find('=');
    if (equals == std::string_view::npos) continue;
    settings.push_back({line.number, section, std::string(trimmed(content.substr(0, equals))),
                        std::string(unquoted(trimmed(content.substr(equals + 1))))});
  }
  return settings;
}

const Setting* find(const std::vector<Setting>& settings, std::string_view section, std::string_view key) {
  const auto found =
      std::ranges::find_if(settings, [&](const Setting& s) { return s.section == section && s.key == key; });
  return found == settings.end() ? nullptr : &*found;
}

const HaproxySection::Directive* HaproxySection::find(std::string_view first, std::string_view second) const {
  const auto found = std::ranges::find_if(directives, [&](const Directive& directive) {
    return directive.words.front() == first &&
           (second.empty() || (directive.words.size() > 1 && directive.words[1] == second));
  });
  return found == directives.end() ? nullptr : &*found;
}

std::vector<HaproxySection> haproxy_sections(std::string_view text) {
  std::vector<HaproxySection> sections;
  for (const Line& line : lines_of(text)) {
    const std::string_view content = trimmed(line.text);
    if (content.empty() || content.front() == '#') continue;
    std::vector<std::string> words = words_of(content);
    const auto comment = std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('#'); });
    words.erase(comment, words.end());
    if (words.empty()) continue;
    if (is_haproxy_section(words.front()))
      sections.push_back({line.number, words.front(), words.size() > 1 ? words[1] : std::string(), {}});
    else if (!sections.empty())
      sections.back().directives.push_back({line.number, std::move(words)});
  }
  return sections;
}

std::string Tag::attribute(std::string_view key) const {
  const auto found = std::ranges::find_if(attributes, [&](const auto& attribute) { return attribute.first == key; });
  return found == attributes.end() ? std::string() : found->second;
}

std::vector<Tag> tags_of(std::string_view text) {
  std::vector<Tag> tags;
  std::uint32_t line = 1;
  std::size_t counted = 0;
  const auto line_at = [&](std::size_t offset) {
    line += static_cast<std::uint32_t>(std::ranges::count(text.substr(counted, offset - counted), '\n'));
    counted = offset;
    return line;
  };
  for (std::size_t at = text.find('<'); at < text.size(); at = text.find('<', at)) {
    if (text.substr(at).starts_with("<!--")) {
      at = std::min(text.find("-->", at), text.size());
      continue;
    }
    Tag tag;
    tag.line = line_at(at);
    const std::size_t end = std::min(text.find_first_of(" \t\r\n/>", at + 2), text.size());
    tag.name = text.substr(std::min(at + 1, text.size()), end - std::min(at + 1, end));
    at = read_attributes(text, end, tag);
    tags.push_back(std::move(tag));
  }
  return tags;
}

}  // namespace hcpnet::lint
