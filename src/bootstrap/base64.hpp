// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace hcpnet::bootstrap {

/// RFC 4648 section 4, with padding, on one line.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace hcpnet::bootstrap
