// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/stack/explain.hpp>
#include <hcpnet/tls/client_hello.hpp>
#include <tuple>
#include <utility>

#include "proxy/access.hpp"

namespace hcpnet {
namespace {

proxy::Greeting greeting_of(const std::string& server_name) {
  if (server_name.empty()) return proxy::Greeting::no_name;
  switch (tls::classify_host(server_name)) {
    case tls::HostKind::dns_name:
      return proxy::Greeting::name;
    case tls::HostKind::ip_address:
      return proxy::Greeting::no_name;
    case tls::HostKind::unusable:
      break;
  }
  return proxy::Greeting::unusable_name;
}

RouteExplanation explain(const std::string& proxy, const proxy::RouteTable& table, const proxy::Listener& listener,
                         const proxy::SourceClusters& clusters, const std::string& server_name,
                         const IpAddress& source) {
  const bool is_blind = listener.kind == proxy::ListenerKind::tcp || listener.kind == proxy::ListenerKind::udp;
  const proxy::Protocol protocol = proxy::protocol_of(listener.kind);
  const proxy::Decision decision =
      table.find(listener.address, is_blind ? proxy::Greeting::not_tls : greeting_of(server_name), server_name, source,
                 clusters, protocol);
  RouteExplanation answer{.proxy = proxy,
                          .listener = listener.address,
                          .protocol = protocol,
                          .server_name = server_name,
                          .source = source,
                          .source_cluster = {},
                          .rule = std::string(to_string(decision.rule)),
                          .matched = std::string(decision.matched),
                          .backend = {},
                          .targets = {}};
  if (const auto cluster = clusters.find(source); cluster != clusters.end()) answer.source_cluster = cluster->second;
  if (!proxy::is_allowed(listener, source)) {
    answer.rule = "source_denied";
    answer.matched.clear();
    return answer;
  }
  if (!decision.backend) return answer;
  answer.backend = decision.backend->name;
  for (const Endpoint& endpoint : decision.backend->endpoints) answer.targets.push_back(endpoint.to_string());
  if (answer.targets.empty() && !decision.backend->is_unserved)
    answer.targets.push_back(decision.backend->host + ':' + std::to_string(decision.backend->port));
  return answer;
}

bool is_same_decision(const RouteExplanation& a, const RouteExplanation& b) {
  return std::tie(a.protocol, a.rule, a.matched, a.backend) == std::tie(b.protocol, b.rule, b.matched, b.backend);
}

}  // namespace

std::vector<RouteExplanation> explain_routes(const std::string& proxy, const proxy::RouteTable& table,
                                             const proxy::SourceClusters& clusters, const std::string& server_name,
                                             std::uint16_t port, const IpAddress& from) {
  const IpAddress source = from.unmapped();
  std::vector<RouteExplanation> answers;
  for (const proxy::Listener& listener : table.config().listeners) {
    if (listener.address.port != port) continue;
    RouteExplanation answer = explain(proxy, table, listener, clusters, server_name, source);
    if (std::ranges::none_of(answers, [&](const RouteExplanation& known) { return is_same_decision(known, answer); }))
      answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace hcpnet
