// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace hcpnet::dhcp {

struct IscToken {
  enum class Kind : std::uint8_t {
    end,
    word,
    string,  ///< `text` without quotes, escapes resolved: any bytes
    mark,    ///< one of { } ; , = ( )
    bad,     ///< `text` says what is wrong; reading is over
  };
  Kind kind = Kind::end;
  std::string text;
  std::uint32_t line = 0;
};

/// The words of dhcpd.conf(5) and dhcpd.leases(5). "#" begins a comment.
class IscLexer {
 public:
  static constexpr std::size_t kMaxTokenBytes = 64 * 1024;

  explicit IscLexer(std::string_view text) : rest_(text) {}
  /// After the end, and after something bad, only Kind::end comes.
  IscToken next();
  [[nodiscard]] std::uint32_t line() const noexcept { return line_; }

 private:
  void skip_space();
  IscToken read_string();
  IscToken bad(std::uint32_t line, const char* why);
  bool read_escape(std::string& out);

  std::string_view rest_;
  std::uint32_t line_ = 1;
};

}  // namespace hcpnet::dhcp
