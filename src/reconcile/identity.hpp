// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

namespace hcpnet::reconcile {

/// {apiVersion, kind, metadata: {name, namespace}} of an object.
[[nodiscard]] nlohmann::json identity(const nlohmann::json& object);

}  // namespace hcpnet::reconcile
