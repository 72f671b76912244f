// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <vector>

namespace hcpnet::manifest {

/// A CustomResourceDefinition for each kind of docs/spec.md, from the same descriptions that read files. The schemas
/// refuse what a schema or a CEL rule can see; docs/manifests.md lists what only validate() sees. deploy/crds holds
/// them as files, which a test keeps equal.
[[nodiscard]] std::vector<nlohmann::json> custom_resource_definitions();

}  // namespace hcpnet::manifest
