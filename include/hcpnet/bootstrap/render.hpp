// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/bootstrap/ignition.hpp>
#include <hcpnet/bootstrap/inputs.hpp>
#include <hcpnet/bootstrap/load_balancer.hpp>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/pki/store.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/spec/validate.hpp>
#include <string>
#include <vector>

namespace hcpnet::bootstrap {

struct Rendered {
  std::vector<pki::OutputFile> files;     ///< below the output folder
  std::vector<pki::StoreChange> changes;  ///< what became of each key and certificate
  std::vector<IgnitionReport> ignition;   ///< of each config
  /// What is accepted and yet worth a look: of the inputs, and of what could not be made without an input.
  Diagnostics warnings;
};

[[nodiscard]] pki::PkiPlan plan_pki(const spec::ValidBootstrapCluster& cluster);

/// How pki::complete_pki() makes and keeps what that plan has, as the spec says.
[[nodiscard]] pki::StoreOptions make_store_options(const spec::ValidBootstrapCluster& cluster, Authorities authorities,
                                                   pki::Time now);

/// The set of files. `output_folder` is for messages. Writes nothing; pki::write_files does.
[[nodiscard]] Result<Rendered, Diagnostics> render(const spec::ValidBootstrapCluster& cluster, const Inputs& inputs,
                                                   const std::string& output_folder);

}  // namespace hcpnet::bootstrap
