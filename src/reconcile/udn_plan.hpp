// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/reconcile/plan.hpp>

namespace hcpnet::reconcile {

/// Adds to `plan` what the Services in the namespaces of a primary network need.
void plan_slices(const spec::ValidPrimaryUdn& udn, const ClusterObjects& objects, bool may_recreate, Plan& plan);

/// Adds to `plan` what has to go from its virtual machines, which an apply can't take away.
void plan_machines(const spec::ValidPrimaryUdn& udn, const ClusterObjects& objects, Plan& plan);

}  // namespace hcpnet::reconcile
