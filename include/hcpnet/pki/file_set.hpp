// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/pki/key.hpp>
#include <hcpnet/result.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hcpnet::pki {

struct OutputFile {
  std::string name;  ///< below the folder: "pki/admin.key"
  Secret text;
  unsigned mode = 0644;  ///< 0600 for what is secret, 0755 for scripts
};

struct Written {
  std::vector<std::string> changed;  ///< new, or with other content, in the order given
  std::size_t unchanged = 0;         ///< the mode is set right in these too
};

/// Writes `files` below `folder`, which is made if need be. A file that has its content already is left alone; any
/// other is replaced in one step. Every new content is on disk before the first file changes, so a full disk or a
/// missing right leaves everything as it was; files then change in the order given. Errors: "unwritable-file".
[[nodiscard]] Result<Written, Diagnostics> write_files(const std::string& folder, const std::vector<OutputFile>& files);

/// The content of a regular file, or nullopt when there is none. Reads `max_bytes` and one more at most; waits for
/// nothing. What can't be read goes to `problems` as "unreadable-file".
[[nodiscard]] std::optional<Secret> read_file(const std::string& path, std::size_t max_bytes, Diagnostics& problems);

}  // namespace hcpnet::pki
