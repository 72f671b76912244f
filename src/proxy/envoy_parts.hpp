// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/proxy/route_table.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// The parts of an Envoy configuration that lead to servers, and what all parts are made of.
namespace hcpnet::proxy::envoy {

using Json = nlohmann::json;

/// "1.5s"
[[nodiscard]] std::string seconds(std::chrono::milliseconds time);
/// A message with its type, `type` below envoy.extensions.
[[nodiscard]] Json typed(const char* type, Json fields);
[[nodiscard]] Json socket_address(const std::string& address, std::uint16_t port);
[[nodiscard]] Json endpoint(const std::string& address, std::uint16_t port);

/// envoy.config.cluster.v3.Cluster. `max_connections`: of the proxy, where the backend has no limit of its own.
/// `dial_from`: our own addresses towards it.
[[nodiscard]] Json cluster(const Backend& backend, std::uint32_t max_connections,
                           const std::vector<IpAddress>& dial_from);

}  // namespace hcpnet::proxy::envoy
