// SPDX-License-Identifier: Apache-2.0
#include "stack/metrics_page.hpp"

namespace hcpnet {
namespace {

/// What the plugins cache, forward and prometheus of CoreDNS count, with their labels as far as they apply here: zone
/// and view are empty, since neither is counted together with the others.
void add_coredns_names(Page& page, const std::map<std::string, dns::ServerStats>& servers) {
  Values requests, responses, lookups, hits, misses, entries, evictions, stale, prefetched, asked, answered;
  std::uint64_t rejected = 0;
  std::vector<Page::Histogram> durations, upstream_durations, query_sizes, response_sizes;
  const auto add_sizes = [](std::vector<Page::Histogram>& all, const Labels& server, const auto& sizes) {
    for (const auto& [proto, s] : sizes) {
      Labels labels = server;
      labels.push_back({"proto", proto});
      all.push_back({std::move(labels), s.kBounds, s.counts, static_cast<double>(s.sum_bytes)});
    }
  };
  for (const auto& [owner, s] : servers) {
    const Labels server{{"server", owner}, {"zone", ""}, {"view", ""}};
    const Labels cache{{"server", owner}, {"zones", ""}, {"view", ""}};
    for (const auto& r : s.requests) {
      Labels labels = server;
      labels.insert(labels.end(), {{"proto", r.proto}, {"family", std::to_string(r.family)}, {"type", r.type}});
      requests.push_back({std::move(labels), r.count});
    }
    append(responses, by("rcode", s.responses, server));
    durations.push_back({server, s.durations.kBounds, s.durations.counts, s.durations.sum_seconds});
    add_sizes(query_sizes, server, s.query_sizes);
    add_sizes(response_sizes, server, s.response_sizes);
    lookups.push_back({cache, s.cache_hits + s.cache_misses});
    hits.push_back({cache, s.cache_hits});
    misses.push_back({cache, s.cache_misses});
    entries.push_back({cache, s.cache_entries});
    evictions.push_back({cache, s.cache_evictions});
    stale.push_back({cache, s.stale_answers});
    prefetched.push_back({cache, s.prefetches});
    for (const auto& [upstream, rcodes] : s.upstream_durations)
      for (const auto& [rcode, d] : rcodes)
        upstream_durations.push_back(
            {{{"server", owner}, {"proxy_name", "forward"}, {"to", upstream}, {"rcode", rcode}},
             d.kBounds,
             d.counts,
             d.sum_seconds});
    rejected += s.dropped.contains("forward_limit") ? s.dropped.at("forward_limit") : 0;
    for (const auto& [upstream, replies] : s.upstream_replies) {
      std::uint64_t all = 0;
      for (const auto& [rcode, count] : replies) {
        all += count;
        if (rcode != "timeout" && rcode != "error")
          answered.push_back({{{"server", owner}, {"to", upstream}, {"rcode", rcode}}, count});
      }
      asked.push_back({{{"server", owner}, {"to", upstream}}, all});
    }
  }
  page.counter("coredns_dns_requests_total", "Queries, by what they were.", requests);
  page.histogram("coredns_dns_request_duration_seconds", "From a query to its reply.", durations);
  page.counter("coredns_dns_responses_total", "Responses sent, by RCODE.", responses);
  page.histogram("coredns_dns_request_size_bytes", "Sizes of queries.", query_sizes);
  page.histogram("coredns_dns_response_size_bytes", "Sizes of replies.", response_sizes);
  page.counter("coredns_cache_requests_total", "Queries that the cache was asked for.", lookups);
  page.counter("coredns_cache_hits_total", "Queries answered from the cache.", hits);
  page.counter("coredns_cache_misses_total", "Queries that the cache had no answer for.", misses);
  page.gauge("coredns_cache_entries", "Answers in the cache.", entries);
  page.counter("coredns_cache_evictions_total", "Answers that made room for others.", evictions);
  page.counter("coredns_cache_served_stale_total", "Answers given after their time.", stale);
  page.counter("coredns_cache_prefetch_total", "Answers fetched anew before their end.", prefetched);
  page.histogram("coredns_proxy_request_duration_seconds", "From a question to the reply of an upstream.",
                 upstream_durations);
  page.counter("coredns_forward_requests_total", "Questions that went to an upstream.", asked);
  page.counter("coredns_forward_responses_total", "Replies of an upstream, by RCODE.", answered);
  page.counter("coredns_forward_max_concurrent_rejects_total", "Queries that were too many to forward.",
               servers.empty() ? Values{} : Values{{{}, rejected}});
}

}  // namespace

void add_dns(Page& page, const std::map<std::string, dns::ServerStats>& servers) {
  Values queries, responses, views, dropped, forwarded, failures, hits, entries, pending, cookies, transfers, notifies,
      malformed, chains, silent, coalesced, probes, folding, connections, bytes;
  for (const auto& [owner, s] : servers) {
    const Labels server{{"server", owner}};
    queries.push_back({{{"server", owner}, {"proto", "udp"}}, s.queries_udp});
    queries.push_back({{{"server", owner}, {"proto", "tcp"}}, s.queries_tcp});
    append(responses, by("rcode", s.responses, server));
    append(views, by("view", s.by_view, server));
    append(dropped, by("reason", s.dropped, server));
    append(malformed, by("reason", s.format_errors, server));
    forwarded.push_back({server, s.forwarded});
    failures.push_back({server, s.forward_failures});
    hits.push_back({server, s.cache_hits});
    entries.push_back({server, s.cache_entries});
    pending.push_back({server, s.pending_forwards});
    append(cookies, by("state", s.cookies, server));
    chains.push_back({server, s.chains_cut});
    for (const auto& [upstream, replies] : s.upstream_replies)
      for (const char* reason : {"error", "timeout"}) {
        const auto count = replies.find(reason);
        silent.push_back(
            {{{"server", owner}, {"to", upstream}, {"reason", reason}}, count == replies.end() ? 0 : count->second});
      }
    coalesced.push_back({server, s.coalesced});
    probes.push_back({server, s.upstream_probes});
    folding.push_back({server, s.case_changed});
    connections.push_back({server, s.tcp_connections});
    bytes.push_back({server, s.cache_bytes});
    transfers.push_back({server, s.transfers});
    append(notifies,
           by("result",
              std::map<std::string, std::uint64_t>{
                  {"acknowledged", s.notifies_acknowledged}, {"failed", s.notifies_failed}, {"sent", s.notifies_sent}},
              server));
  }
  page.counter("hcpnet_dns_queries_total", "Queries received.", queries);
  page.counter("hcpnet_dns_responses_total", "Responses sent, by RCODE.", responses);
  page.counter("hcpnet_dns_view_queries_total", "Queries by the view that answered.", views);
  page.counter("hcpnet_dns_format_errors_total", "Queries answered FORMERR, by what was wrong with them.", malformed);
  page.counter("hcpnet_dns_dropped_total", "Messages not answered, by reason.", dropped);
  page.counter("hcpnet_dns_forwarded_total", "Queries forwarded to an upstream.", forwarded);
  page.counter("hcpnet_dns_forward_failures_total", "Forwarded queries that no upstream answered.", failures);
  page.counter("hcpnet_dns_cache_hits_total", "Forwarded queries answered from the cache.", hits);
  page.gauge("hcpnet_dns_cache_entries", "Answers in the cache.", entries);
  page.gauge("hcpnet_dns_cache_bytes", "Memory of the cache.", bytes);
  page.gauge("hcpnet_dns_pending_forwards", "Queries that wait for an upstream.", pending);
  page.counter("hcpnet_dns_coalesced_total", "Queries that joined a question in flight.", coalesced);
  page.counter("hcpnet_dns_upstream_failures_total", "Questions that an upstream did not answer, by reason.", silent);
  page.counter("hcpnet_dns_upstream_probes_total", "Questions to see whether an upstream answers again.", probes);
  page.counter("hcpnet_dns_upstream_case_changed_total", "Upstreams found not to keep the case of names.", folding);
  page.gauge("hcpnet_dns_tcp_connections", "TCP connections open.", connections);
  page.counter("hcpnet_dns_cookies_total", "Queries with a cookie, by what it was.", cookies);
  page.counter("hcpnet_dns_chains_cut_total", "Replies that end after as many aliases as are followed.", chains);
  page.counter("hcpnet_dns_transfers_total", "Zone transfers begun.", transfers);
  page.counter("hcpnet_dns_notifies_total", "Notices of changed zones, by what became of them.", notifies);
  add_coredns_names(page, servers);
}

}  // namespace hcpnet
