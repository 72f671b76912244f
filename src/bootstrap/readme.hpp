// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/bootstrap/ignition.hpp>
#include <hcpnet/pki/plan.hpp>
#include <hcpnet/spec/validate.hpp>
#include <string>
#include <vector>

namespace hcpnet::bootstrap {

/// What lies in the output folder and what it is for; the same cluster gives the same text.
[[nodiscard]] std::string render_readme(const spec::ValidBootstrapCluster& cluster, const pki::PkiPlan& plan,
                                        const std::vector<IgnitionReport>& ignition);

}  // namespace hcpnet::bootstrap
