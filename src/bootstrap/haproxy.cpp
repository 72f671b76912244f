// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/render.hpp>

namespace hcpnet::bootstrap {
namespace {

using spec::NodeRole;
using spec::ValidNode;

constexpr std::string_view kHead =
    R"(# Layer 4: TLS ends at the servers, so every name and client certificate is theirs to judge.
global
  log stdout format raw local0
  maxconn 20000

defaults
  mode tcp
  log global
  option tcplog
  option dontlognull
  timeout connect 10s
  timeout client 1h
  timeout server 1h
  timeout check 5s
  # `kubectl logs -f` and watches are idle for long
  timeout tunnel 24h
)";

struct Service {
  std::string_view name;
  std::uint16_t port;
  std::string_view check;  ///< lines of the backend
  std::string_view server_check;
};

// A TCP connect passes while the API server is not ready yet, and a plain HTTP check is answered 400 by a TLS port:
// only GET /readyz inside TLS tells. The certificate is not judged here, only whether it answers.
constexpr std::string_view kReadyz = R"(  option httpchk
  http-check send meth GET uri /readyz
  http-check expect status 200
)";
constexpr std::string_view kTlsCheck = "check check-ssl verify none inter 2s fall 3 rise 2";
constexpr std::string_view kHealthz = R"(  option httpchk
  http-check send meth GET uri /healthz
  http-check expect status 200
)";

std::string frontend(const Service& service, const std::vector<std::string>& addresses) {
  std::string text = "\nfrontend " + std::string(service.name) + '\n';
  for (const std::string& address : addresses) text += "  bind " + address + ':' + std::to_string(service.port) + '\n';
  return text + "  default_backend " + std::string(service.name) + "\n";
}

std::string backend(const Service& service, const std::vector<const ValidNode*>& nodes) {
  std::string text = "\nbackend " + std::string(service.name) + "\n  balance roundrobin\n" + std::string(service.check);
  for (const ValidNode* node : nodes)
    text += "  server " + node->name + ' ' + node->address.to_string() + ':' + std::to_string(service.port) + ' ' +
            std::string(service.server_check) + '\n';
  return text;
}

}  // namespace

std::string render_haproxy(const spec::ValidBootstrapCluster& cluster, Phase phase) {
  std::vector<const ValidNode*> control_plane = cluster.with_role(NodeRole::control_plane);
  std::vector<const ValidNode*> ingress = cluster.with_role(NodeRole::worker);
  if (ingress.empty()) ingress = control_plane;  // a compact cluster
  if (phase == Phase::bootstrap) control_plane.insert(control_plane.begin(), &cluster.bootstrap());

  const std::vector<std::string> api{cluster.api_vip.to_string()}, apps{cluster.ingress_vip.to_string()};
  const Service services[] = {
      {"api", 6443, kReadyz, kTlsCheck},
      // Serves the nodes' ignition, keys included: bind it where only nodes come from.
      {"machine-config", 22623, kHealthz, kTlsCheck},
      {"ingress-https", 443, "", "check inter 2s fall 3 rise 2"},
      {"ingress-http", 80, "", "check inter 2s fall 3 rise 2"},
  };
  std::string text(kHead);
  for (const Service& service : services) {
    const bool is_ingress = service.port == 443 || service.port == 80;
    text += frontend(service, is_ingress ? apps : api);
    text += backend(service, is_ingress ? ingress : control_plane);
  }
  return text;
}

}  // namespace hcpnet::bootstrap
