// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/stack/explain.hpp>
#include <hcpnet/tls/client_hello.hpp>

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

}  // namespace

std::optional<RouteExplanation> explain_route(const std::string& proxy, const proxy::RouteTable& table,
                                              const proxy::SourceClusters& clusters, const std::string& server_name,
                                              std::uint16_t port, const IpAddress& source) {
  const auto& listeners = table.config().listeners;
  const auto listener = std::ranges::find(listeners, port, [](const proxy::Listener& l) { return l.address.port; });
  if (listener == listeners.end()) return std::nullopt;
  const bool is_blind = listener->kind == proxy::ListenerKind::tcp || listener->kind == proxy::ListenerKind::udp;
  const proxy::Decision decision =
      table.find(listener->address, is_blind ? proxy::Greeting::not_tls : greeting_of(server_name), server_name, source,
                 clusters, proxy::protocol_of(listener->kind));

  RouteExplanation answer{proxy,
                          listener->address,
                          server_name,
                          source,
                          {},
                          std::string(to_string(decision.rule)),
                          std::string(decision.matched),
                          {},
                          {}};
  if (const auto cluster = clusters.find(source); cluster != clusters.end()) answer.source_cluster = cluster->second;
  if (!decision.backend) return answer;
  answer.backend = decision.backend->name;
  for (const Endpoint& endpoint : decision.backend->endpoints) answer.targets.push_back(endpoint.to_string());
  if (answer.targets.empty())
    answer.targets.push_back(decision.backend->host + ':' + std::to_string(decision.backend->port));
  return answer;
}

}  // namespace hcpnet
