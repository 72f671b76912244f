// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Texts that are made of lines: haproxy.cfg, units, drop-ins, environment files, scripts, and the tags of XML.
namespace hcpnet::lint {

struct Line {
  std::uint32_t number = 0;  ///< from 1; of a joined line its first
  std::string text;
};
/// Without their ends. With `joins` a line that ends in a backslash goes on in the next one.
[[nodiscard]] std::vector<Line> lines_of(std::string_view text, bool joins = false);

[[nodiscard]] std::string_view trimmed(std::string_view text);
/// Words between blanks; a quote of either kind holds a word together and is dropped.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);
/// The value of "--name=VALUE" or "--name VALUE" among words; "" for a flag without one.
[[nodiscard]] std::optional<std::string> flag(const std::vector<std::string>& words, std::string_view name);

/// "[section]", and "key = value" below it: systemd.syntax(7), and TOML as far as CRI-O's drop-ins go.
struct Setting {
  std::uint32_t line = 0;
  std::string section, key, value;  ///< the value without the quotes around it
};
[[nodiscard]] std::vector<Setting> settings_of(std::string_view text);
[[nodiscard]] const Setting* find(const std::vector<Setting>& settings, std::string_view section, std::string_view key);

/// A section of a haproxy.cfg, with its directives as words.
struct HaproxySection {
  struct Directive {
    std::uint32_t line = 0;
    std::vector<std::string> words;
  };
  std::uint32_t line = 0;
  std::string kind;  ///< "frontend"
  std::string name;
  std::vector<Directive> directives;

  /// The first directive that begins with these words, or nullptr.
  [[nodiscard]] const Directive* find(std::string_view first, std::string_view second = {}) const;
};
[[nodiscard]] std::vector<HaproxySection> haproxy_sections(std::string_view text);

struct Tag {
  std::uint32_t line = 0;
  std::string name;  ///< "/name" for an end
  std::vector<std::pair<std::string, std::string>> attributes;
  [[nodiscard]] std::string attribute(std::string_view key) const;
};
/// The tags of an XML text, comments left out. What is no tag is passed over.
[[nodiscard]] std::vector<Tag> tags_of(std::string_view text);

}  // namespace hcpnet::lint
