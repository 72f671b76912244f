// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/manifest/build.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"

namespace hcpnet::app {

/// What decides which objects a set becomes; the same for every command that makes them.
struct BuildArguments {
  std::string deployment = "one", link, image, coredns_image, admission_version = "v1";
  std::vector<std::string> without;

  std::vector<CLI::Option*> add_to(CLI::App& command);
  /// Prints what is wrong and returns nullopt.
  [[nodiscard]] std::optional<manifest::BuildOptions> options() const;
};

}  // namespace hcpnet::app
