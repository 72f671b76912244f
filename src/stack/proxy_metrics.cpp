// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "stack/metrics_page.hpp"

namespace hcpnet {
namespace {

using proxy::EngineStats;
using Proxies = std::map<std::string, EngineStats>;

template <class Get>
Values per_proxy(const Proxies& proxies, Get get) {
  Values values;
  for (const auto& [owner, stats] : proxies) values.push_back({{{"proxy", owner}}, get(stats)});
  return values;
}

template <class Get>
Values per_backend(const Proxies& proxies, const char* label, Get get) {
  Values values;
  for (const auto& [owner, stats] : proxies)
    for (const auto& [name, backend] : stats.backends)
      values.push_back({{{"proxy", owner}, {label, name}}, get(backend)});
  return values;
}

/// As Envoy writes the address of a listener: "_" for each colon.
std::string envoy_text(const Endpoint& address) {
  std::string text = address.to_string();
  std::ranges::replace(text, ':', '_');
  return text;
}

template <class Get>
Values per_listener(const Proxies& proxies, Get get) {
  Values values;
  for (const auto& [owner, stats] : proxies)
    for (const auto& [address, listener] : stats.listeners)
      values.push_back({{{"proxy", owner}, {"envoy_listener_address", envoy_text(address)}}, get(listener)});
  return values;
}

std::map<std::string, std::uint64_t> abnormal_closes(const EngineStats& s) {
  return {{"limit", s.limit_refused},
          {"inspect_timeout", s.inspect_timeouts},
          {"hello_too_large", s.hello_too_large},
          {"hello_malformed", s.hello_malformed},
          {"closed_before_hello", s.closed_before_hello},
          {"connect_failed", s.connect_failures},
          {"idle_timeout", s.idle_timeouts},
          {"downstream_reset", s.downstream_resets},
          {"upstream_reset", s.upstream_resets}};
}

void add_connections(Page& page, const Proxies& proxies) {
  Values decisions, abnormal, closes, bytes, refused, datagrams;
  for (const auto& [owner, s] : proxies) {
    const Labels proxy{{"proxy", owner}};
    append(decisions, by("rule", s.decisions, proxy));
    append(abnormal, by("reason", abnormal_closes(s), proxy));
    append(closes, by("reason", s.closed, proxy));
    bytes.push_back({{{"proxy", owner}, {"to", "backend"}}, s.bytes_to_backend});
    bytes.push_back({{{"proxy", owner}, {"to", "client"}}, s.bytes_to_client});
    append(refused, by("limit",
                       std::map<std::string, std::uint64_t>{{"global", s.limit_refused},
                                                            {"listener", s.listener_limit_refused},
                                                            {"source", s.source_limit_refused},
                                                            {"backend", s.backend_limit_refused},
                                                            {"denied_source", s.source_denied}},
                       proxy));
    append(datagrams,
           by("result",
              std::map<std::string, std::uint64_t>{{"forwarded", s.udp_datagrams}, {"dropped", s.udp_dropped}}, proxy));
  }
  page.counter("hcpnet_proxy_connections_total", "Connections accepted.",
               per_proxy(proxies, [](const auto& s) { return s.accepted; }));
  page.gauge("hcpnet_proxy_connections", "Connections open.",
             per_proxy(proxies, [](const auto& s) { return s.active; }));
  page.counter("hcpnet_proxy_decisions_total", "Routing decisions, by the rule that decided.", decisions);
  page.counter("hcpnet_proxy_closes_total", "Connections that ended, by the reason in the access log.", closes);
  page.counter("hcpnet_proxy_abnormal_closes_total", "Connections that did not end by both sides closing, by reason.",
               abnormal);
  page.counter("hcpnet_proxy_refused_total", "Connections refused by a limit or by their source.", refused);
  page.counter("hcpnet_proxy_bytes_total", "Payload bytes copied.", bytes);
  page.counter("hcpnet_proxy_udp_datagrams_total", "Datagrams, by what became of them.", datagrams);
}

void add_engine(Page& page, const Proxies& proxies) {
  page.counter("hcpnet_proxy_accept_backoffs_total", "Times that accepting paused for want of descriptors or memory.",
               per_proxy(proxies, [](const auto& s) { return s.accept_backoffs; }));
  page.counter("hcpnet_proxy_proxy_header_refused_total", "Connections without the PROXY header that was demanded.",
               per_proxy(proxies, [](const auto& s) { return s.proxy_header_refused; }));
  page.counter("hcpnet_proxy_endpoint_failures_total", "Attempts to connect to single endpoints that failed.",
               per_proxy(proxies, [](const auto& s) { return s.endpoint_failures; }));
  page.counter("hcpnet_proxy_connect_timeouts_total", "Of these: no answer in time.",
               per_proxy(proxies, [](const auto& s) { return s.connect_timeouts; }));
  page.counter("hcpnet_proxy_loops_refused_total", "Of these: the endpoint was the proxy itself.",
               per_proxy(proxies, [](const auto& s) { return s.loops_refused; }));
  page.counter("hcpnet_proxy_resolve_failures_total", "Look-ups of backends that failed.",
               per_proxy(proxies, [](const auto& s) { return s.resolve_failures; }));
  page.counter("hcpnet_proxy_stale_answers_total", "Connections that used an answer beyond its time.",
               per_proxy(proxies, [](const auto& s) { return s.stale_answers; }));
  page.counter("hcpnet_proxy_routes_removed_total", "Tunnels closed because their route was gone.",
               per_proxy(proxies, [](const auto& s) { return s.routes_removed; }));
  page.gauge("hcpnet_proxy_buffers", "Relay buffers that hold bytes for a slow receiver.",
             per_proxy(proxies, [](const auto& s) { return s.buffers_in_use; }));
  page.counter("hcpnet_proxy_pipes_refused_total", "Reads copied because there was no pipe to splice through.",
               per_proxy(proxies, [](const auto& s) { return s.pipes_refused; }));
}

void add_backends(Page& page, const Proxies& proxies) {
  page.counter("hcpnet_proxy_backend_connections_total", "Connections to a backend.",
               per_backend(proxies, "backend", [](const auto& b) { return b.total; }));
  page.gauge("hcpnet_proxy_backend_connections", "Connections open to a backend.",
             per_backend(proxies, "backend", [](const auto& b) { return b.active; }));
  page.counter("hcpnet_proxy_backend_connect_failures_total", "Connections that no endpoint of the backend took.",
               per_backend(proxies, "backend", [](const auto& b) { return b.connect_failures; }));
  page.counter("hcpnet_proxy_backend_health_checks_left_out_total",
               "Health checks not made: the one before still waited, or a descriptor was missing.",
               per_backend(proxies, "backend", [](const auto& b) { return b.health_checks_left_out; }));
  page.counter("hcpnet_proxy_backend_ejections_total", "Endpoints left out for a time because they refused.",
               per_backend(proxies, "backend", [](const auto& b) { return b.ejections; }));
}

constexpr const char* kCluster = "envoy_cluster_name";

template <class Is>
std::uint64_t count_endpoints(const EngineStats::PerBackend& backend, Is is) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(backend.endpoints, [&](const auto& item) { return is(item.second); }));
}

void add_envoy_clusters(Page& page, const Proxies& proxies) {
  page.counter("envoy_cluster_upstream_cx_total", "Connections to a backend.",
               per_backend(proxies, kCluster, [](const auto& b) { return b.total; }));
  page.gauge("envoy_cluster_upstream_cx_active", "Connections open to a backend.",
             per_backend(proxies, kCluster, [](const auto& b) { return b.active; }));
  page.counter("envoy_cluster_upstream_cx_connect_fail", "Connections that no endpoint of the backend took.",
               per_backend(proxies, kCluster, [](const auto& b) { return b.connect_failures; }));
  page.counter("envoy_cluster_upstream_cx_connect_timeout", "Attempts that got no answer in time.",
               per_backend(proxies, kCluster, [](const auto& b) { return b.connect_timeouts; }));
  page.counter("envoy_cluster_upstream_cx_overflow", "Connections refused by the limit of the backend.",
               per_backend(proxies, kCluster, [](const auto& b) { return b.limit_refused; }));
  page.counter("envoy_cluster_upstream_cx_rx_bytes_total", "Bytes received from a backend.",
               per_backend(proxies, kCluster, [](const auto& b) { return b.bytes_to_client; }));
  page.counter("envoy_cluster_upstream_cx_tx_bytes_total", "Bytes sent to a backend.",
               per_backend(proxies, kCluster, [](const auto& b) { return b.bytes_to_backend; }));
  page.gauge("envoy_cluster_membership_total", "Endpoints that were used or checked.",
             per_backend(proxies, kCluster, [](const auto& b) { return b.endpoints.size(); }));
  page.gauge("envoy_cluster_membership_healthy", "Of these: neither unhealthy nor ejected.",
             per_backend(proxies, kCluster, [](const auto& b) {
               return count_endpoints(b, [](const auto& e) { return e.is_healthy && !e.is_ejected; });
             }));
  page.counter("envoy_cluster_health_check_attempt", "Health checks made.",
               per_backend(proxies, kCluster, [](const auto& b) { return b.health_checks; }));
  page.counter("envoy_cluster_health_check_failure", "Health checks that failed.",
               per_backend(proxies, kCluster, [](const auto& b) { return b.health_check_failures; }));
  page.gauge("envoy_cluster_outlier_detection_ejections_active", "Endpoints that are ejected now.",
             per_backend(proxies, kCluster,
                         [](const auto& b) { return count_endpoints(b, [](const auto& e) { return e.is_ejected; }); }));
}

void add_envoy_listeners(Page& page, const Proxies& proxies) {
  page.counter("envoy_listener_downstream_cx_total", "Connections accepted by a listener.",
               per_listener(proxies, [](const auto& l) { return l.total; }));
  page.gauge("envoy_listener_downstream_cx_active", "Connections open at a listener.",
             per_listener(proxies, [](const auto& l) { return l.active; }));
  page.counter("envoy_listener_downstream_cx_overflow", "Connections refused at accept by a limit.",
               per_listener(proxies, [](const auto& l) { return l.limit_refused; }));
  page.counter("envoy_listener_downstream_pre_cx_timeout", "Connections that did not say in time what they want.",
               per_listener(proxies, [](const auto& l) { return l.inspect_timeouts; }));
  page.counter("envoy_listener_no_filter_chain_match", "Connections that no route takes.",
               per_listener(proxies, [](const auto& l) { return l.no_route; }));
}

}  // namespace

void add_proxies(Page& page, const Proxies& proxies) {
  add_connections(page, proxies);
  add_engine(page, proxies);
  add_backends(page, proxies);
  add_envoy_clusters(page, proxies);
  add_envoy_listeners(page, proxies);
}

}  // namespace hcpnet
