// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <hcpnet/bootstrap/images.hpp>
#include <hcpnet/bootstrap/machine_network.hpp>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/pki/store.hpp>
#include <hcpnet/rendered_file.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/spec/validate.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::bootstrap {

/// Bounds of what is read. Passing one is an error that names it.
struct InputLimits {
  std::size_t max_file_bytes = 1024 * 1024;     ///< pull secret, SSH key, image references, feature gates
  std::size_t max_crd_bytes = 4 * 1024 * 1024;  ///< of one file with CRDs
  std::size_t max_folder_files = 1000;          ///< of the CRDs, of the MachineConfigs
  std::size_t max_machine_config_bytes = 4 * 1024 * 1024;
};

/// What tells this cluster from every other one; made once, at random.
struct ClusterIds {
  std::string cluster_id;  ///< a UUID (RFC 9562, version 4): spec.clusterID of the ClusterVersion
  std::string infra_id;    ///< "<cluster name>-<five characters>", 27 at most: status.infrastructureName
  friend bool operator==(const ClusterIds&, const ClusterIds&) = default;
};

/// The first administrator. OpenShift asks for 23 characters at least.
struct Kubeadmin {
  pki::Secret password;
  std::string hash;  ///< bcrypt
};

/// Of a release: which features its components have to know, on or off.
struct FeatureGates {
  std::vector<std::string> enabled, disabled;
};

/// A file with CustomResourceDefinitions and nothing else.
using CrdFile = RenderedFile;

/// Authorities that exist already, by their names in the plan.
using Authorities = std::map<std::string, pki::ImportedAuthority, std::less<>>;

/// Everything outside the spec that a rendering depends on.
struct Inputs {
  pki::Time now;
  pki::Secret pull_secret;  ///< JSON: {"auths": {...}}
  std::string ssh_key;      ///< one line as in authorized_keys
  pki::StoredTexts pki;     ///< of an earlier rendering
  Authorities authorities;
  Images images;
  ClusterIds ids;
  Kubeadmin kubeadmin;
  std::vector<CrdFile> crds;                  ///< by name
  std::optional<FeatureGates> feature_gates;  ///< nullopt: not known
  /// Pool ("master", "worker") to the Ignition config of its rendered MachineConfig.
  std::map<std::string, nlohmann::json, std::less<>> machine_configs;
  PreviousZones zones;  ///< of an earlier rendering, so that serials grow
  Diagnostics warnings;
};

/// Reads the files that the cluster names, and what an earlier rendering left in `output_folder`: the PKI, the ids, the
/// password, the zone files; ids and password are made where they are not there. Every file that can't be read or is
/// not what it should be is one error; none shows what is in it.
[[nodiscard]] Result<Inputs, Diagnostics> read_inputs(const spec::ValidBootstrapCluster& cluster,
                                                      const std::string& output_folder, pki::Time now,
                                                      const InputLimits& limits = {});

/// Of all this the authorities that the cluster names, for its PKI by itself.
[[nodiscard]] Result<Authorities, Diagnostics> read_authorities(const spec::ValidBootstrapCluster& cluster,
                                                                const InputLimits& limits = {});

/// The CRDs of a file for a cluster with the default features: nullopt when it holds those of another feature set or
/// cluster profile, which a release has beside them under the same names. Reads the lines that say so and not the
/// whole: schemas are large. Error: "bad-crd".
[[nodiscard]] Result<std::optional<std::vector<std::string>>, Diagnostics> read_crd_names(std::string_view file,
                                                                                          std::string_view text);

/// A FeatureGate of config.openshift.io/v1, as the release has it: status.featureGates[] for `release`, or for none in
/// particular. Error: "bad-feature-gate".
[[nodiscard]] Result<FeatureGates, Diagnostics> parse_feature_gate(std::string_view file, std::string_view text,
                                                                   std::string_view release);

/// The Ignition config in a MachineConfig: spec.config, or spec.config.raw, as a mapping or as JSON text. Error:
/// "bad-machine-config".
[[nodiscard]] Result<nlohmann::json, Diagnostics> parse_machine_config(std::string_view file, std::string_view text);

}  // namespace hcpnet::bootstrap
