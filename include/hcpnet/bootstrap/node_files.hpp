// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/bootstrap/ignition.hpp>
#include <hcpnet/bootstrap/inputs.hpp>
#include <hcpnet/bootstrap/static_pods.hpp>
#include <hcpnet/pki/file_set.hpp>
#include <hcpnet/pki/plan.hpp>
#include <string>
#include <vector>

namespace hcpnet::bootstrap {

/// Files of the bootstrap node that hold nothing secret, and its two units: kubelet.service, a kubelet without an API
/// server, and bootkube.service, which applies the manifests once there is one. Pure, like all here.
[[nodiscard]] NodeContent make_bootstrap_node(const spec::ValidBootstrapCluster& cluster, const pki::PkiPlan& plan,
                                              const Images& images);

/// What every node of the cluster gets beside the rendered MachineConfig: where the API server is, and kube-proxy where
/// the spec wants it.
[[nodiscard]] NodeContent make_common_node(const spec::ValidBootstrapCluster& cluster, const Images& images);
/// What one node gets of its own: its name and its address.
[[nodiscard]] NodeContent make_own_node(const spec::ValidBootstrapCluster& cluster, const spec::ValidNode& node);

/// A file that a rendering writes, as a file of a node.
[[nodiscard]] NodeFile to_node_file(const std::string& folder, const pki::OutputFile& file);
/// The content as files below `folder`, units below etc/systemd/system.
[[nodiscard]] std::vector<pki::OutputFile> to_output_files(const std::string& folder, const NodeContent& content);

}  // namespace hcpnet::bootstrap
