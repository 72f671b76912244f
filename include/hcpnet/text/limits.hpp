// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <hcpnet/diagnostic.hpp>

namespace hcpnet::text {

/// Bounds of what is read. Passing one is one error, with code and line, and ends the reading of that file.
struct LoadLimits {
  std::size_t max_file_bytes = 4 * 1024 * 1024;  ///< file-limit
  std::size_t max_depth = 64;                    ///< depth-limit: lists and mappings inside each other
  std::size_t max_nodes = 100'000;               ///< alias-limit: values of one file, aliases expanded
  std::size_t max_errors = Diagnostics::kDefaultMaxErrors;
};

}  // namespace hcpnet::text
