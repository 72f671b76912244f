// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/reconcile/plan.hpp>

namespace hcpnet::reconcile {

/// Adds to `plan` what the Services in the namespaces of a primary network need.
void plan_slices(const spec::ValidPrimaryUdn& udn, const ClusterObjects& objects, bool may_recreate, Plan& plan);

}  // namespace hcpnet::reconcile
