// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace hcpnet {

/// The version of the library that is linked, "MAJOR.MINOR.PATCH" (Semantic Versioning 2.0.0).
[[nodiscard]] std::string_view version() noexcept;

}  // namespace hcpnet
