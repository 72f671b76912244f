// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/text/value.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace hcpnet::text {

/// `value` as JSON. What JSON cannot hold goes to `problems`, with the name `file` and the place, and is null in the
/// result: a word that YAML 1.1 and 1.2 read differently, a number beyond 64 bits, infinity, NaN. Keys are text as they
/// are written. Thread-safe.
[[nodiscard]] nlohmann::json to_json(const Value& value, std::string_view file, Diagnostics& problems);

}  // namespace hcpnet::text
