// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace hcpnet::bootstrap {

/// RFC 4648 section 4, with padding, on one line.
[[nodiscard]] std::string base64(std::string_view bytes);
/// The bytes of such a text; nothing where it is none.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace hcpnet::bootstrap
