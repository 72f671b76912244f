// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace hcpnet::bootstrap {

/// RFC 4648 section 4, with padding, on one line.
[[nodiscard]] std::string base64(std::string_view bytes);
/// What `text` stands for; blanks and line ends in it are passed over. nullopt where it is no base64, or lacks its
/// padding.
[[nodiscard]] std::optional<std::string> parse_base64(std::string_view text);

}  // namespace hcpnet::bootstrap
