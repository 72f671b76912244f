// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/bootstrap/inputs.hpp>
#include <hcpnet/pki/plan.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// The objects that describe a cluster to its operators. Each sets what the API server would default.
namespace hcpnet::bootstrap {

using Json = nlohmann::json;

[[nodiscard]] Json make_namespace(const std::string& name);
[[nodiscard]] Json cluster_role_binding(const std::string& name, const std::string& role, Json subject);
/// Who a new node is before it has a certificate: a user, or in the installer's layout a service account.
[[nodiscard]] Json kubelet_bootstrap_subject(const pki::PkiPlan& plan);
[[nodiscard]] Json user_subject(const std::string& name);

[[nodiscard]] Json infrastructure();
[[nodiscard]] Json infrastructure_status(const spec::ValidBootstrapCluster& cluster, const ClusterIds& ids);
[[nodiscard]] Json network_config(const spec::ValidBootstrapCluster& cluster);
[[nodiscard]] Json network_operator(const spec::ValidBootstrapCluster& cluster);
[[nodiscard]] Json dns_config(const spec::ValidBootstrapCluster& cluster);
[[nodiscard]] Json ingress_config(const spec::ValidBootstrapCluster& cluster);
[[nodiscard]] Json proxy_config();
[[nodiscard]] Json feature_gate();
[[nodiscard]] Json feature_gate_status(const spec::ValidBootstrapCluster& cluster,
                                       const std::optional<FeatureGates>& gates);
[[nodiscard]] Json cluster_config(const spec::ValidBootstrapCluster& cluster, const std::string& ssh_key);
[[nodiscard]] Json etcd_endpoints(const spec::ValidBootstrapCluster& cluster);
[[nodiscard]] Json pull_secret(const pki::Secret& text);
[[nodiscard]] Json kubeadmin(const std::string& hash);
[[nodiscard]] Json cluster_version(const spec::ValidBootstrapCluster& cluster, const ClusterIds& ids);

}  // namespace hcpnet::bootstrap
