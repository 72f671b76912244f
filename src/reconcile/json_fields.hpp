// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hcpnet::reconcile {

/// What is at a JSON pointer, or null.
[[nodiscard]] const nlohmann::json& json_at(const nlohmann::json& value, std::string_view pointer);
/// A string there, or empty.
[[nodiscard]] std::string string_at(const nlohmann::json& value, std::string_view pointer);
/// True there, or `otherwise` where it is no truth value.
[[nodiscard]] bool flag_at(const nlohmann::json& value, std::string_view pointer, bool otherwise = false);
/// A label or annotation: `field` is "labels" or "annotations". Empty when there is none.
[[nodiscard]] std::string word_of(const nlohmann::json& object, const char* field, std::string_view name);

}  // namespace hcpnet::reconcile
