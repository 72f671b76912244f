// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/bootstrap/ignition.hpp>
#include <hcpnet/bootstrap/inputs.hpp>
#include <hcpnet/pki/store.hpp>
#include <string>
#include <vector>

namespace hcpnet::bootstrap {

/// Everything that configs are made of.
struct IgnitionParts {
  const spec::ValidBootstrapCluster& cluster;
  const Inputs& inputs;
  const pki::PkiPlan& plan;
  const pki::StoredPki& pki;
  const std::vector<pki::OutputFile>& kubeconfigs;  ///< "localhost.kubeconfig"
  const std::vector<pki::OutputFile>& manifests;    ///< "apply.sh"
};
struct IgnitionSet {
  std::vector<pki::OutputFile> files;  ///< one for each node, called by its name
  std::vector<IgnitionReport> reports;
  Diagnostics problems;
};

/// The bootstrap node's always. The others are the rendered MachineConfig of their pool with what their node has of its
/// own; without it, in the installer's layout, pointers to the machine-config server; else there are none, which is a
/// warning.
[[nodiscard]] IgnitionSet make_ignition_set(const IgnitionParts& parts);

}  // namespace hcpnet::bootstrap
