// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lint/artefacts.hpp"

/// Names of EndpointSlices (OVN-Kubernetes go-controller/pkg/types/const.go), beside those of manifest/udn.hpp, and
/// what a set says of primary networks.
namespace hcpnet::lint {

inline constexpr std::string_view kOvnServiceLabel = "k8s.ovn.org/service-name";
inline constexpr std::string_view kServiceLabel = "kubernetes.io/service-name";
inline constexpr std::string_view kSliceNetworkAnnotation = "k8s.ovn.org/endpointslice-network";
inline constexpr std::string_view kSliceManagerLabel = "endpointslice.kubernetes.io/managed-by";

/// A UserDefinedNetwork or ClusterUserDefinedNetwork that is the primary one of a namespace.
struct PrimaryNetwork {
  const Object* object = nullptr;
  std::string spec;                     ///< "/spec", or "/spec/network" of a cluster's one
  std::string layer;                    ///< pointer to layer2 or layer3
  std::vector<std::string> namespaces;  ///< of the set; of a UserDefinedNetwork always its own
};
/// Every one of the set; what is no primary network is left out.
[[nodiscard]] std::vector<PrimaryNetwork> primary_networks(const Set& set);
/// Of Set::primary_namespaces: by a label, or by a network.
[[nodiscard]] std::set<std::string, std::less<>> primary_namespaces(const Set& set);
/// "clusters-blue" of the HostedCluster clusters/blue.
[[nodiscard]] std::string control_plane_namespace(const Object& hosted_cluster);
/// Of Set::control_planes: by a label, or by a HostedCluster.
[[nodiscard]] std::set<std::string, std::less<>> control_planes(const Set& set);

}  // namespace hcpnet::lint
