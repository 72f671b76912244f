// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/lint/lint.hpp>
#include <hcpnet/result.hpp>
#include <string>
#include <vector>

namespace hcpnet::lint {

struct ReadLimits {
  std::size_t max_files = 10'000;  ///< of all paths together
};

/// Reads files for check(): each path, and every regular file below a path that is a folder, by name; of folders what
/// begins with a dot is left out, and links are not followed. Of each file one byte more than `limits.max_file_bytes`
/// at most. Errors: "unreadable-file", for what can't be read or is no regular file; "too-many-files".
[[nodiscard]] Result<std::vector<File>, Diagnostics> read_files(const std::vector<std::string>& paths,
                                                                const Limits& limits = {},
                                                                const ReadLimits& read_limits = {});

}  // namespace hcpnet::lint
