// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/spec/load.hpp>
#include <hcpnet/spec/validate.hpp>

namespace hcpnet::spec {

class RecordFiles;

/// The validated form of a set in which no rule is broken, nor in its files of records. Warnings are left to the
/// caller.
[[nodiscard]] ValidSet build(const SpecSet& set, const RecordFiles& record_files);
[[nodiscard]] ValidPrimaryUdn build_primary_udn(const PrimaryUDN& udn, const Origin& origin);
[[nodiscard]] ValidBootstrapCluster build_bootstrap_cluster(const BootstrapCluster& cluster, const Origin& origin);

}  // namespace hcpnet::spec
