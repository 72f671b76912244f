// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/proxy/render_envoy.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace hcpnet::proxy {
namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kConnectionBufferBytes = 64 * 1024;

std::string seconds(std::chrono::milliseconds time) {
  const auto whole = time.count() / 1000;
  const auto rest = time.count() % 1000;
  if (rest == 0) return std::to_string(whole) + 's';
  std::string digits = std::to_string(1000 + rest).substr(1);
  return std::to_string(whole) + '.' + digits + 's';
}

Json typed(const char* type, Json fields) {
  fields["@type"] = std::string("type.googleapis.com/envoy.extensions.") + type;
  return fields;
}

Json socket_address(const std::string& address, std::uint16_t port) {
  return {{"socket_address", {{"address", address}, {"port_value", port}}}};
}

Json endpoint(const std::string& address, std::uint16_t port) {
  return {{"endpoint", {{"address", socket_address(address, port)}}}};
}

Json cluster(const Backend& backend, std::uint32_t max_connections) {
  Json endpoints = Json::array();
  for (const Endpoint& e : backend.endpoints) endpoints.push_back(endpoint(e.address.to_string(), e.port));
  const bool is_resolved = backend.endpoints.empty() && !backend.host.empty();
  if (is_resolved) endpoints.push_back(endpoint(backend.host, backend.port));
  Json json = {
      {"name", backend.name},
      {"type", is_resolved ? "STRICT_DNS" : "STATIC"},
      {"connect_timeout", seconds(backend.connect_timeout)},
      {"load_assignment",
       {{"cluster_name", backend.name}, {"endpoints", Json::array({{{"lb_endpoints", endpoints}}})}}},
      // Envoy stops at 1,024 unless told otherwise; the limit is the listener's.
      {"circuit_breakers",
       {{"thresholds",
         Json::array({{{"max_connections", max_connections}, {"max_pending_requests", max_connections}}})}}},
      {"upstream_connection_options", {{"tcp_keepalive", {{"keepalive_time", 60}, {"keepalive_interval", 20}}}}},
  };
  if (is_resolved) json["dns_lookup_family"] = "V4_PREFERRED";
  return json;
}

/// One client range in Envoy's form.
Json prefix(const Cidr& range) {
  return {{"address_prefix", range.network().to_string()}, {"prefix_len", range.prefix_length()}};
}

class EnvoyRenderer {
 public:
  EnvoyRenderer(const RouteConfig& config, const SourceClusters& workers, const EnvoyOptions& options,
                Diagnostics& warnings)
      : config_(config), options_(options), warnings_(warnings) {
    for (const auto& [address, cluster] : workers) workers_[cluster].insert(Cidr(address, address.is_v4() ? 32 : 128));
  }

  Json render() {
    Json listeners = Json::array();
    for (const auto& [address, port] : addresses()) listeners.push_back(listener(address, port));
    Json clusters = Json::array();
    for (const Backend& backend : config_.backends) clusters.push_back(cluster(backend, options_.max_connections));
    if (options_.observe_port) {
      listeners.push_back(observe_listener(*options_.observe_port));
      clusters.push_back(admin_cluster());
    }
    return {{"node", {{"id", options_.node}, {"cluster", options_.node}}},
            {"admin", {{"address", socket_address("127.0.0.1", options_.admin_port)}}},
            {"static_resources", {{"listeners", std::move(listeners)}, {"clusters", std::move(clusters)}}},
            {"overload_manager", overload_manager()}};
  }

 private:
  /// Address and port of each listener, in order, once.
  [[nodiscard]] std::set<std::pair<std::string, std::uint16_t>> addresses() const {
    std::set<std::pair<std::string, std::uint16_t>> all;
    for (const Listener& l : config_.listeners)
      all.emplace(options_.any_address ? "0.0.0.0" : l.address.address.to_string(), l.address.port);
    return all;
  }

  void warn(const Route& route, const char* code, const std::string& message) {
    Diagnostic d;
    d.severity = Severity::warning;
    d.code = code;
    d.message = "port " + std::to_string(route.port) + ", backend " + route.backend + ": " + message;
    if (warned_.insert(d.message).second) warnings_.add(std::move(d));
  }

  [[nodiscard]] const Backend& backend_of(const Route& route) const {
    return *std::ranges::find(config_.backends, route.backend, &Backend::name);
  }

  Json tunnel(const Route& route) {
    const Backend& backend = backend_of(route);
    Json proxy = {{"stat_prefix", backend.name},
                  {"cluster", backend.name},
                  // Without this Envoy ends a silent tunnel, and with it somebody's watch, after an hour.
                  {"idle_timeout", backend.idle_timeout ? seconds(*backend.idle_timeout) : "0s"}};
    return Json::array({{{"name", "envoy.filters.network.tcp_proxy"},
                         {"typed_config", typed("filters.network.tcp_proxy.v3.TcpProxy", std::move(proxy))}}});
  }

  void add_chain(Json& chains, const Route& route, Json match) {
    if (!route.source.is_everyone()) {
      std::set<Cidr> sources(route.source.prefixes.begin(), route.source.prefixes.end());
      if (const auto own = workers_.find(route.source.cluster); own != workers_.end())
        sources.insert(own->second.begin(), own->second.end());
      if (sources.empty())
        return warn(route, "no-sources", "no client of the cluster is known yet, so the route is left out");
      match["source_prefix_ranges"] = Json::array();
      for (const Cidr& source : sources) match["source_prefix_ranges"].push_back(prefix(source));
    }
    Json chain = {{"filters", tunnel(route)}, {"name", route.backend + '-' + std::to_string(chains.size())}};
    chain["filter_chain_match"] = std::move(match);
    chains.push_back(std::move(chain));
  }

  Json chains_of(std::uint16_t port) {
    Json chains = Json::array();
    for (const Route& route : config_.routes) {
      if (route.port != port) continue;
      if (!route.names.empty())
        add_chain(chains, route, {{"transport_protocol", "tls"}, {"server_names", route.names}});
      if (route.no_sni != route.other_sni)
        warn(route, "not-expressible", "Envoy can't tell a missing server name from an unknown one");
      else if (route.no_sni)
        add_chain(chains, route, {{"transport_protocol", "tls"}});
      if (route.not_tls) add_chain(chains, route, {{"transport_protocol", "raw_buffer"}});
    }
    return chains;
  }

  Json listener(const std::string& address, std::uint16_t port) {
    return {
        {"name", address + '-' + std::to_string(port)},
        {"address", socket_address(address, port)},
        {"listener_filters",
         Json::array({{{"name", "envoy.filters.listener.tls_inspector"},
                       {"typed_config", typed("filters.listener.tls_inspector.v3.TlsInspector", Json::object())}}})},
        {"listener_filters_timeout", seconds(options_.inspect_timeout)},
        {"continue_on_listener_filters_timeout", false},
        {"per_connection_buffer_limit_bytes", kConnectionBufferBytes},
        {"access_log", access_log()},
        {"filter_chains", chains_of(port)}};
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
    return {
        {"resource_monitors",
         Json::array({{{"name", "envoy.resource_monitors.global_downstream_max_connections"},
                       {"typed_config", typed("resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
                                              {{"max_active_downstream_connections", options_.max_connections}})}}})}};
  }

  const RouteConfig& config_;
  const EnvoyOptions& options_;
  Diagnostics& warnings_;
  std::map<std::string, std::set<Cidr>> workers_;
  std::set<std::string> warned_;
};

}  // namespace

Json render_envoy(const RouteConfig& config, const SourceClusters& workers, const EnvoyOptions& options,
                  Diagnostics& warnings) {
  return EnvoyRenderer(config, workers, options, warnings).render();
}

}  // namespace hcpnet::proxy
