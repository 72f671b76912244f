// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/load_balancer.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <utility>

namespace hcpnet::bootstrap {

using spec::NodeRole;
using spec::ValidNode;

std::vector<BalancedService> balanced_services(const spec::ValidBootstrapCluster& cluster, Phase phase) {
  std::vector<const ValidNode*> control_plane = cluster.with_role(NodeRole::control_plane);
  std::vector<const ValidNode*> ingress = cluster.with_role(NodeRole::worker);
  if (ingress.empty()) ingress = control_plane;  // a compact cluster
  if (phase == Phase::bootstrap) control_plane.insert(control_plane.begin(), &cluster.bootstrap());

  // Of the ingress controller: one answer for both of its ports, and only where a router runs.
  const ReadinessCheck router{1936, "/healthz/ready", false};
  return {{"api", cluster.api_vip, 6443, {6443, "/readyz", true}, control_plane},
          {"machine-config", cluster.api_vip, 22623, {22623, "/healthz", true}, control_plane},
          {"ingress-https", cluster.ingress_vip, 443, router, ingress},
          {"ingress-http", cluster.ingress_vip, 80, router, ingress}};
}

std::vector<pki::OutputFile> render_load_balancer(const spec::ValidBootstrapCluster& cluster) {
  std::vector<pki::OutputFile> files;
  const auto add = [&](const char* name, std::string text) { files.push_back({name, pki::Secret(std::move(text))}); };
  add("haproxy-bootstrap.cfg", render_haproxy(cluster, Phase::bootstrap));
  add("haproxy.cfg", render_haproxy(cluster, Phase::pivoted));
  if (cluster.spec.keepalived) add("keepalived.conf", render_keepalived(cluster));
  add("proxy.yaml", text::render_yaml_documents(make_proxy_servers(cluster)));
  add("endpoints-bootstrap.yaml", text::render_yaml(make_proxy_endpoints(cluster, Phase::bootstrap)));
  add("endpoints.yaml", text::render_yaml(make_proxy_endpoints(cluster, Phase::pivoted)));
  return files;
}

}  // namespace hcpnet::bootstrap
