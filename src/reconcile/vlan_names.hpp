// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/reconcile/plan.hpp>
#include <vector>

namespace hcpnet::reconcile {

/// Adds to `plan` what makes the management cluster's DNS ask the DNS servers of isolated VLANs for the domains of
/// their hosted clusters. `built` is what the set becomes. Nothing where no DNS operator was observed.
void plan_vlan_names(const spec::ValidSet& set, const std::vector<nlohmann::json>& built, const ClusterObjects& objects,
                     const PlanOptions& options, Plan& plan);

}  // namespace hcpnet::reconcile
