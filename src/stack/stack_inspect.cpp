// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dhcp6/message.hpp>
#include <iterator>

#include "stack/stack_impl.hpp"

namespace hcpnet {
namespace {

/// Where a problem is and of which kind. What it says may quote a file, and health pages are for everybody.
std::string place_and_code(const Diagnostic& problem) {
  std::string text = printable(problem.file);
  if (problem.line > 0) text += ':' + std::to_string(problem.line);
  return text + (text.empty() ? "[" : " [") + problem.code + ']';
}

}  // namespace

std::vector<std::string> Stack::Impl::service_troubles() const {
  std::vector<std::string> troubles;
  if (state != State::running) troubles.push_back("not serving");
  if (is_draining) troubles.push_back("draining: the proxy takes no new connections");
  if (is_released_) troubles.push_back("another process is taking over; DHCP and the admin pages are let go for it");
  if (dhcp)
    for (const std::string& trouble : dhcp->troubles()) troubles.push_back("dhcp: " + trouble);
  return troubles;
}

std::vector<std::string> Stack::Impl::troubles() const {
  auto troubles = service_troubles();
  if (!do_files_differ || !last_reload) return troubles;
  const Diagnostics& why = last_reload->diagnostics;
  const auto error = std::ranges::find(why, Severity::error, &Diagnostic::severity);
  troubles.push_back("the files are not what is served: a reload was refused, " +
                     (error == why.end() ? std::string() : place_and_code(*error)));
  return troubles;
}

std::vector<StackListener> Stack::Impl::listeners() const {
  std::vector<StackListener> all;
  if (dhcp)
    for (const dhcp::BoundSubnet& b : dhcp->bound()) all.push_back({"dhcp", b.subnet, {b.server_id, 67}, b.bound});
  if (dhcp)
    for (const dhcp::BoundSubnet6& b : dhcp->bound6())
      all.push_back({"dhcp6", b.subnet, {b.bound.address, dhcp6::kServerPort}, b.bound});
  for (const NamedDns& d : dns)
    for (const dns::BoundListener& l : d.server->listeners()) all.push_back({"dns", d.owner, l.configured, l.bound});
  for (const NamedProxy& p : proxies)
    for (const proxy::BoundListener& l : p.engine->listeners())
      all.push_back({"proxy", p.owner, l.configured, l.bound});
  if (admin_tcp_bound_) all.push_back({"admin", {}, *options.admin_tcp, *admin_tcp_bound_});
  if (observe_bound_) all.push_back({"observe", {}, *options.observe, *observe_bound_});
  return all;
}

std::vector<StackZone> Stack::Impl::zones() const {
  std::vector<StackZone> all;
  for (const NamedDns& d : dns)
    for (const dns::View& view : d.server->config().views)
      for (const auto& zone : view.zones) all.push_back({d.owner, view.name, view.clients, zone});
  return all;
}

std::map<std::string, dns::Explanation> Stack::Impl::explain(const dns::Name& name, dns::Type type,
                                                             const IpAddress& client) const {
  std::map<std::string, dns::Explanation> all;
  for (const NamedDns& d : dns) all.emplace(d.owner, dns::explain(d.server->config(), name, type, client).value());
  return all;
}

StackStats Stack::Impl::stats() const {
  StackStats all;
  if (dhcp) all.dhcp = dhcp->stats();
  for (const NamedDns& d : dns) all.dns.emplace(d.owner, d.server->stats());
  for (const NamedProxy& p : proxies) all.proxies.emplace(p.owner, p.engine->stats());
  all.reloads = reloads;
  all.reloads_refused = reloads_refused;
  all.reload_errors = reload_errors;
  return all;
}

std::map<std::string, std::uint64_t> Stack::Impl::http_closed_for_room() const {
  const auto count = [](const auto& server) { return server ? server->closed_for_room() : 0; };
  return {{"admin", count(admin_) + count(admin_tcp_)}, {"observe", count(observe_)}};
}

std::map<std::string, std::uint64_t> Stack::Impl::http_accept_backoffs() const {
  const auto count = [](const auto& server) { return server ? server->accept_backoffs() : 0; };
  return {{"admin", count(admin_) + count(admin_tcp_)}, {"observe", count(observe_)}};
}

std::vector<RouteExplanation> Stack::Impl::route(const std::string& server_name, std::uint16_t port,
                                                 const IpAddress& source) const {
  std::vector<RouteExplanation> answers;
  for (const NamedProxy& p : proxies) {
    auto of_one = explain_routes(p.owner, *p.engine->table(), p.engine->source_clusters(), server_name, port, source);
    std::ranges::move(of_one, std::back_inserter(answers));
  }
  return answers;
}

}  // namespace hcpnet
