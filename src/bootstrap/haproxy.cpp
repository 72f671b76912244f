// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/load_balancer.hpp>
#include <string_view>

namespace hcpnet::bootstrap {
namespace {

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
  # Who is refused by one server tries another one.
  retries 3
  option redispatch 1
  timeout connect 10s
  timeout client 1h
  timeout server 1h
  timeout check 5s
  # `kubectl logs -f` and watches are idle for long
  timeout tunnel 24h
)";

// What clients meet counts too: a server that refused one connection is out until its check has passed twice. A check
// every two seconds alone would miss a restart that is quicker, and send clients to a server that is not ready.
constexpr std::string_view kChecked = "inter 2s fall 3 rise 2 observe layer4 error-limit 1 on-error mark-down";

/// Transparent: bound also while another host has the address, or before the bridge with it is there after a boot.
std::string frontend(const BalancedService& service) {
  return "\nfrontend " + service.name + "\n  bind " + service.address.to_string() + ':' + std::to_string(service.port) +
         " transparent\n  default_backend " + service.name + '\n';
}

std::string backend(const BalancedService& service) {
  const ReadinessCheck& check = service.check;
  std::string text = "\nbackend " + service.name +
                     "\n  balance roundrobin\n  option httpchk\n  http-check send meth GET uri " + check.path +
                     "\n  http-check expect status 200\n";
  for (const spec::ValidNode* node : service.nodes) {
    text += "  server " + node->name + ' ' + node->address.to_string() + ':' + std::to_string(service.port) + " check";
    if (check.port != service.port) text += " port " + std::to_string(check.port);
    if (check.is_tls) text += " check-ssl verify none";
    text += ' ' + std::string(kChecked) + '\n';
  }
  return text;
}

}  // namespace

std::string render_haproxy(const spec::ValidBootstrapCluster& cluster, Phase phase) {
  std::string text(kHead);
  for (const BalancedService& service : balanced_services(cluster, phase)) text += frontend(service) + backend(service);
  return text;
}

std::string render_keepalived(const spec::ValidBootstrapCluster& cluster) {
  const spec::BootstrapCluster::Keepalived& keepalived = *cluster.spec.keepalived;
  return "# The same on every host of the load balancer: the one that has the addresses keeps them until it is gone.\n"
         "vrrp_track_process haproxy {\n  process haproxy\n}\n\nvrrp_instance " +
         cluster.spec.cluster_name + " {\n  state BACKUP\n  nopreempt\n  interface " + keepalived.interface +
         "\n  virtual_router_id " + std::to_string(keepalived.virtual_router_id) +
         "\n  priority 100\n  advert_int 1\n  virtual_ipaddress {\n    " + cluster.api_vip.to_string() + "/32\n    " +
         cluster.ingress_vip.to_string() + "/32\n  }\n  track_process {\n    haproxy\n  }\n}\n";
}

}  // namespace hcpnet::bootstrap
