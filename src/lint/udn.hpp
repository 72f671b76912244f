// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/artefacts.hpp"

/// Names of OVN-Kubernetes (go-controller/pkg/types/const.go), HyperShift and KubeVirt, and what follows from them.
namespace hcpnet::lint {

inline constexpr std::string_view kPrimaryNetworkLabel = "k8s.ovn.org/primary-user-defined-network";
inline constexpr std::string_view kOvnServiceLabel = "k8s.ovn.org/service-name";
inline constexpr std::string_view kServiceLabel = "kubernetes.io/service-name";
inline constexpr std::string_view kSliceNetworkAnnotation = "k8s.ovn.org/endpointslice-network";
inline constexpr std::string_view kSliceManagerLabel = "endpointslice.kubernetes.io/managed-by";
inline constexpr std::string_view kPatchAnnotation = "hypershift.openshift.io/kubevirt-vm-jsonpatch";
inline constexpr std::string_view kLiveMigrationAnnotation = "kubevirt.io/allow-pod-bridge-network-live-migration";

/// A UserDefinedNetwork or ClusterUserDefinedNetwork that is the primary one of a namespace.
struct PrimaryNetwork {
  const Object* object = nullptr;
  std::string spec;                     ///< "/spec", or "/spec/network" of a cluster's one
  std::string layer;                    ///< pointer to layer2 or layer3
  std::vector<std::string> namespaces;  ///< of the set; of a UserDefinedNetwork always its own
};
/// Every one of the set; what is no primary network is left out.
[[nodiscard]] std::vector<PrimaryNetwork> primary_networks(const Set& set);
/// Whether pods of the namespace have a primary network, as far as the set says: a label, or a network.
[[nodiscard]] bool has_primary_network(const Set& set, std::string_view ns);
/// "clusters-blue" of the HostedCluster clusters/blue.
[[nodiscard]] std::string control_plane_namespace(const Object& hosted_cluster);
/// Whether a namespace is the control plane's of a hosted cluster, as far as the set says.
[[nodiscard]] bool is_control_plane(const Set& set, std::string_view ns);

}  // namespace hcpnet::lint
