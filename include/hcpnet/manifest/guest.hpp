// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/manifest/build.hpp>
#include <string>
#include <string_view>

namespace hcpnet::manifest {

struct GuestOptions {
  std::string metallb_namespace = "metallb-system";  ///< where the MetalLB operator looks for its objects
};

/// What belongs inside of a hosted cluster ("namespace/name") of which an attachment asks for appsIngress, or has an
/// AppsPolicy: a pool of MetalLB for its addresses, but for a static VIP, the Service in front of its router, and an
/// account that may read that Service and nothing else, in place of the administrator's. Pure. Every object:
/// docs/manifests.md.
///
/// Errors, by code: "no-apps-ingress".
[[nodiscard]] Result<Built, Diagnostics> build_guest(const spec::ValidSet& set, std::string_view hosted_cluster,
                                                     const GuestOptions& options = {});

}  // namespace hcpnet::manifest
