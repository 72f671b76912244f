// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/render.hpp>

#include <array>
#include <hcpnet/bootstrap/kubeconfig.hpp>
#include <hcpnet/bootstrap/manifests.hpp>
#include <hcpnet/bootstrap/node_files.hpp>
#include <hcpnet/bootstrap/stages.hpp>
#include <hcpnet/dns/renderer.hpp>
#include <utility>

#include "bootstrap/identity.hpp"
#include "bootstrap/node_ignition.hpp"
#include "bootstrap/problem.hpp"
#include "bootstrap/readme.hpp"

namespace hcpnet::bootstrap {
namespace {

pki::KeyAlgorithm algorithm_of(spec::KeyKind kind) {
  using enum pki::KeyAlgorithm;
  static constexpr std::array kAlgorithms{ecdsa_p256, ecdsa_p384, rsa_2048, rsa_4096};
  return kAlgorithms.at(static_cast<std::size_t>(kind));
}

pki::NodeIdentity identity_of(const spec::ValidNode& node) {
  return {node.name, node.address};
}

void append(std::vector<pki::OutputFile>& files, const std::string& folder, std::vector<pki::OutputFile> more) {
  for (pki::OutputFile& file : more) {
    file.name = folder + '/' + file.name;
    files.push_back(std::move(file));
  }
}

void append_nodes(std::vector<pki::OutputFile>& files, const spec::ValidBootstrapCluster& cluster,
                  const pki::PkiPlan& plan, const Images& images) {
  const auto add = [&](const std::string& folder, const NodeContent& content) {
    for (pki::OutputFile& file : to_output_files(folder, content)) files.push_back(std::move(file));
  };
  add("bootstrap-node", make_bootstrap_node(cluster, plan, images));
  add("node", make_common_node(cluster, images));
  for (const spec::ValidNode& node : cluster.nodes)
    if (node.role != spec::NodeRole::bootstrap) add("nodes/" + node.name, make_own_node(cluster, node));
}

std::vector<pki::OutputFile> identity_files(const spec::ValidBootstrapCluster& cluster, const Inputs& inputs) {
  return {{kMetadataFile, pki::Secret(render_metadata(cluster.spec.cluster_name, inputs.ids))},
          {kPasswordFile, inputs.kubeadmin.password, 0600},
          {kPasswordHashFile, pki::Secret(inputs.kubeadmin.hash), 0600},
          {"auth/pull-secret.json", inputs.pull_secret, 0600}};
}

/// What is missing at a first rendering, because it comes out of the release image.
void warn_of_missing_inputs(const spec::ValidBootstrapCluster& cluster, const Inputs& inputs, Diagnostics& warnings) {
  const auto warn = [&](std::string_view code, const char* message) {
    Diagnostic d = problem(cluster.origin.file, code, message);
    d.severity = Severity::warning;
    warnings.add(std::move(d));
  };
  if (inputs.crds.empty())
    warn("no-crds", "the manifests come without the CRDs of the release: crdsFolder names where they are (stage 04)");
  if (!inputs.feature_gates)
    warn("no-feature-gates",
         "the FeatureGate's status names no feature, and operators end at one that they don't find: featureGateFile "
         "names the release's own FeatureGate (stage 04)");
}

}  // namespace

pki::PkiPlan plan_pki(const spec::ValidBootstrapCluster& cluster) {
  pki::ClusterIdentity identity{.domain = cluster.domain,
                                .api_vip = cluster.api_vip,
                                .service_address = Ipv4(cluster.service_network.network().value() + 1),
                                .bootstrap = identity_of(cluster.bootstrap()),
                                .control_plane = {}};
  for (const spec::ValidNode* node : cluster.with_role(spec::NodeRole::control_plane))
    identity.control_plane.push_back(identity_of(*node));
  return pki::plan_pki(static_cast<pki::Layout>(cluster.spec.pki.layout), identity);
}

pki::StoreOptions make_store_options(const spec::ValidBootstrapCluster& cluster, Authorities authorities,
                                     pki::Time now) {
  return {.now = now,
          .algorithm = algorithm_of(cluster.spec.pki.key),
          .renew_before = std::chrono::hours(24) * cluster.spec.pki.renew_before_days,
          .imports = std::move(authorities)};
}

Result<Rendered, Diagnostics> render(const spec::ValidBootstrapCluster& cluster, const Inputs& inputs,
                                     const std::string& output_folder) {
  const pki::PkiPlan plan = plan_pki(cluster);
  auto pki = pki::complete_pki(plan, inputs.pki, output_folder + "/pki",
                               make_store_options(cluster, inputs.authorities, inputs.now));
  if (!pki) return pki.error();
  Rendered rendered;
  rendered.changes = pki->changes;
  rendered.warnings = inputs.warnings;
  warn_of_missing_inputs(cluster, inputs, rendered.warnings);
  std::vector<pki::OutputFile> kubeconfigs = render_kubeconfigs(cluster.domain, plan, *pki);
  std::vector<pki::OutputFile> manifests = render_manifests(make_manifests(cluster, plan, inputs), inputs.crds);
  IgnitionSet ignition = make_ignition_set({cluster, inputs, plan, *pki, kubeconfigs, manifests});
  if (ignition.problems.has_errors()) return ignition.problems;
  rendered.warnings.append(std::move(ignition.problems));
  rendered.ignition = std::move(ignition.reports);
  append(rendered.files, "kubeconfig", std::move(kubeconfigs));
  append(rendered.files, "pki", std::move(pki->files));
  append(rendered.files, "manifests", std::move(manifests));
  append(rendered.files, "machine-config-inputs", render_machine_config_inputs(cluster, inputs));
  append(rendered.files, "ignition", std::move(ignition.files));
  append(rendered.files, "stages", render_stages(cluster, plan));
  append(rendered.files, "load-balancer", render_load_balancer(cluster));
  append(rendered.files, "network", render_machine_network(cluster, inputs.zones, dns::serial_day(inputs.now)));
  append_nodes(rendered.files, cluster, plan, inputs.images);
  for (pki::OutputFile& file : identity_files(cluster, inputs)) rendered.files.push_back(std::move(file));
  rendered.files.push_back({"README.md", pki::Secret(render_readme(cluster, plan, rendered.ignition))});
  return rendered;
}

}  // namespace hcpnet::bootstrap
