// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where things lie on a node.
namespace hcpnet::bootstrap::node {

inline constexpr char kPki[] = "/etc/kubernetes/pki";
/// On the bootstrap node the administrator over localhost; on every other one the identity with which its kubelet asks
/// for a certificate. The cluster-version operator, and kubelet.service as the machine-config operator writes it, look
/// here.
inline constexpr char kKubeconfig[] = "/etc/kubernetes/kubeconfig";
inline constexpr char kKubeconfigs[] = "/etc/kubernetes/kubeconfigs";
inline constexpr char kStaticPods[] = "/etc/kubernetes/manifests";
inline constexpr char kKubeProxy[] = "/etc/kubernetes/kube-proxy";
inline constexpr char kManifests[] = "/opt/openshift/manifests";
/// Static pods that bootkube.sh lets start when their time has come.
inline constexpr char kLaterPods[] = "/opt/openshift/static-pods";
inline constexpr char kPullSecret[] = "/var/lib/kubelet/config.json";

}  // namespace hcpnet::bootstrap::node
