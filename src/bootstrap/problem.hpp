// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/diagnostic.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace hcpnet::bootstrap {

/// An error about a file as a whole.
[[nodiscard]] inline Diagnostic problem(std::string_view file, std::string_view code, std::string message) {
  Diagnostic d;
  d.file = file;
  d.code = code;
  d.message = std::move(message);
  return d;
}

}  // namespace hcpnet::bootstrap
