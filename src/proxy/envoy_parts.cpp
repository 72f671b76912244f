// SPDX-License-Identifier: Apache-2.0
#include "proxy/envoy_parts.hpp"

namespace hcpnet::proxy::envoy {
namespace {

const char* policy(Balance balance) {
  // Envoy's draws two and takes the one with less to do.
  return balance == Balance::round_robin ? "ROUND_ROBIN" : "LEAST_REQUEST";
}

Json health_check(const HealthCheck& check) {
  return {{"timeout", seconds(check.timeout)},
          {"interval", seconds(check.interval)},
          {"unhealthy_threshold", check.failures},
          {"healthy_threshold", check.successes},
          {"tcp_health_check", Json::object()}};
}

/// Whom the backend believes its client to be.
Json header_socket(ProxyHeaderVersion version) {
  return {{"name", "envoy.transport_sockets.upstream_proxy_protocol"},
          {"typed_config",
           typed("transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport",
                 {{"config", {{"version", version == ProxyHeaderVersion::v1 ? "V1" : "V2"}}},
                  {"transport_socket",
                   {{"name", "envoy.transport_sockets.raw_buffer"},
                    {"typed_config", typed("transport_sockets.raw_buffer.v3.RawBuffer", Json::object())}}}})}};
}

Json endpoints_of(const Backend& backend) {
  Json endpoints = Json::array();
  for (const Endpoint& e : backend.endpoints) endpoints.push_back(endpoint(e.address.to_string(), e.port));
  if (backend.endpoints.empty() && !backend.is_unserved) endpoints.push_back(endpoint(backend.host, backend.port));
  return endpoints;
}

}  // namespace

std::string seconds(std::chrono::milliseconds time) {
  const auto whole = time.count() / 1000;
  const auto rest = time.count() % 1000;
  if (rest == 0) return std::to_string(whole) + 's';
  return std::to_string(whole) + '.' + std::to_string(1000 + rest).substr(1) + 's';
}

Json typed(const char* type, Json fields) {
  fields["@type"] = std::string("type.googleapis.com/envoy.extensions.") + type;
  return fields;
}

Json socket_address(const std::string& address, std::uint16_t port) {
  return {{"socket_address", {{"address", address}, {"port_value", port}}}};
}

Json endpoint(const std::string& address, std::uint16_t port) {
  return {{"endpoint", {{"address", socket_address(address, port)}}}};
}

Json cluster(const Backend& backend, std::uint32_t max_connections, const std::vector<IpAddress>& dial_from) {
  const bool is_resolved = backend.endpoints.empty() && !backend.is_unserved;
  const auto limit =
      backend.max_connections > 0 ? static_cast<std::uint32_t>(backend.max_connections) : max_connections;
  Json json = {
      {"name", backend.name},
      {"type", is_resolved ? "STRICT_DNS" : "STATIC"},
      {"connect_timeout", seconds(backend.connect_timeout)},
      {"load_assignment",
       {{"cluster_name", backend.name}, {"endpoints", Json::array({{{"lb_endpoints", endpoints_of(backend)}}})}}},
      // Envoy stops at 1,024 unless told otherwise; the limit is the listener's.
      {"circuit_breakers",
       {{"thresholds", Json::array({{{"max_connections", limit}, {"max_pending_requests", limit}}})}}},
      {"upstream_connection_options", {{"tcp_keepalive", {{"keepalive_time", 60}, {"keepalive_interval", 20}}}}},
  };
  if (is_resolved) json["dns_lookup_family"] = "V4_PREFERRED";
  if (backend.balance != Balance::round_robin) json["lb_policy"] = policy(backend.balance);
  if (backend.health_check) json["health_checks"] = Json::array({health_check(*backend.health_check)});
  if (backend.proxy_header != ProxyHeaderVersion::none) json["transport_socket"] = header_socket(backend.proxy_header);
  for (const IpAddress& address : dial_from)
    if (address.is_v4())
      json["upstream_bind_config"] = {{"source_address", socket_address(address.to_string(), 0)["socket_address"]}};
  return json;
}

}  // namespace hcpnet::proxy::envoy
