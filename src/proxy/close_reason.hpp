// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/proxy/route_table.hpp>
#include <string_view>

namespace hcpnet::proxy {

/// Why a connection ended: the closed set of access log and metrics.
enum class CloseReason : std::uint8_t {
  finished,  ///< both sides ended orderly
  client_reset,
  backend_reset,
  client_lost,  ///< an error of the network on the client's side: keepalive, unreachable
  backend_lost,
  idle_timeout,
  stopped,  ///< the engine ended before the connection did, or the listener before its flow of datagrams
  inspect_timeout,
  hello_incomplete,  ///< the client went away first
  hello_malformed,
  hello_too_large,
  not_tls,         ///< and no route takes that
  no_server_name,  ///< and no route takes that
  unknown_name,    ///< and no route takes that
  unusable_name,
  name_not_allowed,    ///< by the listener
  source_not_allowed,  ///< by the routes that claim the name
  resolve_failed,
  no_endpoint,  ///< Backend::is_unserved
  connect_failed,
  connect_timeout,
  loop,           ///< the backend is this proxy itself
  source_denied,  ///< by the listener's allow and deny
  source_limit,   ///< max_connections_per_source
  backend_limit,  ///< Backend::max_connections
  proxy_header,   ///< missing or malformed where one is demanded
  route_removed,  ///< by a reload, removed_route_timeout ago
};
inline constexpr std::size_t kCloseReasonCount = 27;
[[nodiscard]] std::string_view to_string(CloseReason reason) noexcept;

/// For a decision without a backend.
[[nodiscard]] CloseReason reason_for(Greeting greeting, Rule rule) noexcept;

}  // namespace hcpnet::proxy
