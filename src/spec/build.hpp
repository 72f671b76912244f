// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/spec/load.hpp>
#include <hcpnet/spec/validate.hpp>
#include <string_view>

namespace hcpnet::spec {

/// The validated form of a set in which no rule is broken. Warnings are left to the caller.
[[nodiscard]] ValidSet build(const SpecSet& set);
[[nodiscard]] ValidPrimaryUdn build_primary_udn(const PrimaryUDN& udn, const Origin& origin);
[[nodiscard]] ValidBootstrapCluster build_bootstrap_cluster(const BootstrapCluster& cluster, std::string_view file);

}  // namespace hcpnet::spec
