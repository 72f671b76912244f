// SPDX-License-Identifier: Apache-2.0
// From spec to routes. Ports, targets and fallbacks are HyperShift's; docs/proxy.md shows the resulting table.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "stack/derive.hpp"

namespace hcpnet::derive {
namespace {

constexpr std::uint16_t kApiPort = 6443;
constexpr std::uint16_t kHttpsPort = 443;
constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kKonnectivityPort = 8091;

/// nullopt: nobody said anything.
std::optional<std::vector<Endpoint>> known_endpoints(const Inputs& in, const std::string& service, std::uint16_t port) {
  const spec::EndpointMap& given = in.surroundings.endpoints;
  if (const auto found = given.find(service + ':' + std::to_string(port)); found != given.end()) return found->second;
  return in.observed.endpoints_of(service, port);
}

proxy::Backend service_backend(const Inputs& in, std::string name, const std::string& service, const std::string& ns,
                               std::uint16_t port) {
  proxy::Backend backend;
  backend.name = std::move(name);
  backend.port = port;
  backend.target = service + ':' + std::to_string(port);
  if (const auto address = parse_ipv4(service)) {
    backend.endpoints = {{*address, port}};
    return backend;
  }
  backend.target = ns + '/' + backend.target;
  auto known = known_endpoints(in, ns + '/' + service, port);
  backend.is_unserved = known && known->empty();
  if (!backend.is_unserved) backend.host = service + '.' + ns + ".svc.cluster.local";
  if (known) backend.endpoints = *std::move(known);
  return backend;
}

proxy::Route route(std::uint16_t port, std::vector<std::string> names, const std::string& backend) {
  proxy::Route r;
  r.port = port;
  r.names = std::move(names);
  r.backend = backend;
  return r;
}

/// Connections that name no server, or none that is known, are the API server's: guests reach the `kubernetes` Service
/// by address.
proxy::Route nameless_route(std::uint16_t port, const std::string& backend, proxy::SourceMatch source) {
  proxy::Route r = route(port, {}, backend);
  r.no_sni = r.other_sni = true;
  r.source = std::move(source);
  return r;
}

proxy::HealthCheck health_check(const spec::ProxyPolicy::HealthCheck& check) {
  proxy::HealthCheck made;
  made.kind = check.kind == spec::ProxyPolicy::HealthCheck::Kind::tls ? proxy::HealthCheck::Kind::tls
                                                                      : proxy::HealthCheck::Kind::tcp;
  made.interval = check.interval;
  made.timeout = check.timeout;
  made.failures = check.failures;
  made.successes = check.successes;
  return made;
}

proxy::Balance balance_of(spec::ProxyPolicy::Balance balance) {
  switch (balance) {
    case spec::ProxyPolicy::Balance::least_connections:
      return proxy::Balance::least_connections;
    case spec::ProxyPolicy::Balance::random_of_two:
      return proxy::Balance::random_of_two;
    case spec::ProxyPolicy::Balance::round_robin:
      break;
  }
  return proxy::Balance::round_robin;
}

bool sees_names(proxy::ListenerKind kind) {
  return kind == proxy::ListenerKind::tls || kind == proxy::ListenerKind::http;
}

/// A check has to be one that a healthy backend passes: over HTTP it gives no ServerHello, over UDP it takes no
/// connection. What goes through a listener of kind TCP may well be TLS, so there the policy is believed.
std::optional<proxy::HealthCheck> health_check_of(const spec::ValidProxyPolicy& policy, proxy::ListenerKind kind) {
  if (!policy.health_check || kind == proxy::ListenerKind::udp) return std::nullopt;
  proxy::HealthCheck check = health_check(*policy.health_check);
  if (kind == proxy::ListenerKind::http) check.kind = proxy::HealthCheck::Kind::tcp;
  return check;
}

/// What a policy says of every backend, and of this one, which `kind` of listener leads to.
void refine(proxy::Backend& backend, proxy::ListenerKind kind, const spec::ValidProxyPolicy& policy) {
  backend.idle_timeout = policy.idle_timeout;
  const auto own = std::ranges::find(policy.backends, backend.name, &spec::ProxyPolicy::Backend::name);
  if (own != policy.backends.end() && own->idle_timeout) {
    backend.idle_timeout = *own->idle_timeout;
    if (own->idle_timeout->count() == 0) backend.idle_timeout.reset();
  }
  backend.balance = balance_of(policy.balance);
  backend.max_connections = policy.max_connections_per_backend;
  backend.ejection = {policy.ejection_failures, policy.ejection_duration};
  backend.health_check = health_check_of(policy, kind);
  if (policy.send_proxy_header &&
      std::ranges::find(policy.proxy_header_to, backend.name) != policy.proxy_header_to.end())
    backend.proxy_header = *policy.send_proxy_header == spec::ProxyPolicy::ProxyHeader::v1
                               ? proxy::ProxyHeaderVersion::v1
                               : proxy::ProxyHeaderVersion::v2;
}

using spec::ProxyPolicy;

/// All addresses but the server's own are on the management side.
ProxyPolicy::Side side_of(const IpAddress& address, Ipv4 server_ip) {
  return address == IpAddress(server_ip) ? ProxyPolicy::Side::vlan : ProxyPolicy::Side::pod;
}

bool is_for(const spec::ValidProxyPolicy::AllowedNames& allowed, const Endpoint& listener, Ipv4 server_ip) {
  return allowed.port == listener.port && (!allowed.address || *allowed.address == listener.address) &&
         (!allowed.side || *allowed.side == side_of(listener.address, server_ip));
}

/// A list for the address goes before one for the side, and that before one for the port.
std::vector<std::string> names_of(const Endpoint& listener, Ipv4 server_ip, const spec::ValidProxyPolicy& policy) {
  const spec::ValidProxyPolicy::AllowedNames* closest = nullptr;
  const auto closeness = [](const auto& allowed) { return allowed.address ? 2 : allowed.side ? 1 : 0; };
  for (const spec::ValidProxyPolicy::AllowedNames& allowed : policy.allowed_names)
    if (is_for(allowed, listener, server_ip) && (closest == nullptr || closeness(allowed) > closeness(*closest)))
      closest = &allowed;
  return closest == nullptr ? std::vector<std::string>() : closest->names;
}

/// What a policy says of every listener.
proxy::Listener make_listener(const IpAddress& address, std::uint16_t port, proxy::ListenerKind kind, Ipv4 server_ip,
                              const spec::ValidProxyPolicy& policy) {
  proxy::Listener listener;
  listener.address = {address, port};
  listener.kind = kind;
  listener.allow = policy.allowed_sources;
  listener.deny = policy.denied_sources;
  if (sees_names(kind)) listener.only_names = names_of(listener.address, server_ip, policy);
  listener.max_connections = policy.max_connections_per_listener;
  if (kind != proxy::ListenerKind::udp) listener.trusted_proxies = policy.trusted_proxies;
  listener.interface = policy.interface;
  listener.dial_from = policy.dial_from;
  return listener;
}

class InfraRoutes {
 public:
  InfraRoutes(const Inputs& in, const spec::ValidInfra& infra) : in_(in), infra_(infra) {}

  proxy::RouteConfig build() {
    for (const spec::ValidCluster& cluster : infra_.clusters) add_cluster(cluster);
    add_listeners();
    return std::move(config_);
  }

 private:
  void add_cluster(const spec::ValidCluster& x) {
    const std::string& d = x.domain;
    const std::string api = add_backend(x, "kube-apiserver", "kube-apiserver", kApiPort);
    const std::string oauth = add_backend(x, "oauth-openshift", "oauth-openshift", kApiPort);
    const std::string ignition = add_backend(x, "ignition-server", "ignition-server-proxy", kHttpsPort);
    const std::string konnectivity = add_backend(x, "konnectivity-server", "konnectivity-server", kKonnectivityPort);

    const std::vector<std::string> api_names{"api." + d, "api-int." + d};
    config_.routes.push_back(route(kApiPort, api_names, api));
    config_.routes.push_back(nameless_route(kApiPort, api, own_workers(x)));
    config_.routes.push_back(route(kHttpsPort, {"oauth." + d}, oauth));
    config_.routes.push_back(route(kHttpsPort, {"oidc." + d}, api));  // it has the issuer's documents
    config_.routes.push_back(route(kHttpsPort, {"ignition." + d}, ignition));
    config_.routes.push_back(route(kHttpsPort, {"konnectivity." + d}, konnectivity));

    proxy::Route kubernetes = route(kHttpsPort, {std::begin(kKubernetesNames), std::end(kKubernetesNames)}, api);
    kubernetes.source = own_workers(x);
    config_.routes.push_back(std::move(kubernetes));
    config_.routes.push_back(route(kHttpsPort, {"kubernetes." + d}, api));

    if (x.external_port) config_.routes.push_back(route(*x.external_port, {"oauth." + d}, oauth));

    if (infra_.proxy_policy.publish_api_on_443) {
      config_.routes.push_back(route(kHttpsPort, api_names, api));
      config_.routes.push_back(nameless_route(kHttpsPort, api, own_workers(x)));
    }
    if (x.apps_vip) {
      proxy::Backend apps =
          service_backend(in_, x.name + "-apps-https", x.apps_vip->to_string(), {}, x.apps_https_port);
      config_.routes.push_back(route(kHttpsPort, {"*.apps." + d}, apps.name));
      push_backend(x, std::move(apps));
      proxy::Backend http = service_backend(in_, x.name + "-apps-http", x.apps_vip->to_string(), {}, x.apps_http_port);
      config_.routes.push_back(route(kHttpPort, {"*.apps." + d}, http.name));
      push_backend(x, std::move(http), proxy::ListenerKind::http);
      has_http_ = true;
    }
  }

  /// With one cluster every client is its own; with several only those whose address is known to be.
  [[nodiscard]] proxy::SourceMatch own_workers(const spec::ValidCluster& x) const {
    return infra_.clusters.size() == 1 ? proxy::SourceMatch{} : proxy::SourceMatch{{}, x.hosted_cluster};
  }

  std::string add_backend(const spec::ValidCluster& x, const std::string& suffix, const std::string& service,
                          std::uint16_t port) {
    proxy::Backend backend = service_backend(in_, x.name + '-' + suffix, service, x.control_plane_namespace, port);
    std::string name = backend.name;
    push_backend(x, std::move(backend));
    return name;
  }

  void push_backend(const spec::ValidCluster& x, proxy::Backend backend,
                    proxy::ListenerKind kind = proxy::ListenerKind::tls) {
    backend.cluster = x.hosted_cluster;
    if (infra_.proxy_policy.connect_timeout) backend.connect_timeout = *infra_.proxy_policy.connect_timeout;
    refine(backend, kind, infra_.proxy_policy);
    config_.backends.push_back(std::move(backend));
  }

  void add_listeners() {
    std::vector<IpAddress> addresses = in_.surroundings.pod_addresses;
    addresses.insert(addresses.begin(), infra_.proxy->server_ip);
    for (const IpAddress& address : addresses) {
      for (const std::uint16_t port : {kApiPort, kHttpsPort}) add_listener(address, port, proxy::ListenerKind::tls);
      if (has_http_) add_listener(address, kHttpPort, proxy::ListenerKind::http);
    }
    // What a cluster publishes leads to the management side only.
    for (const spec::ValidCluster& cluster : infra_.clusters)
      if (cluster.external_port)
        for (const IpAddress& address : in_.surroundings.pod_addresses)
          add_listener(address, *cluster.external_port, proxy::ListenerKind::tls);
  }

  void add_listener(const IpAddress& address, std::uint16_t port, proxy::ListenerKind kind) {
    config_.listeners.push_back(make_listener(address, port, kind, infra_.proxy->server_ip, infra_.proxy_policy));
  }

  const Inputs& in_;
  const spec::ValidInfra& infra_;
  bool has_http_ = false;  ///< somebody's applications are to be reached
  proxy::RouteConfig config_;
};

/// A ProxyServer says what it routes by name; who gets nameless connections follows from where its API servers are.
class ServerRoutes {
 public:
  ServerRoutes(const Inputs& in, const spec::ValidProxyServer& server) : in_(in), server_(server) {}

  proxy::RouteConfig build() {
    for (const spec::ValidProxyBackend& backend : server_.backends) add(backend);
    for (const auto& [port, kind] : ports_)
      if (kind == proxy::ListenerKind::tls) add_nameless(port);
    std::vector<IpAddress> addresses = in_.surroundings.pod_addresses;
    addresses.insert(addresses.begin(), server_.server_ip);
    for (const IpAddress& address : addresses)
      for (const auto& [port, kind] : ports_)
        config_.listeners.push_back(make_listener(address, port, kind, server_.server_ip, server_.policy));
    return std::move(config_);
  }

 private:
  void add(const spec::ValidProxyBackend& b) {
    const proxy::ListenerKind kind = kind_of(b);
    ports_.emplace(b.port, kind);
    proxy::Backend backend = service_backend(in_, b.name, b.target_service, b.target_namespace, b.target_port);
    backend.connect_timeout = server_.policy.connect_timeout.value_or(b.connect_timeout);
    refine(backend, kind, server_.policy);
    proxy::Route named = route(b.port, b.hostnames, b.name);
    named.source.prefixes = b.sources;
    named.protocol = proxy::protocol_of(kind);
    if (kind == proxy::ListenerKind::tcp || kind == proxy::ListenerKind::udp) {
      named.names.clear();  // nothing on such a port says which name it is for
      named.not_tls = true;
    }
    config_.backends.push_back(std::move(backend));
    config_.routes.push_back(std::move(named));
  }

  proxy::ListenerKind kind_of(const spec::ValidProxyBackend& b) const {
    if (b.protocol == spec::Protocol::udp) return proxy::ListenerKind::udp;
    const auto named = server_.policy.listeners.find(b.port);
    if (named == server_.policy.listeners.end()) return proxy::ListenerKind::tls;
    switch (named->second) {
      case spec::ProxyPolicy::ListenerKind::http:
        return proxy::ListenerKind::http;
      case spec::ProxyPolicy::ListenerKind::tcp:
        return proxy::ListenerKind::tcp;
      case spec::ProxyPolicy::ListenerKind::tls:
        break;
    }
    return proxy::ListenerKind::tls;
  }

  /// By its Service, or, where the target is an address or a Service of another name, by what clients call it.
  static bool is_api_server(const spec::ValidProxyBackend& b) {
    return b.target_service == "kube-apiserver" || std::ranges::any_of(b.hostnames, [&](const std::string& name) {
             return is_kubernetes_name(name) || name.starts_with("kubernetes.") ||
                    (b.target_port == kApiPort && (name.starts_with("api.") || name.starts_with("api-int.")));
           });
  }
  /// Under the names of the `kubernetes` Service alone an API server is not published.
  static bool is_published(const spec::ValidProxyBackend& b) {
    return is_api_server(b) && std::ranges::any_of(b.hostnames, [](const std::string& name) {
             return !is_kubernetes_name(name) && !name.starts_with("kubernetes.");
           });
  }

  void add_nameless(std::uint16_t port) {
    std::vector<const spec::ValidProxyBackend*> here;
    for (const auto& b : server_.backends)
      if (b.port == port && b.protocol == spec::Protocol::tcp) here.push_back(&b);
    const bool is_api_port =
        port == kApiPort || std::ranges::any_of(here, [](const auto* b) { return is_published(*b); });
    if (!is_api_port) return;

    using Target = std::tuple<std::string, std::string, std::uint16_t>;
    std::set<Target> unscoped;
    const spec::ValidProxyBackend* fallback = nullptr;
    for (const spec::ValidProxyBackend* b : here) {
      if (!is_api_server(*b)) continue;
      if (!b->sources.empty()) {
        add_scoped(port, *b);
      } else if (is_published(*b)) {
        unscoped.emplace(b->target_service, b->target_namespace, b->target_port);
        fallback = b;
      }
    }
    if (unscoped.size() == 1) config_.routes.push_back(nameless_route(port, fallback->name, {}));
  }

  void add_scoped(std::uint16_t port, const spec::ValidProxyBackend& b) {
    const auto is_same_claim = [&](const proxy::Route& r) {
      return r.port == port && r.no_sni && r.source.prefixes == b.sources;
    };
    if (std::ranges::none_of(config_.routes, is_same_claim))
      config_.routes.push_back(nameless_route(port, b.name, {b.sources, {}}));
  }

  const Inputs& in_;
  const spec::ValidProxyServer& server_;
  std::set<std::pair<std::uint16_t, proxy::ListenerKind>> ports_;
  proxy::RouteConfig config_;
};

proxy::AccessLogFormat access_log_format(const spec::ValidProxyPolicy& policy) {
  if (policy.access_log == spec::ProxyPolicy::AccessLog::json) return proxy::AccessLogFormat::json();
  if (!policy.access_log_template) return {};
  const auto format = proxy::AccessLogFormat::text(*policy.access_log_template);
  return format ? *format : proxy::AccessLogFormat();  // there is one: a rule has looked at it
}

proxy::EngineSettings settings_of(const spec::ValidProxyPolicy& policy) {
  proxy::EngineSettings settings;
  if (policy.inspect_timeout) settings.inspect_timeout = *policy.inspect_timeout;
  settings.max_hello_bytes = policy.max_hello_bytes;
  settings.max_connections = policy.max_connections;
  settings.max_connections_per_source = policy.max_connections_per_source;
  settings.max_connect_attempts = policy.max_connect_attempts;
  settings.removed_route_timeout = policy.drain_timeout;
  settings.udp_idle_timeout = policy.udp_idle_timeout;
  settings.keepalive = {policy.keepalive_idle, policy.keepalive_interval, static_cast<int>(policy.keepalive_probes)};
  settings.buffers = {policy.receive_buffer_bytes, policy.send_buffer_bytes};
  settings.access_log_format = access_log_format(policy);
  return settings;
}

/// Who asks for a proxy, and where.
struct Owner {
  const spec::ObjectMeta& metadata;
  const spec::Origin& origin;
  std::string pointer;  ///< of its address
  Ipv4 server_ip;
  std::set<std::uint16_t> later_ports = {};  ///< that it may listen on when more is known
};

/// What a policy says of backends and listeners that there are not; backends may come. Not so an address or a port: a
/// list for one that nothing listens on would restrict nobody. A side may be absent: where a process has no address on
/// it, nobody comes in, unless it listens on every address.
void find_absent(const Surroundings& surroundings, Diagnostics& problems, const Owner& owner,
                 const proxy::RouteConfig& config, const spec::ValidProxyPolicy& policy) {
  const auto report = [&](const std::string& pointer, const char* code, const std::string& message,
                          Severity severity = Severity::warning) {
    problems.add(problem(severity, policy.origin, pointer, owner.metadata, code, message));
  };
  const auto has_backend = [&](const std::string& name) {
    return std::ranges::find(config.backends, name, &proxy::Backend::name) != config.backends.end();
  };
  for (std::size_t i = 0; i < policy.proxy_header_to.size(); ++i)
    if (const std::string& name = policy.proxy_header_to[i]; !has_backend(name))
      report("/spec/proxyProtocol/backends/" + std::to_string(i), "no-such-backend",
             "the PROXY protocol goes to backend " + name + ", which there is not");
  for (std::size_t i = 0; i < policy.backends.size(); ++i)
    if (const std::string& name = policy.backends[i].name; !has_backend(name))
      report("/spec/backends/" + std::to_string(i) + "/name", "no-such-backend", "there is no backend " + name);
  for (std::size_t i = 0; i < policy.allowed_names.size(); ++i) {
    const auto& allowed = policy.allowed_names[i];
    const bool is_anywhere = std::ranges::any_of(config.listeners, [&](const proxy::Listener& l) {
      if (allowed.address) return l.address.address == *allowed.address;
      return !allowed.side || *allowed.side == side_of(l.address.address, owner.server_ip);
    });
    const bool has_effect = std::ranges::any_of(config.listeners, [&](const proxy::Listener& listener) {
      return sees_names(listener.kind) && is_for(allowed, listener.address, owner.server_ip);
    });
    if (!is_anywhere && allowed.address)
      report("/spec/allowedNames/" + std::to_string(i) + "/address", "no-such-listener",
             "the proxy does not listen on this address",
             surroundings.is_place_unknown ? Severity::warning : Severity::error);
    if (!is_anywhere && allowed.side && surroundings.has_any_address)
      report("/spec/allowedNames/" + std::to_string(i) + "/side", "no-such-listener",
             "for a proxy on every address it has to be known which are on this side (pod addresses)", Severity::error);
    if (is_anywhere && !has_effect)
      report("/spec/allowedNames/" + std::to_string(i), "no-such-listener",
             "no listener that sees names has this port" +
                 std::string(allowed.address ? " and address"
                             : allowed.side  ? ", on that side"
                                             : "") +
                 ", so the list restricts nobody",
             owner.later_ports.contains(allowed.port) ? Severity::warning : Severity::error);
  }
}

void add_proxy(const Surroundings& surroundings, StackConfig& out, Diagnostics& problems, const Owner& owner,
               proxy::RouteConfig config, const spec::ValidProxyPolicy& policy, proxy::SourceClusters workers) {
  find_absent(surroundings, problems, owner, config, policy);
  auto table = proxy::RouteTable::build(std::move(config));
  if (table.has_error()) {
    for (const Diagnostic& d : Diagnostics(table.error()))
      problems.add(problem(d.severity, owner.origin, owner.pointer, owner.metadata, d.code,
                           d.message + " (" + d.path + (d.found.empty() ? "" : ": " + d.found) + ')'));
    return;
  }
  out.proxies.push_back({owner.metadata.key(), std::move(*table), settings_of(policy), policy.workers,
                         std::move(workers), declared_at(owner.origin, owner.pointer)});
}

proxy::SourceClusters workers_of(const Inputs& in, const spec::ValidInfra& infra) {
  proxy::SourceClusters workers;
  for (const spec::ValidCluster& cluster : infra.clusters) {
    const auto addresses = in.observed.namespace_workers.find(cluster.control_plane_namespace);
    if (addresses == in.observed.namespace_workers.end()) continue;
    for (const IpAddress& address : addresses->second)
      if (infra.is_on_link(address)) workers.emplace(address, cluster.hosted_cluster);
  }
  return workers;
}

/// HTTP begins with the first address of applications, and what a cluster publishes with a management address.
std::set<std::uint16_t> later_ports(const spec::ValidInfra& infra) {
  std::set<std::uint16_t> ports{kHttpPort};
  for (const spec::ValidCluster& cluster : infra.clusters)
    if (cluster.external_port) ports.insert(*cluster.external_port);
  return ports;
}

}  // namespace

void proxy_config(const Inputs& in, StackConfig& out, Diagnostics& problems) {
  for (const spec::ValidInfra& infra : in.set.infras) {
    if (!infra.proxy) continue;
    if (infra.clusters.empty()) {
      problems.add(problem(Severity::warning, infra.origin, "/spec/infraComponents/proxy", infra.metadata,
                           "no-clusters", "the proxy has no hosted cluster to route to: it closes every connection"));
    }
    add_proxy(in.surroundings, out, problems,
              {infra.metadata, infra.origin, "/spec/infraComponents/proxy/serverIP", infra.proxy->server_ip,
               later_ports(infra)},
              InfraRoutes(in, infra).build(), infra.proxy_policy, workers_of(in, infra));
  }
  for (const spec::ValidProxyServer& server : in.set.proxy_servers)
    add_proxy(in.surroundings, out, problems,
              {server.metadata, server.origin, "/spec/networkConfig/serverIP", server.server_ip},
              ServerRoutes(in, server).build(), server.policy, {});
}

}  // namespace hcpnet::derive
