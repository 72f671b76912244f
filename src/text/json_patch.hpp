// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/text/patch.hpp>
#include <vector>

#include "text/pointer.hpp"

/// The parts of JSON Patch that its two dialects share.
namespace hcpnet::text {

enum class Dialect : std::uint8_t { rfc6902, hypershift };

/// One operation, read and checked; `value` belongs to the patch.
struct Operation {
  enum class Kind : std::uint8_t { add, remove, replace, move, copy, test };
  Kind kind = Kind::add;
  std::string op, path_text, from_text;
  std::vector<Token> path, from;
  const nlohmann::json* value = nullptr;
};

[[nodiscard]] Result<std::vector<Operation>, PatchError> read_operations(const nlohmann::json& patch, Dialect dialect,
                                                                         const PatchLimits& limits);

/// What a value costs.
struct Extent {
  std::size_t bytes = 0;
  std::size_t depth = 0;  ///< lists and objects inside each other; not exact beyond `max_depth`
};
[[nodiscard]] Extent measure(const nlohmann::json& value, std::size_t max_depth);

[[nodiscard]] Result<nlohmann::json, PatchError> apply_operations(nlohmann::json document, const nlohmann::json& patch,
                                                                  Dialect dialect, const PatchLimits& limits);

}  // namespace hcpnet::text
