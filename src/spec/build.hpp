// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/spec/load.hpp>
#include <hcpnet/spec/validate.hpp>

namespace hcpnet::spec {

/// The validated form of a set in which no rule is broken. Warnings are left to the caller.
[[nodiscard]] ValidSet build(const SpecSet& set);
[[nodiscard]] ValidBootstrapCluster build_bootstrap_cluster(const BootstrapCluster& cluster, const Origin& origin);

}  // namespace hcpnet::spec
