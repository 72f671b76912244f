// SPDX-License-Identifier: Apache-2.0
#include "proxy/envoy_parts.hpp"

#include <algorithm>
#include <utility>

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

/// Socket options as Linux numbers them.
struct SocketOption {
  int level = 0;
  int name = 0;
};
constexpr SocketOption kSendBuffer{1, 7}, kReceiveBuffer{1, 8}, kKeepalive{1, 9};
constexpr SocketOption kKeepaliveIdle{6, 4}, kKeepaliveInterval{6, 5}, kKeepaliveProbes{6, 6};

Json socket_option(SocketOption option, std::int64_t value) {
  return {{"level", option.level}, {"name", option.name}, {"int_value", value}};
}

Json buffer_options(const SocketBuffers& buffers) {
  Json options = Json::array();
  const auto add = [&](SocketOption option, const std::optional<std::size_t>& bytes) {
    if (bytes.value_or(0) > 0) options.push_back(socket_option(option, socket_buffer_option(*bytes)));
  };
  add(kReceiveBuffer, buffers.receive_bytes);
  add(kSendBuffer, buffers.send_bytes);
  return options;
}

/// Our own addresses towards a backend, one of a family. Envoy takes one of the other family where there is none of an
/// endpoint's own, and fails; the unspecified address leaves it to the system.
std::vector<IpAddress> source_addresses(const Backend& backend, bool is_resolved,
                                        const std::vector<IpAddress>& dial_from) {
  std::vector<IpAddress> all;
  if (dial_from.empty()) return all;
  for (const bool is_v4 : {true, false}) {
    const auto own = std::ranges::find(dial_from, is_v4, &IpAddress::is_v4);
    const bool is_needed = (is_resolved && is_v4) || std::ranges::any_of(backend.endpoints, [&](const Endpoint& e) {
                             return e.address.is_v4() == is_v4;
                           });
    if (own != dial_from.end())
      all.push_back(*own);
    else if (is_needed)
      all.push_back(is_v4 ? IpAddress(Ipv4{}) : IpAddress(Ipv6{}));
  }
  return all;
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

Json listener_socket_options(const EngineSettings& settings) {
  Json options = buffer_options(settings.buffers);
  options.push_back(socket_option(kKeepalive, 1));
  options.push_back(socket_option(kKeepaliveIdle, settings.keepalive.idle.count()));
  options.push_back(socket_option(kKeepaliveInterval, settings.keepalive.interval.count()));
  options.push_back(socket_option(kKeepaliveProbes, settings.keepalive.probes));
  return options;
}

Json cluster(const Backend& backend, const EngineSettings& settings, const std::vector<IpAddress>& dial_from) {
  const bool is_resolved = backend.endpoints.empty() && !backend.is_unserved;
  const std::size_t limit = backend.max_connections > 0 ? backend.max_connections : settings.max_connections;
  Json json = {
      {"name", backend.name},
      {"type", is_resolved ? "STRICT_DNS" : "STATIC"},
      {"connect_timeout", seconds(backend.connect_timeout)},
      {"load_assignment",
       {{"cluster_name", backend.name}, {"endpoints", Json::array({{{"lb_endpoints", endpoints_of(backend)}}})}}},
      // Envoy stops at 1,024 unless told otherwise; the limit is the listener's.
      {"circuit_breakers",
       {{"thresholds", Json::array({{{"max_connections", limit}, {"max_pending_requests", limit}}})}}},
      {"upstream_connection_options",
       {{"tcp_keepalive",
         {{"keepalive_time", settings.keepalive.idle.count()},
          {"keepalive_interval", settings.keepalive.interval.count()},
          {"keepalive_probes", settings.keepalive.probes}}}}},
  };
  if (is_resolved) json["dns_lookup_family"] = "V4_PREFERRED";
  if (backend.balance != Balance::round_robin) json["lb_policy"] = policy(backend.balance);
  if (backend.health_check) json["health_checks"] = Json::array({health_check(*backend.health_check)});
  if (backend.proxy_header != ProxyHeaderVersion::none) json["transport_socket"] = header_socket(backend.proxy_header);
  for (const IpAddress& address : source_addresses(backend, is_resolved, dial_from)) {
    Json& config = json["upstream_bind_config"];
    Json source = socket_address(address.to_string(), 0)["socket_address"];
    if (!config.contains("source_address"))
      config["source_address"] = std::move(source);
    else
      config["extra_source_addresses"].push_back({{"address", std::move(source)}});
  }
  if (Json options = buffer_options(settings.buffers); !options.empty())
    json["upstream_bind_config"]["socket_options"] = std::move(options);
  return json;
}

}  // namespace hcpnet::proxy::envoy
