// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "command.hpp"

/// Configurations of other programs: `render --target`, and `dns render` for those of name servers.
namespace hcpnet::app {

struct TargetArguments {
  std::string target, output_dir, file_prefix;
  std::vector<std::string> pod_addresses;
  bool any_address = false;
  FileArguments files;
};

/// envoy, haproxy, and the name servers.
[[nodiscard]] std::vector<std::string> all_targets();
[[nodiscard]] std::vector<std::string> dns_targets();
/// What only a configuration of another program has: --file-prefix, --pod-address, --any-address.
std::vector<CLI::Option*> add_target_options(CLI::App& command, TargetArguments& a);
/// Whether a path below --output-dir, or that itself, is a folder, or can become one; prints why not.
[[nodiscard]] bool may_be_folder(const std::string& output_dir);
/// Writes all files or none.
[[nodiscard]] int render_target(const TargetArguments& a);

}  // namespace hcpnet::app
