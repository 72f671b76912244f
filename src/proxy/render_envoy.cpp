// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/proxy/render_envoy.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "proxy/any_address.hpp"
#include "proxy/envoy_parts.hpp"

namespace hcpnet::proxy {
namespace {

using namespace envoy;

constexpr std::uint32_t kConnectionBufferBytes = 64 * 1024;
constexpr std::size_t kLargestHelloBytes = 16 * 1024;  ///< that Envoy reads
const std::string kNotice = "# Made by `hcpnet render --target envoy`.\n";

/// One client range in Envoy's form.
Json prefix(const Cidr& range) {
  return {{"address_prefix", range.network().to_string()}, {"prefix_len", range.prefix_length()}};
}

Json network_filter(const char* name, const char* type, Json config) {
  return {{"name", std::string("envoy.filters.network.") + name}, {"typed_config", typed(type, std::move(config))}};
}

/// Lets these clients in, or all but these.
Json access_filter(const std::vector<Cidr>& clients, bool are_allowed) {
  Json principals = Json::array();
  for (const Cidr& client : clients) principals.push_back({{"direct_remote_ip", prefix(client)}});
  Json policy = {{"permissions", Json::array({{{"any", true}}})}, {"principals", std::move(principals)}};
  return network_filter(
      "rbac", "filters.network.rbac.v3.RBAC",
      {{"stat_prefix", "clients"},
       {"rules", {{"action", are_allowed ? "ALLOW" : "DENY"}, {"policies", {{"clients", std::move(policy)}}}}}});
}

class EnvoyRenderer {
 public:
  EnvoyRenderer(const RouteConfig& config, const SourceClusters& workers, const EnvoyOptions& options,
                Diagnostics& warnings)
      : config_(config), options_(options), warnings_(warnings) {
    for (const auto& [address, cluster] : workers) workers_[cluster].insert(Cidr(address, address.is_v4() ? 32 : 128));
    if (options.any_address)
      merge_listeners();
    else
      listeners_ = config.listeners;
    if (options.settings.max_connections_per_source > 0) warn("a limit of connections for each client");
    // Envoy's field for less, `max_client_hello_size`, is too new: one that does not know it would not start.
    if (options.settings.max_hello_bytes != kLargestHelloBytes)
      warn("another limit for a ClientHello than Envoy's 16 KiB");
  }

  Json listeners() {
    Json all = Json::array();
    for (const auto& [key, listener] : addresses()) {
      const auto& [address, port, protocol] = key;
      Json json = protocol == Protocol::udp ? udp_listener(address, *listener) : tcp_listener(address, *listener);
      // Envoy does not start with a TCP listener that leads nowhere.
      if (protocol == Protocol::udp || !json["filter_chains"].empty()) all.push_back(std::move(json));
    }
    if (options_.observe_port) all.push_back(observe_listener(*options_.observe_port));
    return all;
  }

  Json clusters() {
    std::set<std::vector<IpAddress>> dial_from;
    for (const Listener& listener : listeners_) dial_from.insert(listener.dial_from);
    if (dial_from.size() > 1) warn("listeners that dial from different addresses");
    Json all = Json::array();
    for (const Backend& backend : config_.backends) {
      all.push_back(
          cluster(backend, options_.settings, dial_from.size() == 1 ? *dial_from.begin() : std::vector<IpAddress>{}));
    }
    if (options_.observe_port) all.push_back(admin_cluster());
    return all;
  }

  /// Everything but listeners and clusters.
  [[nodiscard]] Json frame() const {
    return {{"node", {{"id", options_.node}, {"cluster", options_.node}}},
            {"admin", {{"address", socket_address("127.0.0.1", options_.admin_port)}}},
            {"overload_manager", overload_manager()}};
  }

 private:
  using Address = std::tuple<std::string, std::uint16_t, Protocol>;
  /// Address and port of each listener, in order, once.
  [[nodiscard]] std::map<Address, const Listener*> addresses() const {
    std::map<Address, const Listener*> all;
    for (const Listener& l : listeners_) {
      const std::string address = options_.any_address ? "0.0.0.0" : l.address.address.to_string();
      all.emplace(Address{address, l.address.port, protocol_of(l.kind)}, &l);
    }
    return all;
  }

  /// Where addresses of a port allow different names, each that is known has chains of its own, and every other address
  /// serves what the unspecified one is to, or what all of them allow.
  void merge_listeners() {
    for (MergedListener& merged : merged_listeners(config_.listeners)) {
      if (merged.differs) part_addresses(merged);
      if (merged.is_closed) closed_.insert(merged.listener.address);
      listeners_.push_back(std::move(merged.listener));
    }
  }
  void part_addresses(MergedListener& merged) {
    for (const Listener& own : config_.listeners) {
      if (own.address.port != merged.listener.address.port || own.kind == ListenerKind::udp) continue;
      if (own.address.address.is_unspecified()) {
        merged.listener.only_names = own.only_names;
        merged.is_closed = false;
      } else {
        own_[merged.listener.address].push_back(&own);
      }
    }
  }

  void warn(const std::string& message, const char* code = "not-expressible") {
    Diagnostic d;
    d.severity = Severity::warning;
    d.code = code;
    d.message = message;
    if (warned_.insert(d.message).second) warnings_.add(std::move(d));
  }
  void warn(const Route& route, const char* code, const std::string& message) {
    warn("port " + std::to_string(route.port) + ", backend " + route.backend + ": " + message, code);
  }

  /// The names of a route that a listener serves. What it allows of a wildcard is this route's only where no route has
  /// a name closer to it.
  [[nodiscard]] std::vector<std::string> served(const Route& route, const Listener& listener) const {
    if (listener.only_names.empty()) return route.names;
    const auto is_closer = [](const std::string& other, const std::string& name, const std::string& allowed) {
      return other != name && is_covered(other, name) && is_covered(allowed, other);
    };
    const auto is_taken = [&](const std::string& allowed, const std::string& name) {
      return std::ranges::any_of(config_.routes, [&](const Route& other) {
        return other.port == route.port && other.protocol == route.protocol &&
               std::ranges::any_of(other.names, [&](const std::string& n) { return is_closer(n, name, allowed); });
      });
    };
    std::set<std::string> some;
    for (const std::string& name : route.names)
      for (const std::string& allowed : listener.only_names) {
        if (is_covered(name, allowed)) some.insert(name);
        if (is_covered(allowed, name) && !is_taken(allowed, name)) some.insert(allowed);
      }
    return {some.begin(), some.end()};
  }

  [[nodiscard]] const Backend& backend_of(const Route& route) const {
    return *std::ranges::find(config_.backends, route.backend, &Backend::name);
  }

  static Json admission(const Listener& listener) {
    Json filters = Json::array();
    if (!listener.deny.empty()) filters.push_back(access_filter(listener.deny, false));
    if (!listener.allow.empty()) filters.push_back(access_filter(listener.allow, true));
    return filters;
  }

  Json tunnel(const Listener& listener, const Route& route) {
    const Backend& backend = backend_of(route);
    Json filters = listener.kind == ListenerKind::tcp ? Json::array() : admission(listener);
    filters.push_back(
        network_filter("tcp_proxy", "filters.network.tcp_proxy.v3.TcpProxy",
                       {{"stat_prefix", backend.name},
                        {"cluster", backend.name},
                        {"max_connect_attempts", options_.settings.max_connect_attempts},
                        // Without this Envoy ends a silent tunnel, and with it somebody's watch, after an hour.
                        {"idle_timeout", backend.idle_timeout ? seconds(*backend.idle_timeout) : "0s"}}));
    return filters;
  }

  [[nodiscard]] std::set<Cidr> clients_of(const SourceMatch& source) const {
    std::set<Cidr> clients(source.prefixes.begin(), source.prefixes.end());
    if (const auto own = workers_.find(source.cluster); own != workers_.end())
      clients.insert(own->second.begin(), own->second.end());
    return clients;
  }

  /// False: the route is for clients of whom none is known.
  bool add_sources(const Route& route, Json& match) {
    if (route.source.is_everyone()) return true;
    const std::set<Cidr> clients = clients_of(route.source);
    if (clients.empty()) {
      warn(route, "no-sources", "no client of the cluster is known yet, so the route is left out");
      return false;
    }
    match["source_prefix_ranges"] = Json::array();
    for (const Cidr& client : clients) match["source_prefix_ranges"].push_back(prefix(client));
    return true;
  }

  void add_chain(Json& chains, const Listener& listener, const Route& route, Json match) {
    if (add_sources(route, match)) push_chain(chains, listener, route, std::move(match));
  }
  void push_chain(Json& chains, const Listener& listener, const Route& route, Json match) {
    Json chain = {{"filters", tunnel(listener, route)}, {"name", route.backend + '-' + std::to_string(chains.size())}};
    chain["filter_chain_match"] = std::move(match);
    chains.push_back(std::move(chain));
  }

  /// Envoy stays with the chains of the closest name; it does not go on to a broader claim for other clients.
  void find_nested(const Listener& listener) {
    std::map<std::string, std::vector<const Route*>> claims;
    std::vector<const Route*> some;  // for some clients
    for (const Route& route : config_.routes) {
      if (route.port != listener.address.port || route.protocol != Protocol::tcp) continue;
      if (!route.source.is_everyone()) some.push_back(&route);
      for (const std::string& name : served(route, listener)) claims[name].push_back(&route);
    }
    for (const auto& [name, routes] : claims)
      for (const Route* other : some) {
        const bool is_broader = (other->other_sni && listener.only_names.empty()) ||
                                std::ranges::any_of(other->names, [&, &n = name](const std::string& wider) {
                                  return n != wider && is_covered(n, wider);
                                });
        const bool has_own = std::ranges::any_of(routes, [&](const Route* route) {
          return route->source.is_everyone() || clients_of(route->source) == clients_of(other->source);
        });
        if (is_broader && !has_own)
          warn("port " + std::to_string(listener.address.port) + ": " + name +
               " is for some clients, and a broader claim of backend " + other->backend +
               " for others, who are closed instead");
      }
  }

  Json tls_chains(const Listener& listener) {
    find_nested(listener);
    Json chains = Json::array();
    for (const Route& route : config_.routes) {
      if (route.port != listener.address.port || route.protocol != Protocol::tcp) continue;
      const auto names = served(route, listener);
      if (!names.empty()) add_chain(chains, listener, route, {{"transport_protocol", "tls"}, {"server_names", names}});
      if (!listener.only_names.empty()) continue;
      if (route.no_sni != route.other_sni)
        warn(route, "not-expressible", "Envoy can't tell a missing server name from an unknown one");
      else if (route.no_sni)
        add_chain(chains, listener, route, {{"transport_protocol", "tls"}});
      if (route.not_tls) add_chain(chains, listener, route, {{"transport_protocol", "raw_buffer"}});
    }
    return chains;
  }

  /// Envoy's filter for clients waits for what a client says. Where the server speaks first it would be heard by those
  /// who may not connect: they are told by the chain that their address leads to.
  Json blind_chains(const Listener& listener) {
    Json chains = Json::array();
    std::set<Cidr> taken;
    for (const bool is_for_everyone : {false, true})
      for (const Route& route : config_.routes)
        if (route.port == listener.address.port && route.protocol == Protocol::tcp && route.not_tls &&
            route.source.is_everyone() == is_for_everyone)
          add_blind_chain(chains, listener, route, taken);
    if (!chains.empty() && !listener.deny.empty()) chains.push_back(closing_chain(listener.deny));
    return chains;
  }

  void add_blind_chain(Json& chains, const Listener& listener, const Route& route, std::set<Cidr>& taken) {
    Json match = Json::object();
    if (!add_sources(route, match)) return;
    if (!listener.allow.empty() || !listener.deny.empty()) {
      match["source_prefix_ranges"] = Json::array();
      for (const Cidr& client : admitted(clients_of(route.source), listener))
        if (taken.insert(client).second) match["source_prefix_ranges"].push_back(prefix(client));
      if (match["source_prefix_ranges"].empty()) return;
    }
    push_chain(chains, listener, route, std::move(match));
  }

  /// Of these clients, or of all where there are none, those whom the listener allows. What it denies a part of is
  /// left whole: the part has a chain that is closer to it.
  static std::set<Cidr> admitted(std::set<Cidr> clients, const Listener& listener) {
    const std::set<Cidr> everyone{Cidr(Ipv4{}, 0), Cidr(Ipv6{}, 0)};
    std::set<Cidr> allowed(listener.allow.begin(), listener.allow.end());
    if (allowed.empty()) allowed = everyone;
    if (clients.empty()) clients = everyone;
    std::set<Cidr> all;
    for (const Cidr& client : clients)
      for (const Cidr& one : allowed)
        if (client.overlaps(one)) all.insert(client.prefix_length() > one.prefix_length() ? client : one);
    std::erase_if(all, [&](const Cidr& client) {
      return std::ranges::any_of(listener.deny, [&](const Cidr& denied) {
        return client.overlaps(denied) && denied.prefix_length() <= client.prefix_length();
      });
    });
    return all;
  }

  /// Ends the connections of these clients before anybody has said anything.
  static Json closing_chain(const std::vector<Cidr>& clients) {
    Json ranges = Json::array();
    for (const Cidr& client : std::set<Cidr>(clients.begin(), clients.end())) ranges.push_back(prefix(client));
    Json filter = network_filter("direct_response", "filters.network.direct_response.v3.Config", Json::object());
    return {{"name", "denied"},
            {"filter_chain_match", {{"source_prefix_ranges", std::move(ranges)}}},
            {"filters", Json::array({std::move(filter)})}};
  }

  using Hosts = std::map<std::string, std::string>;  ///< domain to backend; none: closed
  /// A route of an HTTP listener.
  struct HttpRoute {
    const Route* route;
    std::vector<std::string> domains;
    std::set<Cidr> clients;
  };

  /// One chain for each kind of client. Envoy refuses two for one range, and takes the narrowest that a client is in:
  /// each range has all that counts for its clients.
  Json http_chains(const Listener& listener) {
    std::vector<HttpRoute> routes;
    std::set<Cidr> ranges;
    bool is_for_everyone = false;
    for (const Route& route : config_.routes) {
      if (route.port != listener.address.port || route.protocol != Protocol::tcp) continue;
      Json match = Json::object();
      if (add_sources(route, match) && route.source.is_everyone()) is_for_everyone = true;
      HttpRoute& known = routes.emplace_back(HttpRoute{&route, served(route, listener), clients_of(route.source)});
      if (route.other_sni && listener.only_names.empty()) known.domains.emplace_back("*");
      ranges.insert(known.clients.begin(), known.clients.end());
    }
    Json chains = Json::array();
    if (is_for_everyone) push_http_chain(chains, listener, hosts_for(nullptr, routes), Json::object());
    std::vector<std::pair<Hosts, Json>> groups;
    for (const Cidr& range : ranges) {
      Hosts hosts = hosts_for(&range, routes);
      auto group = std::ranges::find(groups, hosts, &std::pair<Hosts, Json>::first);
      if (group == groups.end()) group = groups.emplace(group, std::move(hosts), Json::array());
      group->second.push_back(prefix(range));
    }
    for (auto& [hosts, clients] : groups) {
      Json match = Json::object();
      match["source_prefix_ranges"] = std::move(clients);
      push_http_chain(chains, listener, hosts, std::move(match));
    }
    return chains;
  }

  void push_http_chain(Json& chains, const Listener& listener, const Hosts& hosts, Json match) const {
    Json filters = admission(listener);
    filters.push_back(http_filter(listener, hosts));
    chains.push_back({{"filters", std::move(filters)}, {"name", "http-" + std::to_string(chains.size())}});
    chains.back()["filter_chain_match"] = std::move(match);
  }

  /// Where clients of this range go, or those of none. A name that only others may use is not for whoever has a broader
  /// claim for everyone.
  static Hosts hosts_for(const Cidr* range, const std::vector<HttpRoute>& routes) {
    Hosts own;
    Hosts common;
    std::set<std::string> claimed;
    for (const HttpRoute& one : routes) {
      const bool is_own = range != nullptr && std::ranges::any_of(one.clients, [&](const Cidr& clients) {
                            return clients.overlaps(*range) && clients.prefix_length() <= range->prefix_length();
                          });
      for (const std::string& domain : one.domains) {
        claimed.insert(domain);
        if (is_own) own.emplace(domain, one.route->backend);
        if (one.route->source.is_everyone()) common.emplace(domain, one.route->backend);
      }
    }
    Hosts hosts = own;
    hosts.merge(common);
    for (const std::string& domain : claimed)
      if (!hosts.contains(domain)) hosts.emplace(domain, broader(own, domain));
    return hosts;
  }

  /// The backend of the closest wildcard above a domain.
  static std::string broader(const Hosts& hosts, const std::string& domain) {
    std::string rest = domain.starts_with("*.") ? domain.substr(2) : domain;
    for (auto dot = rest.find('.'); dot != std::string::npos; dot = rest.find('.')) {
      rest.erase(0, dot + 1);
      if (const auto known = hosts.find("*." + rest); known != hosts.end()) return known->second;
    }
    const auto other = hosts.find("*");
    return other == hosts.end() ? std::string() : other->second;
  }

  [[nodiscard]] Json http_filter(const Listener& listener, const Hosts& hosts) const {
    Json virtual_hosts = Json::array();
    for (const auto& [domain, backend] : hosts) {
      if (backend.empty()) {  // without a route: 404, as where no host matches
        virtual_hosts.push_back({{"name", domain}, {"domains", Json::array({domain})}, {"routes", Json::array()}});
        continue;
      }
      // No limit of time: a reply may be a watch.
      Json action = {{"cluster", backend}, {"timeout", "0s"}};
      const auto known = std::ranges::find(config_.backends, backend, &Backend::name);
      if (known->idle_timeout) action["idle_timeout"] = seconds(*known->idle_timeout);
      if (options_.settings.max_connect_attempts > 1)
        action["retry_policy"] = {{"retry_on", "connect-failure"},
                                  {"num_retries", options_.settings.max_connect_attempts - 1}};
      Json route = {{"match", {{"prefix", "/"}}}, {"route", std::move(action)}};
      virtual_hosts.push_back(
          {{"name", domain}, {"domains", Json::array({domain})}, {"routes", Json::array({std::move(route)})}});
    }
    return http_manager("http-" + std::to_string(listener.address.port), std::move(virtual_hosts));
  }

  [[nodiscard]] Json http_manager(const std::string& name, Json virtual_hosts) const {
    return network_filter(
        "http_connection_manager", "filters.network.http_connection_manager.v3.HttpConnectionManager",
        {{"stat_prefix", name},
         {"stream_idle_timeout", "0s"},
         {"request_headers_timeout", seconds(options_.settings.inspect_timeout)},
         {"strip_any_host_port", false},
         {"generate_request_id", false},
         {"upgrade_configs", Json::array({{{"upgrade_type", "websocket"}}})},
         {"route_config",
          {{"name", name}, {"ignore_port_in_host_matching", true}, {"virtual_hosts", std::move(virtual_hosts)}}},
         {"http_filters", Json::array({{{"name", "envoy.filters.http.router"},
                                        {"typed_config", typed("filters.http.router.v3.Router", Json::object())}}})}});
  }

  Json chains_of(const Listener& listener) {
    if (listener.kind == ListenerKind::tls) return tls_chains(listener);
    return listener.kind == ListenerKind::http ? http_chains(listener) : blind_chains(listener);
  }

  /// Envoy goes by the address that a client came to before anything else.
  Json all_chains(const Listener& listener) {
    Json all = closed_.contains(listener.address) ? Json::array() : chains_of(listener);
    const auto own = own_.find(listener.address);
    if (own == own_.end()) return all;
    for (const Listener* one : own->second) {
      const IpAddress& address = one->address.address;
      for (Json& chain : chains_of(*one)) {
        chain["filter_chain_match"]["prefix_ranges"] = Json::array({prefix(Cidr(address, address.is_v4() ? 32 : 128))});
        chain["name"] = chain["name"].get<std::string>() + '-' + address.to_string();
        all.push_back(std::move(chain));
      }
    }
    return all;
  }

  Json tcp_listener(const std::string& address, const Listener& listener) {
    const std::uint16_t port = listener.address.port;
    Json json = {{"name", address + '-' + std::to_string(port)},
                 {"address", socket_address(address, port)},
                 {"per_connection_buffer_limit_bytes", kConnectionBufferBytes},
                 {"socket_options", listener_socket_options(options_.settings)},
                 {"access_log", access_log()}};
    if (listener.kind == ListenerKind::tls) {
      json["listener_filters"] =
          Json::array({{{"name", "envoy.filters.listener.tls_inspector"},
                        {"typed_config", typed("filters.listener.tls_inspector.v3.TlsInspector", Json::object())}}});
      json["listener_filters_timeout"] = seconds(options_.settings.inspect_timeout);
      json["continue_on_listener_filters_timeout"] = false;
    }
    json["filter_chains"] = all_chains(listener);
    if (!listener.trusted_proxies.empty())
      warn("port " + std::to_string(port) + ": headers of the PROXY protocol from some clients only");
    warn_of_common(listener);
    return json;
  }

  void warn_of_common(const Listener& listener) {
    const std::string port = "port " + std::to_string(listener.address.port);
    if (!listener.interface.empty()) warn(port + ": accepting on one network interface only");
    if (listener.max_connections > 0) warn(port + ": a limit of connections for a listener");
  }

  Json udp_listener(const std::string& address, const Listener& listener) {
    const std::uint16_t port = listener.address.port;
    Json filters = Json::array();
    for (const Route& route : config_.routes) {
      if (route.port != port || route.protocol != Protocol::udp) continue;
      if (!route.source.is_everyone() || !listener.allow.empty() || !listener.deny.empty()) {
        warn(route, "not-expressible", "Envoy forwards the datagrams of every client alike");
        continue;
      }
      Json action = {{"name", "route"},
                     {"typed_config", typed("filters.udp.udp_proxy.v3.Route", {{"cluster", route.backend}})}};
      filters.push_back({{"name", "envoy.filters.udp_listener.udp_proxy"},
                         {"typed_config", typed("filters.udp.udp_proxy.v3.UdpProxyConfig",
                                                {{"stat_prefix", route.backend},
                                                 {"idle_timeout", seconds(options_.settings.udp_idle_timeout)},
                                                 {"matcher", {{"on_no_match", {{"action", std::move(action)}}}}}})}});
    }
    Json json = {{"name", address + '-' + std::to_string(port) + "-udp"},
                 {"address", socket_address(address, port)},
                 {"udp_listener_config", Json::object()},
                 {"listener_filters", std::move(filters)}};
    json["address"]["socket_address"]["protocol"] = "UDP";
    warn_of_common(listener);
    return json;
  }

  /// Connections that no chain takes; without this nobody would know of them.
  static Json access_log() {
    return Json::array({{{"name", "envoy.access_loggers.stdout"},
                         {"typed_config", typed("access_loggers.stream.v3.StdoutAccessLog",
                                                {{"log_format",
                                                  {{"json_format",
                                                    {{"time", "%START_TIME%"},
                                                     {"client", "%DOWNSTREAM_REMOTE_ADDRESS%"},
                                                     {"server_name", "%REQUESTED_SERVER_NAME%"},
                                                     {"backend", "%UPSTREAM_CLUSTER%"},
                                                     {"received_bytes", "%BYTES_RECEIVED%"},
                                                     {"sent_bytes", "%BYTES_SENT%"},
                                                     {"duration_ms", "%DURATION%"},
                                                     {"flags", "%RESPONSE_FLAGS%"}}}}}})}}});
  }

  static Json pass(const char* path, const char* admin_path) {
    return {{"match",
             {{"path", path}, {"headers", Json::array({{{"name", ":method"}, {"string_match", {{"exact", "GET"}}}}})}}},
            {"route", {{"cluster", "admin"}, {"prefix_rewrite", admin_path}}}};
  }

  /// Admin can stop the process, so only two of its pages leave the loopback interface.
  static Json observe_listener(std::uint16_t port) {
    Json manager = {
        {"stat_prefix", "observe"},
        {"route_config",
         {{"name", "observe"},
          {"virtual_hosts", Json::array({{{"name", "observe"},
                                          {"domains", Json::array({"*"})},
                                          {"routes", Json::array({pass("/readyz", "/ready"), pass("/healthz", "/ready"),
                                                                  pass("/metrics", "/stats/prometheus")})}}})}}},
        {"http_filters", Json::array({{{"name", "envoy.filters.http.router"},
                                       {"typed_config", typed("filters.http.router.v3.Router", Json::object())}}})}};
    Json filter = {{"name", "envoy.filters.network.http_connection_manager"},
                   {"typed_config",
                    typed("filters.network.http_connection_manager.v3.HttpConnectionManager", std::move(manager))}};
    return {{"name", "observe"},
            {"address", socket_address("0.0.0.0", port)},
            {"filter_chains", Json::array({{{"filters", Json::array({std::move(filter)})}}})}};
  }

  [[nodiscard]] Json admin_cluster() const {
    Json endpoints = Json::array({endpoint("127.0.0.1", options_.admin_port)});
    return {{"name", "admin"},
            {"type", "STATIC"},
            {"connect_timeout", "1s"},
            {"load_assignment",
             {{"cluster_name", "admin"}, {"endpoints", Json::array({{{"lb_endpoints", std::move(endpoints)}}})}}}};
  }

  [[nodiscard]] Json overload_manager() const {
    return {{"resource_monitors",
             Json::array({{{"name", "envoy.resource_monitors.global_downstream_max_connections"},
                           {"typed_config",
                            typed("resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
                                  {{"max_active_downstream_connections", options_.settings.max_connections}})}}})}};
  }

  const RouteConfig& config_;
  std::vector<Listener> listeners_;
  std::map<Endpoint, std::vector<const Listener*>> own_;  ///< of a merged listener, where they differ
  std::set<Endpoint> closed_;                             ///< merged listeners without a name that all allow
  const EnvoyOptions& options_;
  Diagnostics& warnings_;
  std::map<std::string, std::set<Cidr>> workers_;
  std::set<std::string> warned_;
};

}  // namespace

Json render_envoy(const RouteConfig& config, const SourceClusters& workers, const EnvoyOptions& options,
                  Diagnostics& warnings) {
  EnvoyRenderer renderer(config, workers, options, warnings);
  Json bootstrap = renderer.frame();
  bootstrap["static_resources"] = {{"listeners", renderer.listeners()}, {"clusters", renderer.clusters()}};
  return bootstrap;
}

std::vector<RenderedFile> render_envoy_files(const RouteConfig& config, const SourceClusters& workers,
                                             const EnvoyOptions& options, const std::string& file_prefix,
                                             Diagnostics& warnings) {
  EnvoyRenderer renderer(config, workers, options, warnings);
  Json bootstrap = renderer.frame();
  std::vector<RenderedFile> files;
  const std::string prefix = file_prefix.empty() ? "./" : file_prefix;  // Envoy takes no path without a folder
  const auto add = [&](const char* name, const char* field, const char* type, Json resources) {
    for (Json& resource : resources) resource["@type"] = std::string("type.googleapis.com/envoy.config.") + type;
    files.push_back({name, kNotice + text::render_yaml({{"resources", std::move(resources)}})});
    bootstrap["dynamic_resources"][field] = {{"resource_api_version", "V3"},
                                             {"path_config_source", {{"path", prefix + name}}}};
  };
  add("lds.yaml", "lds_config", "listener.v3.Listener", renderer.listeners());
  add("cds.yaml", "cds_config", "cluster.v3.Cluster", renderer.clusters());
  files.insert(files.begin(), {"envoy.yaml", kNotice + text::render_yaml(bootstrap)});
  return files;
}

}  // namespace hcpnet::proxy
