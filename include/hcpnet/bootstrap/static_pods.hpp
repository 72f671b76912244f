// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/bootstrap/images.hpp>
#include <hcpnet/pki/plan.hpp>
#include <hcpnet/spec/validate.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hcpnet::bootstrap {

/// A pod that a kubelet runs from a file, without an API server.
struct StaticPod {
  std::string file;  ///< below /etc/kubernetes/manifests: "etcd.yaml"
  nlohmann::json pod;
};

/// What the bootstrap node runs: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, in the order in which
/// one needs the other. Every file that a flag names lies below /etc/kubernetes.
/// Precondition of these three: `images` has what needed_components() says. Pure. Thread-safe.
[[nodiscard]] std::vector<StaticPod> make_control_plane_pods(const spec::ValidBootstrapCluster& cluster,
                                                             const pki::PkiPlan& plan, const Images& images);

/// The cluster-version operator, which installs everything else. No Deployment could be placed anywhere yet: the
/// bootstrap kubelet registers no node.
[[nodiscard]] StaticPod make_version_operator_pod(const spec::ValidBootstrapCluster& cluster);

/// kube-proxy on a node of the cluster, and what it reads.
struct KubeProxy {
  StaticPod pod;
  nlohmann::json config;  ///< /etc/kubernetes/kube-proxy/config.yaml
};
/// An installed cluster never runs it: pods outside of the host's network wait for the pod network, and what has to
/// come before that asks where /etc/kubernetes/apiserver-url.env says. It hides that this file is missing or wrong.
[[nodiscard]] KubeProxy make_kube_proxy(const spec::ValidBootstrapCluster& cluster, const Images& images);

/// Names of the files below `folder` that the flags of `pods` mention, each once, sorted: what has to be put there, and
/// nothing else.
[[nodiscard]] std::vector<std::string> files_mentioned(const std::vector<StaticPod>& pods, const std::string& folder);

}  // namespace hcpnet::bootstrap
