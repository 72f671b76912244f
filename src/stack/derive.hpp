// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/stack/config.hpp>
#include <string>
#include <string_view>

#include "spec/names.hpp"

/// The three parts of make_stack_config(), one file each.
namespace hcpnet::derive {

/// What every part needs to see.
struct Inputs {
  const spec::ValidSet& set;
  const spec::Observed& observed;
  const Surroundings& surroundings;
};

using spec::kKubernetesNames;
[[nodiscard]] bool is_kubernetes_name(std::string_view name) noexcept;

[[nodiscard]] DeclaredAt declared_at(const spec::Origin& origin, const std::string& pointer);
/// About the value at `pointer` of the object that `origin` tells of, found for `owner`.
[[nodiscard]] Diagnostic problem(Severity severity, const spec::Origin& origin, const std::string& pointer,
                                 const spec::ObjectMeta& owner, std::string code, std::string message);

void dhcp_config(const Inputs& in, StackConfig& out);
void dns_config(const Inputs& in, StackConfig& out, Diagnostics& problems);
void proxy_config(const Inputs& in, StackConfig& out, Diagnostics& problems);

/// True for an address of the VLAN: what a Machine reports of other networks could be anybody's here.
[[nodiscard]] bool is_worker_address(const spec::ValidInfra& infra, const IpAddress& address);

/// True when every cluster of the Infra has a client that is known to be its own: an observed worker, or a VM whose
/// lease will tell.
[[nodiscard]] bool every_cluster_has_sources(const spec::ValidInfra& infra, const spec::Observed& observed);

}  // namespace hcpnet::derive
