// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace hcpnet::dns {

/// A word of a zone file or a hosts file as a diagnostic shows it: cut, and printable. Other than printable() of
/// log.hpp it leaves backslashes alone: they are escapes of the file itself, and people look for the word as it stands.
[[nodiscard]] inline std::string found_word(std::string_view word) {
  static constexpr std::size_t kMaxBytes = 60;
  std::string shown;
  for (const char c : word.substr(0, kMaxBytes)) shown += c >= 0x20 && c < 0x7f ? c : '?';
  return shown;
}

}  // namespace hcpnet::dns
