// SPDX-License-Identifier: Apache-2.0
#include "proxy/haproxy_backends.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace hcpnet::proxy::haproxy {
namespace {

const char* balance_text(Balance balance) {
  switch (balance) {
    case Balance::least_connections:
      return "leastconn";
    case Balance::random_of_two:
      return "random(2)";
    case Balance::round_robin:
      break;
  }
  return "roundrobin";
}

std::string check_words(const Backend& backend) {
  if (!backend.health_check) return {};
  const HealthCheck& check = *backend.health_check;
  std::string words = " check inter " + time_text(check.interval) + " fall " + std::to_string(check.failures) +
                      " rise " + std::to_string(check.successes);
  if (check.kind == HealthCheck::Kind::tls) words += " check-ssl verify none";
  if (!check.server_name.empty()) words += " check-sni " + check.server_name;
  if (backend.ejection.failures > 0)
    words += " observe layer4 error-limit " + std::to_string(backend.ejection.failures) + " on-error mark-down";
  return words;
}

std::string header_words(ProxyHeaderVersion version) {
  if (version == ProxyHeaderVersion::v1) return " send-proxy";
  return version == ProxyHeaderVersion::v2 ? " send-proxy-v2" : "";
}

std::string source_words(const std::vector<IpAddress>& dial_from, bool is_v4) {
  for (const IpAddress& address : dial_from)
    if (address.is_v4() == is_v4) return " source " + (is_v4 ? address.to_string() : '[' + address.to_string() + ']');
  return {};
}

}  // namespace

std::string time_text(std::chrono::milliseconds time) {
  constexpr std::int64_t kLongest = std::numeric_limits<std::int32_t>::max();  // 24.8 days; HAProxy refuses more
  return std::to_string(std::min<std::int64_t>(time.count(), kLongest)) + "ms";
}

std::string backend_section(const Backend& backend, bool is_http, const std::vector<IpAddress>& dial_from) {
  std::string text = "\nbackend " + backend.name + (is_http ? kHttpSuffix : "") + "\n  mode " +
                     (is_http ? "http" : "tcp") + "\n  balance " + balance_text(backend.balance) +
                     "\n  timeout connect " + time_text(backend.connect_timeout) + '\n';
  // A watch over HTTP is a slow reply.
  if (is_http) text += "  timeout server " + (backend.idle_timeout ? time_text(*backend.idle_timeout) : "24d") + '\n';
  if (backend.idle_timeout) text += "  timeout tunnel " + time_text(*backend.idle_timeout) + '\n';
  if (backend.max_connections > 0) {
    text += std::string("  ") + (is_http ? "http-request" : "tcp-request content") + " reject if { be_conn gt " +
            std::to_string(backend.max_connections) + " }\n";
  }
  if (backend.health_check && backend.health_check->kind == HealthCheck::Kind::tcp) text += "  option tcp-check\n";
  const std::string words = check_words(backend) + header_words(backend.proxy_header);
  std::size_t number = 0;
  for (const Endpoint& endpoint : backend.endpoints) {
    text += "  server " + std::to_string(++number) + ' ' + endpoint.to_string() + words +
            source_words(dial_from, endpoint.address.is_v4()) + '\n';
  }
  if (backend.endpoints.empty() && !backend.host.empty()) {
    text += "  server 1 " + backend.host + ':' + std::to_string(backend.port) +
            " resolvers system resolve-prefer ipv4 init-addr last,libc,none" + words + source_words(dial_from, true) +
            '\n';
  }
  return text;
}

}  // namespace hcpnet::proxy::haproxy
