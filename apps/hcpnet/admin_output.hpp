// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/diagnostic.hpp>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace hcpnet::app {

/// The text at a key of an answer; empty where there is none. Throws nlohmann::json::exception for another type.
[[nodiscard]] std::string text_of(const nlohmann::json& object, const char* key);
/// Diagnostics as a running process told them, one per line.
void print_diagnostics(const nlohmann::json& diagnostics, std::ostream& out);

}  // namespace hcpnet::app
