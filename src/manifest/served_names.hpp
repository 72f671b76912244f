// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/manifest/published_names.hpp>

namespace hcpnet::manifest {

inline constexpr std::string_view kIngress = "Ingress";  ///< PublishedName::service of the guest's router

/// Compares the names of each HostedCluster with what the Infra that has it serves on its VLAN: the DNS and the routes
/// that would run, asked as a worker asks them. `clusters` are in the order of `set.hosted_clusters`.
void compare_with_set(const std::vector<ClusterNames>& clusters, const spec::ValidSet& set,
                      const spec::Observed& observed, Diagnostics& problems);

/// True when the Infra names its one cluster itself: then it is known by its control plane, not by its HostedCluster.
[[nodiscard]] bool names_its_cluster(const spec::ValidSet& set, const spec::ValidInfra& infra);

/// Reports when the Infra looks for the control plane elsewhere than where HyperShift puts it.
void check_namespace(const spec::ValidCluster& cluster, const spec::ObjectMeta& owner, const std::string& expected,
                     Diagnostics& problems);

}  // namespace hcpnet::manifest
