// SPDX-License-Identifier: Apache-2.0
#include "spec/hosted_cluster_status.hpp"
#include <charconv>

#include "spec/format.hpp"
#include "spec/names.hpp"

namespace hcpnet::spec {
namespace {

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  return error == std::errc() && stop == end && port > 0 ? std::optional(port) : std::nullopt;
}

std::string string_at(const text::Value& object, std::string_view pointer) {
  const text::Value* value = text::find(object, pointer);
  return value != nullptr && value->type == text::ValueType::string ? value->text : std::string();
}

/// "host", or "host:port" as HyperShift joins them; an IPv6 address with a port stands in brackets.
void read_ignition_endpoint(const std::string& text, HostedClusterStatus& status) {
  constexpr std::uint16_t kHttps = 443;
  std::string host;
  std::optional<std::uint16_t> port = kHttps;
  if (const auto endpoint = parse_endpoint(text, kHttps)) {
    host = host_of(endpoint->address.to_string());
    port = endpoint->port;
  } else {
    const std::size_t colon = text.find(':');
    host = host_of(text.substr(0, colon));
    if (colon != std::string::npos) port = parse_port(text.substr(colon + 1));
  }
  if (!port || host.empty()) return;
  status.ignition_host = host;
  status.ignition_port = *port;
}

}  // namespace

std::optional<std::uint16_t> port_at(const text::Value& object, std::string_view pointer) {
  const text::Value* value = text::find(object, pointer);
  return value != nullptr && value->type == text::ValueType::integer ? parse_port(value->text) : std::nullopt;
}

std::string host_of(std::string_view text) {
  if (const auto address = parse_ip_address(text)) return is_host_address(*address) ? address->to_string() : "";
  return host_name_problem(text, HostForm::exact) ? std::string() : lower(text);
}

HostedClusterStatus read_status(const text::Value& hosted_cluster) {
  HostedClusterStatus status;
  const auto port = port_at(hosted_cluster, "/status/controlPlaneEndpoint/port");
  const std::string host = host_of(string_at(hosted_cluster, "/status/controlPlaneEndpoint/host"));
  if (port && !host.empty()) {
    status.api_host = host;
    status.api_port = *port;
  }
  read_ignition_endpoint(string_at(hosted_cluster, "/status/ignitionEndpoint"), status);
  return status;
}

}  // namespace hcpnet::spec
