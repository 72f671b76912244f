// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/pki/store.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/spec/validate.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::bootstrap {

/// Everything outside the spec that a rendering depends on.
struct Inputs {
  pki::Time now;
  pki::Secret pull_secret;  ///< JSON: {"auths": {...}}
  std::string ssh_key;      ///< one line as in authorized_keys
  pki::StoredTexts pki;     ///< of an earlier rendering
  std::map<std::string, pki::ImportedAuthority, std::less<>> authorities;
};

struct Rendered {
  std::vector<pki::OutputFile> files;     ///< below the output folder
  std::vector<pki::StoreChange> changes;  ///< what became of each key and certificate
};

[[nodiscard]] pki::PkiPlan plan_pki(const spec::ValidBootstrapCluster& cluster);

/// Reads the files that the cluster names, and the PKI that lies in `output_folder` already. Every file that can't be
/// read or is not what it should be is one error; none shows what is in it.
[[nodiscard]] Result<Inputs, Diagnostics> read_inputs(const spec::ValidBootstrapCluster& cluster,
                                                      const std::string& output_folder, pki::Time now);

/// The set of files. `output_folder` is for messages. Writes nothing; pki::write_files does.
[[nodiscard]] Result<Rendered, Diagnostics> render(const spec::ValidBootstrapCluster& cluster, const Inputs& inputs,
                                                   const std::string& output_folder);

/// The load balancer's configuration while the cluster comes up, and after the bootstrap node has left.
enum class Phase : std::uint8_t { bootstrap, pivoted };
[[nodiscard]] std::string render_haproxy(const spec::ValidBootstrapCluster& cluster, Phase phase);

}  // namespace hcpnet::bootstrap
