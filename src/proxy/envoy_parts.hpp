// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/proxy/engine_settings.hpp>
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

/// Keepalive, and bounds of the buffers that are given, of what a listener accepts.
[[nodiscard]] Json listener_socket_options(const EngineSettings& settings);
/// envoy.config.cluster.v3.Cluster. `settings`: limits where the backend has none of its own. `dial_from`: our own
/// addresses towards it.
[[nodiscard]] Json cluster(const Backend& backend, const EngineSettings& settings,
                           const std::vector<IpAddress>& dial_from);

}  // namespace hcpnet::proxy::envoy
