// SPDX-License-Identifier: Apache-2.0
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <sstream>
#include <utility>

#include "stack/stack_impl.hpp"

namespace hcpnet {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;
using Values = std::vector<std::pair<Labels, std::uint64_t>>;

class Page {
 public:
  void counter(const std::string& name, const std::string& help, const Values& values) {
    add(name, help, MetricType::Counter, values);
  }
  void gauge(const std::string& name, const std::string& help, const Values& values) {
    add(name, help, MetricType::Gauge, values);
  }
  std::string render() const {
    std::ostringstream text;
    prometheus::TextSerializer{}.Serialize(text, families_);
    return std::move(text).str();
  }

 private:
  void add(const std::string& name, const std::string& help, MetricType type, const Values& values) {
    if (values.empty()) return;
    MetricFamily family;
    family.name = name;
    family.help = help;
    family.type = type;
    for (const auto& [labels, value] : values) {
      ClientMetric metric;
      metric.label = labels;
      (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = static_cast<double>(value);
      family.metric.push_back(std::move(metric));
    }
    families_.push_back(std::move(family));
  }
  std::vector<MetricFamily> families_;
};

template <class Map>
Values by(const char* label, const Map& map, const Labels& common = {}) {
  Values values;
  for (const auto& [key, value] : map) {
    Labels labels = common;
    labels.push_back({label, key});
    values.emplace_back(std::move(labels), value);
  }
  return values;
}

void append(Values& all, Values more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void add_dhcp(Page& page, const dhcp::ServerStats& stats) {
  page.counter("hcpnet_dhcp_received_total", "DHCP messages received, by type.", by("type", stats.received));
  page.counter("hcpnet_dhcp_sent_total", "DHCP messages sent, by type.", by("type", stats.sent));
  page.counter("hcpnet_dhcp_dropped_total", "DHCP messages dropped, by reason.", by("reason", stats.dropped));
  if (stats.subnets.empty()) return;
  page.counter("hcpnet_dhcp_commits_total", "Group commits of leases that reached the disk.", {{{}, stats.commits}});
  page.counter("hcpnet_dhcp_commit_failures_total", "Group commits of leases that failed.",
               {{{}, stats.commit_failures}});
  Values sizes, leases;
  for (const auto& [subnet, s] : stats.subnets) {
    sizes.push_back({{{"subnet", subnet}}, s.pool_size});
    leases.push_back({{{"subnet", subnet}, {"state", "bound"}}, s.bound});
    leases.push_back({{{"subnet", subnet}, {"state", "offered"}}, s.offered});
    leases.push_back({{{"subnet", subnet}, {"state", "declined"}}, s.declined});
  }
  page.gauge("hcpnet_dhcp_pool_addresses", "Addresses in the pools of a subnet.", sizes);
  page.gauge("hcpnet_dhcp_leases", "Addresses in use, by subnet and state.", leases);
}

void add_dns(Page& page, const std::map<std::string, dns::ServerStats>& servers) {
  Values queries, responses, views, dropped, forwarded, failures, hits, entries, pending;
  for (const auto& [owner, s] : servers) {
    const Labels server{{"server", owner}};
    queries.push_back({{{"server", owner}, {"proto", "udp"}}, s.queries_udp});
    queries.push_back({{{"server", owner}, {"proto", "tcp"}}, s.queries_tcp});
    append(responses, by("rcode", s.responses, server));
    append(views, by("view", s.by_view, server));
    append(dropped, by("reason", s.dropped, server));
    forwarded.push_back({server, s.forwarded});
    failures.push_back({server, s.forward_failures});
    hits.push_back({server, s.cache_hits});
    entries.push_back({server, s.cache_entries});
    pending.push_back({server, s.pending_forwards});
  }
  page.counter("hcpnet_dns_queries_total", "Queries received.", queries);
  page.counter("hcpnet_dns_responses_total", "Responses sent, by RCODE.", responses);
  page.counter("hcpnet_dns_view_queries_total", "Queries by the view that answered.", views);
  page.counter("hcpnet_dns_dropped_total", "Messages not answered, by reason.", dropped);
  page.counter("hcpnet_dns_forwarded_total", "Queries forwarded to an upstream.", forwarded);
  page.counter("hcpnet_dns_forward_failures_total", "Forwarded queries that no upstream answered.", failures);
  page.counter("hcpnet_dns_cache_hits_total", "Forwarded queries answered from the cache.", hits);
  page.gauge("hcpnet_dns_cache_entries", "Answers in the cache.", entries);
  page.gauge("hcpnet_dns_pending_forwards", "Queries that wait for an upstream.", pending);
}

void add_proxies(Page& page, const std::map<std::string, proxy::EngineStats>& proxies) {
  Values accepted, active, decisions, closes, bytes, total, open, failed;
  for (const auto& [owner, s] : proxies) {
    const Labels proxy{{"proxy", owner}};
    accepted.push_back({proxy, s.accepted});
    active.push_back({proxy, s.active});
    append(decisions, by("rule", s.decisions, proxy));
    const std::map<std::string, std::uint64_t> abnormal{{"limit", s.limit_refused},
                                                        {"inspect_timeout", s.inspect_timeouts},
                                                        {"hello_too_large", s.hello_too_large},
                                                        {"hello_malformed", s.hello_malformed},
                                                        {"closed_before_hello", s.closed_before_hello},
                                                        {"connect_failed", s.connect_failures},
                                                        {"idle_timeout", s.idle_timeouts},
                                                        {"downstream_reset", s.downstream_resets},
                                                        {"upstream_reset", s.upstream_resets}};
    append(closes, by("reason", abnormal, proxy));
    bytes.push_back({{{"proxy", owner}, {"to", "backend"}}, s.bytes_to_backend});
    bytes.push_back({{{"proxy", owner}, {"to", "client"}}, s.bytes_to_client});
    for (const auto& [backend, b] : s.backends) {
      const Labels labels{{"proxy", owner}, {"backend", backend}};
      total.push_back({labels, b.total});
      open.push_back({labels, b.active});
      failed.push_back({labels, b.connect_failures});
    }
  }
  page.counter("hcpnet_proxy_connections_total", "Connections accepted.", accepted);
  page.gauge("hcpnet_proxy_connections", "Connections open.", active);
  page.counter("hcpnet_proxy_decisions_total", "Routing decisions, by the rule that decided.", decisions);
  page.counter("hcpnet_proxy_abnormal_closes_total", "Connections that did not end by both sides closing, by reason.",
               closes);
  page.counter("hcpnet_proxy_bytes_total", "Payload bytes copied.", bytes);
  page.counter("hcpnet_proxy_backend_connections_total", "Connections to a backend.", total);
  page.gauge("hcpnet_proxy_backend_connections", "Connections open to a backend.", open);
  page.counter("hcpnet_proxy_backend_connect_failures_total", "Connections that no endpoint of the backend took.",
               failed);
}

}  // namespace

std::string render_metrics(const Stack::Impl& stack) {
  const StackStats stats = stack.stats();
  Page page;
  page.gauge("hcpnet_up", "1 while everything is well.", {{{}, stack.troubles().empty() ? 1u : 0u}});
  page.counter("hcpnet_reloads_total", "Reloads, by result.",
               {{{{"result", "applied"}}, stats.reloads}, {{{"result", "refused"}}, stats.reloads_refused}});
  page.counter("hcpnet_http_closed_for_room_total",
               "Connections to an HTTP page closed because there were too many, the one silent longest first.",
               by("page", stack.http_closed_for_room()));
  add_dhcp(page, stats.dhcp);
  add_dns(page, stats.dns);
  add_proxies(page, stats.proxies);
  return page.render();
}

}  // namespace hcpnet
