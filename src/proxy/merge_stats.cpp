// SPDX-License-Identifier: Apache-2.0
#include "proxy/merge_stats.hpp"

namespace hcpnet::proxy {
namespace {

constexpr std::uint64_t EngineStats::* kCounters[] = {
    &EngineStats::accepted,
    &EngineStats::limit_refused,
    &EngineStats::listener_limit_refused,
    &EngineStats::source_limit_refused,
    &EngineStats::backend_limit_refused,
    &EngineStats::source_denied,
    &EngineStats::accept_backoffs,
    &EngineStats::inspect_timeouts,
    &EngineStats::hello_too_large,
    &EngineStats::hello_malformed,
    &EngineStats::proxy_header_refused,
    &EngineStats::closed_before_hello,
    &EngineStats::connect_failures,
    &EngineStats::endpoint_failures,
    &EngineStats::connect_timeouts,
    &EngineStats::loops_refused,
    &EngineStats::resolve_failures,
    &EngineStats::stale_answers,
    &EngineStats::idle_timeouts,
    &EngineStats::routes_removed,
    &EngineStats::downstream_resets,
    &EngineStats::upstream_resets,
    &EngineStats::bytes_to_backend,
    &EngineStats::bytes_to_client,
    &EngineStats::buffers_in_use,
    &EngineStats::pipes_refused,
    &EngineStats::udp_datagrams,
    &EngineStats::udp_dropped,
};

}  // namespace

void merge(EngineStats& into, const EngineStats& from) {
  for (const auto counter : kCounters) into.*counter += from.*counter;
  for (const auto& [rule, count] : from.decisions) into.decisions[rule] += count;
  for (const auto& [reason, count] : from.closed) into.closed[reason] += count;
}

}  // namespace hcpnet::proxy
