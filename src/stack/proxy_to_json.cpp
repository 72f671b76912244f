// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <optional>

#include "stack/to_json.hpp"

namespace hcpnet {
namespace {

using Json = nlohmann::json;
using namespace proxy;

Json texts(const auto& values) {
  Json all = Json::array();
  for (const auto& value : values) all.push_back(value.to_string());
  return all;
}

const char* name_of(ListenerKind kind) {
  switch (kind) {
    case ListenerKind::tls:
      return "TLS";
    case ListenerKind::http:
      return "HTTP";
    case ListenerKind::tcp:
      return "TCP";
    case ListenerKind::udp:
      break;
  }
  return "UDP";
}

const char* name_of(Balance balance) {
  switch (balance) {
    case Balance::round_robin:
      return "RoundRobin";
    case Balance::least_connections:
      return "LeastConnections";
    case Balance::random_of_two:
      break;
  }
  return "RandomOfTwo";
}

const char* name_of(ProxyHeaderVersion version) {
  switch (version) {
    case ProxyHeaderVersion::none:
      return "none";
    case ProxyHeaderVersion::v1:
      return "V1";
    case ProxyHeaderVersion::v2:
      break;
  }
  return "V2";
}

Json to_json(const Listener& l) {
  return {{"address", l.address.to_string()}, {"kind", name_of(l.kind)},
          {"onlyNames", l.only_names},        {"allowedSources", texts(l.allow)},
          {"deniedSources", texts(l.deny)},   {"maxConnections", l.max_connections},
          {"interface", l.interface},         {"trustedProxies", texts(l.trusted_proxies)},
          {"dialFrom", texts(l.dial_from)}};
}

Json to_json(const Backend& b) {
  Json out = {{"name", b.name},
              {"cluster", b.cluster},
              {"target", b.target},
              {"endpoints", texts(b.endpoints)},
              {"host", b.host},
              {"port", b.port},
              {"connectTimeoutMs", b.connect_timeout.count()},
              {"balance", name_of(b.balance)},
              {"maxConnections", b.max_connections},
              {"ejectionFailures", b.ejection.failures},
              {"ejectionMs", b.ejection.duration.count()},
              {"proxyProtocol", name_of(b.proxy_header)}};
  out["idleTimeoutMs"] = b.idle_timeout ? Json(b.idle_timeout->count()) : Json();
  if (b.health_check)
    out["healthCheck"] = {{"kind", b.health_check->kind == HealthCheck::Kind::tls ? "TLS" : "TCP"},
                          {"intervalMs", b.health_check->interval.count()},
                          {"timeoutMs", b.health_check->timeout.count()},
                          {"failures", b.health_check->failures},
                          {"successes", b.health_check->successes}};
  return out;
}

Json to_json(const Route& r) {
  return {{"port", r.port},
          {"protocol", r.protocol == Protocol::udp ? "UDP" : "TCP"},
          {"names", r.names},
          {"noSni", r.no_sni},
          {"otherSni", r.other_sni},
          {"notTls", r.not_tls},
          {"sourcePrefixes", texts(r.source.prefixes)},
          {"sourceCluster", r.source.cluster},
          {"backend", r.backend}};
}

template <class Items>
Json list(const Items& items) {
  Json all = Json::array();
  for (const auto& item : items) all.push_back(to_json(item));
  return all;
}

}  // namespace

Json to_json(const RouteConfig& config) {
  return {{"listeners", list(config.listeners)}, {"backends", list(config.backends)}, {"routes", list(config.routes)}};
}

Json to_json(const EngineSettings& s, const SocketBuffers& granted) {
  const auto text_template = s.access_log_format.text_template();
  const auto bytes = [](const std::optional<std::size_t>& bound) { return bound ? Json(*bound) : Json(); };
  return {{"inspectTimeoutMs", s.inspect_timeout.count()},
          {"maxHelloBytes", s.max_hello_bytes},
          {"maxConnections", s.max_connections},
          {"maxConnectionsPerSource", s.max_connections_per_source},
          {"maxConnectAttempts", s.max_connect_attempts},
          {"drainTimeoutMs", s.removed_route_timeout.count()},
          {"udpIdleTimeoutMs", s.udp_idle_timeout.count()},
          {"tcpKeepalive",
           {{"idleSeconds", s.keepalive.idle.count()},
            {"intervalSeconds", s.keepalive.interval.count()},
            {"probes", s.keepalive.probes}}},
          {"socketBuffers",
           {{"receiveBytes", bytes(s.buffers.receive_bytes)},
            {"sendBytes", bytes(s.buffers.send_bytes)},
            {"grantedReceiveBytes", bytes(granted.receive_bytes)},
            {"grantedSendBytes", bytes(granted.send_bytes)}}},
          {"accessLog",
           {{"format", text_template ? "text" : "json"}, {"template", text_template ? Json(*text_template) : Json()}}}};
}

Json clusters_to_json(const EngineStats& stats) {
  Json all = Json::array();
  for (const auto& [name, b] : stats.backends) {
    Json endpoints = Json::array();
    for (const auto& [address, e] : b.endpoints)
      endpoints.push_back({{"address", address.to_string()},
                           {"total", e.total},
                           {"active", e.active},
                           {"failures", e.failures},
                           {"healthy", e.is_healthy},
                           {"ejected", e.is_ejected}});
    all.push_back({{"name", name},
                   {"total", b.total},
                   {"active", b.active},
                   {"connectFailures", b.connect_failures},
                   {"connectTimeouts", b.connect_timeouts},
                   {"limitRefused", b.limit_refused},
                   {"bytesToBackend", b.bytes_to_backend},
                   {"bytesToClient", b.bytes_to_client},
                   {"healthChecks", b.health_checks},
                   {"healthCheckFailures", b.health_check_failures},
                   {"healthChecksLeftOut", b.health_checks_left_out},
                   {"ejections", b.ejections},
                   {"endpoints", endpoints}});
  }
  return all;
}

Json listeners_to_json(const EngineStats& stats, const std::vector<BoundListener>& bound) {
  Json all = Json::array();
  for (const BoundListener& l : bound) {
    const auto counted = stats.listeners.find(l.configured);
    const auto counts = counted == stats.listeners.end() ? EngineStats::PerListener{} : counted->second;
    all.push_back({{"address", l.configured.to_string()},
                   {"bound", l.bound.to_string()},
                   {"kind", name_of(l.kind)},
                   {"total", counts.total},
                   {"active", counts.active},
                   {"limitRefused", counts.limit_refused},
                   {"noRoute", counts.no_route},
                   {"inspectTimeouts", counts.inspect_timeouts}});
  }
  return all;
}

Json to_json(const EngineStats& s) {
  return {{"accepted", s.accepted},
          {"active", s.active},
          {"limitRefused", s.limit_refused},
          {"listenerLimitRefused", s.listener_limit_refused},
          {"sourceLimitRefused", s.source_limit_refused},
          {"backendLimitRefused", s.backend_limit_refused},
          {"sourceDenied", s.source_denied},
          {"acceptBackoffs", s.accept_backoffs},
          {"inspectTimeouts", s.inspect_timeouts},
          {"helloTooLarge", s.hello_too_large},
          {"helloMalformed", s.hello_malformed},
          {"proxyHeaderRefused", s.proxy_header_refused},
          {"closedBeforeHello", s.closed_before_hello},
          {"connectFailures", s.connect_failures},
          {"endpointFailures", s.endpoint_failures},
          {"connectTimeouts", s.connect_timeouts},
          {"loopsRefused", s.loops_refused},
          {"resolveFailures", s.resolve_failures},
          {"staleAnswers", s.stale_answers},
          {"idleTimeouts", s.idle_timeouts},
          {"routesRemoved", s.routes_removed},
          {"downstreamResets", s.downstream_resets},
          {"upstreamResets", s.upstream_resets},
          {"bytesToBackend", s.bytes_to_backend},
          {"bytesToClient", s.bytes_to_client},
          {"buffersInUse", s.buffers_in_use},
          {"pipesRefused", s.pipes_refused},
          {"udpDatagrams", s.udp_datagrams},
          {"udpDropped", s.udp_dropped},
          {"decisions", s.decisions},
          {"closed", s.closed}};
}

}  // namespace hcpnet
