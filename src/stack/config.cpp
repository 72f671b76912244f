// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/stack/config.hpp>
#include <set>
#include <utility>

#include "spec/format.hpp"
#include "stack/derive.hpp"

namespace hcpnet {
namespace derive {

bool is_kubernetes_name(std::string_view name) noexcept {
  return std::ranges::find(kKubernetesNames, name) != std::end(kKubernetesNames);
}

DeclaredAt declared_at(const spec::Origin& origin, const std::string& pointer) {
  const text::Position position = origin.position(pointer);
  return {origin.file, position.line, position.column, origin.path + pointer};
}

namespace {

Diagnostic problem_at(const DeclaredAt& place, Severity severity, std::string code, std::string message) {
  Diagnostic d;
  d.severity = severity;
  d.file = place.file;
  d.line = place.line;
  d.column = place.column;
  d.path = place.path;
  d.code = std::move(code);
  d.message = std::move(message);
  return d;
}

/// How a message names a server that is not the one it is about.
std::string named(const std::string& owner, const DeclaredAt& place) {
  return place.line == 0 ? owner : owner + " (" + place.file + ':' + std::to_string(place.line) + ')';
}

}  // namespace

Diagnostic problem(Severity severity, const spec::Origin& origin, const std::string& pointer,
                   const spec::ObjectMeta& owner, std::string code, std::string message) {
  return problem_at(declared_at(origin, pointer), severity, std::move(code), owner.key() + ": " + std::move(message));
}

bool is_worker_address(const spec::ValidInfra& infra, const IpAddress& address) {
  return address.is_v4() && infra.cidr.contains(address.v4());
}

bool every_cluster_has_sources(const spec::ValidInfra& infra, const spec::Observed& observed) {
  return std::ranges::all_of(infra.clusters, [&](const spec::ValidCluster& cluster) {
    const auto workers = observed.namespace_workers.find(cluster.control_plane_namespace);
    if (workers != observed.namespace_workers.end() &&
        std::ranges::any_of(workers->second, [&](const IpAddress& a) { return is_worker_address(infra, a); }))
      return true;
    return std::ranges::any_of(observed.mac_namespaces,
                               [&](const auto& vm) { return vm.second == cluster.control_plane_namespace; });
  });
}

namespace {

/// Commands, metrics and a reload tell servers of one kind apart by the names of their objects alone.
void check_names(const StackConfig& out, Diagnostics& problems) {
  const auto compare = [&](const char* what, const auto& servers) {
    std::map<std::string, std::string> seen;
    for (const auto& server : servers) {
      const auto [other, is_new] = seen.try_emplace(server.owner, named(server.owner, server.declared_at));
      if (!is_new)
        problems.add(problem_at(server.declared_at, Severity::error, "same-name",
                                std::string("a ") + what + " of this name is there already, by " + other->second +
                                    ": an Infra and a single server of the same name need a process each"));
    }
  };
  compare("DNS server", out.dns);
  compare("proxy", out.proxies);
  std::set<std::string> subnets;
  for (const dhcp::Subnet& subnet : out.dhcp.subnets) {
    if (subnets.insert(subnet.name).second) continue;
    problems.add(problem_at({}, Severity::error, "same-name",
                            "DHCP of " + subnet.name +
                                " is there twice: by an Infra and by a DHCPServer of the same name, "
                                "which need a process each"));
  }
}

Diagnostics check_surroundings(const Inputs& in) {
  Diagnostics problems;
  std::set<IpAddress> seen;
  const auto refuse = [&](const IpAddress& address, const std::string& why) {
    problems.add(
        problem_at({}, Severity::error, "bad-pod-address", "the pod address " + address.to_string() + ' ' + why));
  };
  for (const IpAddress& address : in.surroundings.pod_addresses) {
    if (address.is_unspecified() || spec::is_multicast(address)) refuse(address, "is none that a host can have");
    if (!seen.insert(address).second) refuse(address, "is given twice");
  }
  const auto compare = [&](const auto& server, const std::string& owner) {
    if (server && seen.contains(server->server_ip)) refuse(server->server_ip, "is the address on the VLAN of " + owner);
  };
  for (const spec::ValidInfra& infra : in.set.infras) {
    compare(infra.dns, infra.metadata.key());
    compare(infra.proxy, infra.metadata.key());
  }
  for (const spec::ValidDnsServer& server : in.set.dns_servers) compare(std::optional(server), server.metadata.key());
  for (const spec::ValidProxyServer& server : in.set.proxy_servers)
    compare(std::optional(server), server.metadata.key());
  return problems;
}

/// A pod address belongs to the whole process: two proxies, or two DNS servers, can't both have it.
void check_pod_addresses(const Inputs& in, const StackConfig& out, Diagnostics& problems) {
  if (in.surroundings.pod_addresses.empty()) return;
  const auto refuse = [&](const char* what, const auto& first, const auto& second) {
    problems.add(problem_at(second.declared_at, Severity::error, "pod-address-ambiguous",
                            std::string("a pod address can serve one ") + what + " only, and the set has " +
                                named(first.owner, first.declared_at) + " beside " + second.owner +
                                "; run one process for each"));
  };
  if (out.dns.size() > 1) refuse("DNS server", out.dns[0], out.dns[1]);
  if (out.proxies.size() > 1) refuse("proxy", out.proxies[0], out.proxies[1]);
}

/// Two servers of one kind on one address and port: the second bind would fail with a message that names no object.
void check_listeners(const StackConfig& out, Diagnostics& problems) {
  enum class Socket : std::uint8_t { dns, proxy_tcp, proxy_udp };
  std::map<std::pair<Socket, Endpoint>, std::string> seen;
  const auto claim = [&](Socket socket, const Endpoint& address, const auto& server) {
    const auto [other, is_new] = seen.try_emplace({socket, address}, named(server.owner, server.declared_at));
    if (!is_new)
      problems.add(problem_at(server.declared_at, Severity::error, "listener-collides",
                              server.owner + " and " + other->second + " both listen on " + address.to_string()));
  };
  for (const DnsServerConfig& server : out.dns)
    for (const Endpoint& listener : server.config.listeners) claim(Socket::dns, listener, server);
  for (const ProxyServerConfig& proxy : out.proxies)
    for (const proxy::Listener& listener : proxy.table->config().listeners)
      claim(listener.kind == proxy::ListenerKind::udp ? Socket::proxy_udp : Socket::proxy_tcp, listener.address, proxy);
}

void map_vms_to_clusters(const Inputs& in, StackConfig& out) {
  std::map<std::string, std::string> clusters;  // by control-plane namespace, where HyperShift puts the VMs
  for (const spec::ValidInfra& infra : in.set.infras)
    for (const spec::ValidCluster& cluster : infra.clusters)
      clusters.emplace(cluster.control_plane_namespace, cluster.hosted_cluster);
  for (const auto& [mac, vm_namespace] : in.observed.mac_namespaces)
    if (const auto cluster = clusters.find(vm_namespace); cluster != clusters.end())
      out.mac_clusters.emplace(mac, cluster->second);
}

}  // namespace
}  // namespace derive

Result<StackConfig, Diagnostics> make_stack_config(const spec::ValidSet& set, const spec::Observed& observed,
                                                   const Surroundings& surroundings) {
  const derive::Inputs in{set, observed, surroundings};
  if (Diagnostics wrong = derive::check_surroundings(in); wrong.has_errors()) return wrong;
  StackConfig out;
  Diagnostics problems;
  derive::dhcp_config(in, out);
  derive::dns_config(in, out, problems);
  derive::proxy_config(in, out, problems);
  derive::map_vms_to_clusters(in, out);
  if (!problems.has_errors()) {
    derive::check_names(out, problems);
    derive::check_pod_addresses(in, out, problems);
    derive::check_listeners(out, problems);
  }
  if (problems.has_errors()) return problems;
  out.warnings = std::move(problems);
  return out;
}

}  // namespace hcpnet
