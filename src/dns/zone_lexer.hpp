// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::dns {

/// A word or a quoted string of a zone file; its escapes are still in it.
struct ZoneToken {
  std::string_view text;  ///< without the quotes
  bool is_quoted = false;
  std::uint32_t line = 1, column = 1;
};

/// One line of a zone file, or several that parentheses join.
struct ZoneEntry {
  std::vector<ZoneToken> tokens;
  bool begins_blank = false;  ///< the owner is that of the entry before
  std::uint32_t line = 1;
  /// What is wrong with how it is written, and where; the tokens are then of no use.
  struct Problem {
    std::uint32_t line = 1, column = 1;
    const char* message = "";
  };
  std::optional<Problem> problem;
};

/// Cuts the text of a zone file into entries (RFC 1035 section 5.1). After a mistake it goes on at the next line. The
/// text must outlive the tokens.
class ZoneLexer {
 public:
  ZoneLexer(std::string_view text, std::size_t max_entry_bytes) noexcept
      : text_(text), max_entry_bytes_(max_entry_bytes) {}

  /// The next entry with something in it; false at the end.
  [[nodiscard]] bool next(ZoneEntry& entry);

 private:
  [[nodiscard]] bool at_end() const noexcept { return at_ == text_.size(); }
  [[nodiscard]] bool is_at_line_end() const noexcept {
    const std::string_view rest = text_.substr(at_);
    return rest.starts_with('\n') || rest.starts_with("\r\n");
  }
  void read_entry(ZoneEntry& entry);
  void read_word(ZoneEntry& entry);
  void read_quoted(ZoneEntry& entry);
  void skip_comment() noexcept;
  void skip_line() noexcept;
  void new_line() noexcept;
  [[nodiscard]] std::uint32_t column() const noexcept { return static_cast<std::uint32_t>(at_ - line_start_ + 1); }
  void fail(ZoneEntry& entry, const char* message) const;

  std::string_view text_;
  std::size_t max_entry_bytes_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  unsigned open_ = 0;  ///< parentheses
};

/// The bytes that a token stands for; nullopt for an escape that is none.
[[nodiscard]] std::optional<std::string> unescaped(std::string_view text);

}  // namespace hcpnet::dns
