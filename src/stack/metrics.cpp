// SPDX-License-Identifier: Apache-2.0
#include "stack/metrics_page.hpp"
#include "stack/stack_impl.hpp"

namespace hcpnet {
namespace {

void add_shared(Page& page, const std::map<std::string, dhcp::ServerStats::Shared>& shared) {
  if (shared.empty()) return;
  Values reachable, claims, taken, unreadable, losses;
  for (const auto& [subnet, s] : shared) {
    reachable.push_back({{{"subnet", subnet}}, s.is_reachable ? 1U : 0U});
    for (const auto& [result, count] : s.claims) claims.push_back({{{"subnet", subnet}, {"result", result}}, count});
    taken.push_back({{{"subnet", subnet}}, s.taken});
    unreadable.push_back({{{"subnet", subnet}}, s.unreadable});
    losses.push_back({{{"subnet", subnet}}, s.losses});
  }
  page.gauge("hcpnet_dhcp_shared_store_reachable", "1 while the store of shared leases answers.", reachable);
  page.counter("hcpnet_dhcp_shared_claims_total", "Writes of leases to the shared store, by result.", claims);
  page.counter("hcpnet_dhcp_shared_taken_total", "Leases that other servers have written.", taken);
  page.counter("hcpnet_dhcp_shared_unreadable_total", "Of them, those that can't be understood.", unreadable);
  page.counter("hcpnet_dhcp_shared_losses_total", "Times that the shared store was lost.", losses);
}

void add_dhcp(Page& page, const dhcp::ServerStats& stats) {
  page.counter("hcpnet_dhcp_received_total", "DHCP messages received, by type.", by("type", stats.received));
  page.counter("hcpnet_dhcp_sent_total", "DHCP messages sent, by type.", by("type", stats.sent));
  page.counter("hcpnet_dhcp_dropped_total", "DHCP messages dropped, by reason.", by("reason", stats.dropped));
  page.counter("hcpnet_dhcp_probes_total", "Addresses asked for before they were offered, by result.",
               by("result", stats.probes));
  page.counter("hcpnet_dhcp_lease_events_total", "What happened to leases.", by("event", stats.events));
  if (stats.subnets.empty()) return;
  page.counter("hcpnet_dhcp_commits_total", "Group commits of leases that reached the disk.", {{{}, stats.commits}});
  page.counter("hcpnet_dhcp_commit_failures_total", "Group commits of leases that failed.",
               {{{}, stats.commit_failures}});
  add_shared(page, stats.shared);
  Values sizes, leases, pool_sizes, pool_leases;
  for (const auto& [subnet, s] : stats.subnets) {
    sizes.push_back({{{"subnet", subnet}}, s.pool_size});
    leases.push_back({{{"subnet", subnet}, {"state", "bound"}}, s.bound});
    leases.push_back({{{"subnet", subnet}, {"state", "offered"}}, s.offered});
    leases.push_back({{{"subnet", subnet}, {"state", "declined"}}, s.declined});
    for (const dhcp::ServerStats::PerPool& p : s.pools) {
      const std::string pool = p.range.to_string();
      pool_sizes.push_back({{{"subnet", subnet}, {"pool", pool}}, p.size});
      pool_leases.push_back({{{"subnet", subnet}, {"pool", pool}, {"state", "bound"}}, p.bound});
      pool_leases.push_back({{{"subnet", subnet}, {"pool", pool}, {"state", "offered"}}, p.offered});
      pool_leases.push_back({{{"subnet", subnet}, {"pool", pool}, {"state", "declined"}}, p.declined});
    }
  }
  page.gauge("hcpnet_dhcp_pool_addresses", "Addresses in the pools of a subnet.", sizes);
  page.gauge("hcpnet_dhcp_leases", "Addresses in use, by subnet and state.", leases);
  page.gauge("hcpnet_dhcp_pool_size", "Addresses in a pool, without those excluded or reserved.", pool_sizes);
  page.gauge("hcpnet_dhcp_pool_leases", "Addresses of a pool in use, by state.", pool_leases);
}

void add_dhcp6(Page& page, const dhcp::ServerStats::V6& stats) {
  page.counter("hcpnet_dhcp6_received_total", "DHCPv6 messages received, by type.", by("type", stats.received));
  page.counter("hcpnet_dhcp6_sent_total", "DHCPv6 messages sent, by type.", by("type", stats.sent));
  page.counter("hcpnet_dhcp6_dropped_total", "DHCPv6 messages dropped, by reason.", by("reason", stats.dropped));
  page.counter("hcpnet_dhcp6_lease_events_total", "What happened to IPv6 leases.", by("event", stats.events));
  Values leases;
  for (const auto& [subnet, s] : stats.subnets) {
    leases.push_back({{{"subnet", subnet}, {"state", "bound"}}, s.bound});
    leases.push_back({{{"subnet", subnet}, {"state", "offered"}}, s.offered});
    leases.push_back({{{"subnet", subnet}, {"state", "declined"}}, s.declined});
  }
  page.gauge("hcpnet_dhcp6_leases", "IPv6 addresses in use, by subnet and state.", leases);
}

void add_lease_names(Page& page, const std::vector<Stack::Impl::NamedDns>& servers) {
  Values names, refused;
  for (const Stack::Impl::NamedDns& d : servers) {
    if (!d.lease_names) continue;
    names.push_back({{{"server", d.owner}}, d.lease_names->size()});
    refused.push_back({{{"server", d.owner}}, d.lease_names->refused()});
  }
  if (names.empty()) return;
  page.gauge("hcpnet_dns_lease_names", "Names of DHCP clients.", names);
  page.counter("hcpnet_dns_lease_names_refused_total", "Names of DHCP clients refused: somebody else's.", refused);
}

}  // namespace

std::string render_metrics(const Stack::Impl& stack) {
  const StackStats stats = stack.stats();
  Page page;
  page.gauge("hcpnet_up", "1 while everything is well.", {{{}, stack.troubles().empty() ? 1u : 0u}});
  page.counter("hcpnet_reloads_total", "Reloads, by result.",
               {{{{"result", "applied"}}, stats.reloads}, {{{"result", "refused"}}, stats.reloads_refused}});
  page.counter("hcpnet_reload_errors_total", "Errors of refused reloads, by code.", by("code", stats.reload_errors));
  page.counter("hcpnet_http_closed_for_room_total",
               "Connections to an HTTP page closed because there were too many, the one silent longest first.",
               by("page", stack.http_closed_for_room()));
  page.counter("hcpnet_http_accept_backoffs_total", "Times that an HTTP page could not accept a connection.",
               by("page", stack.http_accept_backoffs()));
  add_dhcp(page, stats.dhcp);
  add_dhcp6(page, stats.dhcp.v6);
  add_dns(page, stats.dns);
  add_lease_names(page, stack.dns);
  add_proxies(page, stats.proxies);
  return page.render();
}

}  // namespace hcpnet
