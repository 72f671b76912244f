// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace hcpnet::test {

/// How often this thread has called operator new.
[[nodiscard]] std::size_t allocation_count() noexcept;

}  // namespace hcpnet::test
