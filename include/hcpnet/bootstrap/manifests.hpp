// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/bootstrap/inputs.hpp>
#include <hcpnet/pki/file_set.hpp>
#include <hcpnet/pki/plan.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hcpnet::bootstrap {

/// The status of an object. It is a subresource: who applies or creates the object with it loses it without a word.
struct StatusPatch {
  std::string resource;  ///< "infrastructures.config.openshift.io/cluster"
  nlohmann::json patch;  ///< a merge patch of the subresource `status`
};

/// What is applied together, and what has to hold before the next step.
struct ManifestStep {
  std::string name;    ///< "namespaces"
  std::string reason;  ///< why it has this place; one sentence
  std::vector<nlohmann::json> objects;
  std::vector<StatusPatch> statuses;
  std::vector<std::string> waits;  ///< words of one `oc wait` each
  bool is_secret = false;
};

/// The objects between an empty API server and the cluster-version operator, in the order in which one needs the other;
/// CRDs come before all of them. Pure: the same input gives the same objects. Thread-safe.
[[nodiscard]] std::vector<ManifestStep> make_manifests(const spec::ValidBootstrapCluster& cluster,
                                                       const pki::PkiPlan& plan, const Inputs& inputs);

/// "NN-NAME.yaml" for each step, "NN-NAME-STATUS.json" for each status, crds/ and apply.sh, which does it all in order
/// and waits. Whatever is secret has the mode 0600.
[[nodiscard]] std::vector<pki::OutputFile> render_manifests(const std::vector<ManifestStep>& steps,
                                                            const std::vector<CrdFile>& crds);

/// What `machine-config-operator bootstrap` and `machine-config-controller bootstrap` read, under the names that they
/// look for: the objects with their status, for nothing here is an API server.
[[nodiscard]] std::vector<pki::OutputFile> render_machine_config_inputs(const spec::ValidBootstrapCluster& cluster,
                                                                        const Inputs& inputs);

}  // namespace hcpnet::bootstrap
