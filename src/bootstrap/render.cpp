// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/render.hpp>

#include <array>
#include <hcpnet/bootstrap/kubeconfig.hpp>
#include <utility>

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

/// What the nodes' services ask for the API server before there is DNS or a pod network.
pki::OutputFile api_server_url(const spec::ValidBootstrapCluster& cluster) {
  return {"node/etc/kubernetes/apiserver-url.env",
          pki::Secret("KUBERNETES_SERVICE_HOST='api-int." + cluster.domain + "'\nKUBERNETES_SERVICE_PORT='6443'\n")};
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

Result<Rendered, Diagnostics> render(const spec::ValidBootstrapCluster& cluster, const Inputs& inputs,
                                     const std::string& output_folder) {
  const pki::PkiPlan plan = plan_pki(cluster);
  auto pki = pki::complete_pki(plan, inputs.pki, output_folder + "/pki",
                               {.now = inputs.now,
                                .algorithm = algorithm_of(cluster.spec.pki.key),
                                .renew_before = std::chrono::hours(24) * cluster.spec.pki.renew_before_days,
                                .imports = inputs.authorities});
  if (!pki) return pki.error();
  Rendered rendered;
  rendered.changes = pki->changes;
  append(rendered.files, "kubeconfig", render_kubeconfigs(cluster.domain, plan, *pki));
  append(rendered.files, "pki", std::move(pki->files));
  append(rendered.files, "load-balancer",
         {{"haproxy-bootstrap.cfg", pki::Secret(render_haproxy(cluster, Phase::bootstrap))},
          {"haproxy.cfg", pki::Secret(render_haproxy(cluster, Phase::pivoted))}});
  rendered.files.push_back(api_server_url(cluster));
  rendered.files.push_back({"README.md", pki::Secret(render_readme(cluster, plan))});
  return rendered;
}

}  // namespace hcpnet::bootstrap
