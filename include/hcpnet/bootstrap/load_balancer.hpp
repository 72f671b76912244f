// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/net.hpp>
#include <hcpnet/pki/file_set.hpp>
#include <hcpnet/spec/validate.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// What stands between clients and the nodes. Layer 4: TLS ends at the servers, so every name and client certificate is
/// theirs to judge. Pure. Thread-safe.
namespace hcpnet::bootstrap {

/// While the bootstrap node serves the API, and once it has left.
enum class Phase : std::uint8_t { bootstrap, pivoted };

/// A request whose answer, status 200, tells that a node is ready. A TCP connect tells less: it passes while an API
/// server still starts. A plain HTTP request to a port of TLS is answered 400, so that every healthy server counts as
/// down.
struct ReadinessCheck {
  std::uint16_t port = 0;
  std::string path;
  bool is_tls = false;  ///< the certificate is not judged, only the answer
};

/// A port of a virtual address, and the nodes that serve it on the same port.
struct BalancedService {
  std::string name;  ///< "api", "machine-config", "ingress-https" or "ingress-http"
  Ipv4 address;
  std::uint16_t port = 0;
  ReadinessCheck check;
  std::vector<const spec::ValidNode*> nodes;  ///< of the cluster, which has to outlive this
};

/// 6443 and 22623 of the API address go to the control plane, and before it to the bootstrap node while that is there;
/// 443 and 80 of the ingress address to the workers, or to the control plane where there are none.
[[nodiscard]] std::vector<BalancedService> balanced_services(const spec::ValidBootstrapCluster& cluster, Phase phase);

/// haproxy.cfg. A server that refuses a connection is out at once, the connection goes to another one, and only its
/// readiness check brings it back. The addresses are bound also while this host doesn't have them.
[[nodiscard]] std::string render_haproxy(const spec::ValidBootstrapCluster& cluster, Phase phase);

/// keepalived.conf, the same for every host of the load balancer: one that runs HAProxy has the virtual addresses, and
/// keeps them until it is gone. Precondition: the spec has `keepalived`.
[[nodiscard]] std::string render_keepalived(const spec::ValidBootstrapCluster& cluster);

/// A ProxyServer with its ProxyPolicy for each virtual address: hcpnet's own proxy in place of HAProxy. Its check of
/// the API is a TLS handshake, which passes while an API server still starts.
[[nodiscard]] std::vector<nlohmann::json> make_proxy_servers(const spec::ValidBootstrapCluster& cluster);
/// The endpoint map that goes with them, "namespace/service:port" to addresses with ports. With another phase's map and
/// a reload the bootstrap node leaves.
[[nodiscard]] nlohmann::json make_proxy_endpoints(const spec::ValidBootstrapCluster& cluster, Phase phase);

/// All of these: haproxy-bootstrap.cfg, haproxy.cfg, keepalived.conf where the spec has it, proxy.yaml,
/// endpoints-bootstrap.yaml, endpoints.yaml.
[[nodiscard]] std::vector<pki::OutputFile> render_load_balancer(const spec::ValidBootstrapCluster& cluster);

}  // namespace hcpnet::bootstrap
