// SPDX-License-Identifier: Apache-2.0
#include "proxy/close_reason.hpp"

namespace hcpnet::proxy {

std::string_view to_string(CloseReason reason) noexcept {
  switch (reason) {
    case CloseReason::finished:
      return "finished";
    case CloseReason::client_reset:
      return "client_reset";
    case CloseReason::backend_reset:
      return "backend_reset";
    case CloseReason::client_lost:
      return "client_lost";
    case CloseReason::backend_lost:
      return "backend_lost";
    case CloseReason::idle_timeout:
      return "idle_timeout";
    case CloseReason::stopped:
      return "stopped";
    case CloseReason::inspect_timeout:
      return "inspect_timeout";
    case CloseReason::hello_incomplete:
      return "hello_incomplete";
    case CloseReason::hello_malformed:
      return "hello_malformed";
    case CloseReason::hello_too_large:
      return "hello_too_large";
    case CloseReason::not_tls:
      return "not_tls";
    case CloseReason::no_server_name:
      return "no_server_name";
    case CloseReason::unknown_name:
      return "unknown_name";
    case CloseReason::unusable_name:
      return "unusable_name";
    case CloseReason::name_not_allowed:
      return "name_not_allowed";
    case CloseReason::source_not_allowed:
      return "source_not_allowed";
    case CloseReason::resolve_failed:
      return "resolve_failed";
    case CloseReason::no_endpoint:
      return "no_endpoint";
    case CloseReason::connect_failed:
      return "connect_failed";
    case CloseReason::connect_timeout:
      return "connect_timeout";
    case CloseReason::loop:
      return "loop";
    case CloseReason::source_denied:
      return "source_denied";
    case CloseReason::source_limit:
      return "source_limit";
    case CloseReason::backend_limit:
      return "backend_limit";
    case CloseReason::proxy_header:
      return "proxy_header";
    case CloseReason::route_removed:
      return "route_removed";
  }
  return "unknown";
}

CloseReason reason_for(Greeting greeting, Rule rule) noexcept {
  if (rule == Rule::unusable_name) return CloseReason::unusable_name;
  if (rule == Rule::name_not_allowed) return CloseReason::name_not_allowed;
  if (rule == Rule::source_not_allowed) return CloseReason::source_not_allowed;
  if (greeting == Greeting::no_name) return CloseReason::no_server_name;
  return greeting == Greeting::not_tls ? CloseReason::not_tls : CloseReason::unknown_name;
}

}  // namespace hcpnet::proxy
