// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/lint/lint.hpp>
#include <span>

#include "lint/artefacts.hpp"
#include "lint/reporter.hpp"

/// The families of rules: each has its table, and the code that finds what is in it.
namespace hcpnet::lint {

struct Family {
  std::string_view title, about;
  std::span<const Rule> rules;
  void (*check)(const Set& set, const Options& options, Reporter& reporter);  ///< null: found elsewhere
};

[[nodiscard]] Family text_rules();  ///< what can't be read, suppressions
[[nodiscard]] Family certificate_rules();
[[nodiscard]] Family kubeconfig_rules();
[[nodiscard]] Family static_pod_rules();
[[nodiscard]] Family manifest_rules();
[[nodiscard]] Family node_rules();  ///< units, CRI-O, apiserver-url.env
[[nodiscard]] Family ignition_rules();
[[nodiscard]] Family load_balancer_rules();
[[nodiscard]] Family host_rules();     ///< scripts, libvirt
[[nodiscard]] Family network_rules();  ///< user-defined networks
[[nodiscard]] Family slice_rules();    ///< EndpointSlices, DNS, policies of a primary network
[[nodiscard]] Family machine_rules();  ///< virtual machines, NodePools
[[nodiscard]] Family hosted_cluster_rules();

/// Of all families, in the order of the documentation.
[[nodiscard]] const std::vector<Family>& families();

// What several families ask.

/// Where a manifest set for a whole cluster is: it has a ClusterVersion and an Infrastructure. Nothing is called
/// missing from anything less.
[[nodiscard]] bool describes_cluster(const Set& set);
/// "10.128.0.0/14" and so on of a list of strings, or of mappings with the key `cidr`.
[[nodiscard]] std::vector<std::string> cidrs_of(const text::Value* list);
/// The one subject whose CN is that of a certificate, in a ClusterRoleBinding.
[[nodiscard]] bool names_user(const Object& binding, const std::string& user);

}  // namespace hcpnet::lint
