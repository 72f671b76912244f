// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace hcpnet::text {

/// The text behind the UTF-8 byte order mark that some editors begin a file with.
[[nodiscard]] constexpr std::string_view without_byte_order_mark(std::string_view text) noexcept {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

}  // namespace hcpnet::text
