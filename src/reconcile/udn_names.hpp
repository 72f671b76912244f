// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/reconcile/plan.hpp>

namespace hcpnet::reconcile {

/// Adds to `plan` what makes the host of ignition lead to the primary network, in the management cluster.
void plan_management_names(const spec::ValidPrimaryUdn& udn, const spec::ValidSet& set, const spec::Observed& observed,
                           const ClusterObjects& objects, const PlanOptions& options, Plan& plan);

/// Adds to `plan` what makes the names of the guest's applications and of its OAuth server lead inside, in the guest.
void plan_guest_names(const spec::ValidPrimaryUdn& udn, const spec::ValidSet& set, const spec::Observed& observed,
                      const ClusterObjects& management, const ClusterObjects& guest, const PlanOptions& options,
                      Plan& plan);

}  // namespace hcpnet::reconcile
