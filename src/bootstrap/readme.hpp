// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/pki/plan.hpp>
#include <hcpnet/spec/validate.hpp>
#include <string>

namespace hcpnet::bootstrap {

/// What lies in the output folder and what it is for; the same cluster gives the same text.
[[nodiscard]] std::string render_readme(const spec::ValidBootstrapCluster& cluster, const pki::PkiPlan& plan);

}  // namespace hcpnet::bootstrap
