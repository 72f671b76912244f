// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/net.hpp>
#include <hcpnet/tls/client_hello.hpp>

namespace hcpnet::tls {
namespace {

constexpr std::size_t kMaxNameBytes = 253;  // RFC 1035 section 2.3.4, as text without the final dot
constexpr std::size_t kMaxLabelBytes = 63;

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_label_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' || c == '_' || c == '*';
}

bool is_ip_address(std::string_view name) {
  if (name.size() > 2 && name.front() == '[' && name.back() == ']') {
    return parse_ipv6(name.substr(1, name.size() - 2)).has_value();
  }
  return parse_ip_address(name).has_value();
}

bool is_dns_name(std::string_view name) noexcept {
  if (name.size() > kMaxNameBytes) return false;
  for (;;) {
    const std::size_t dot = name.find('.');
    const std::string_view label = name.substr(0, dot);
    if (label.empty() || label.size() > kMaxLabelBytes || !std::ranges::all_of(label, is_label_char)) return false;
    // RFC 1123 section 2.1: the last label is never a number, or "192.0.2.300" would be a name.
    if (dot == std::string_view::npos) return !std::ranges::all_of(label, is_digit);
    name.remove_prefix(dot + 1);
  }
}

}  // namespace

HostKind classify_host(std::string_view name) {
  if (is_dns_name(name)) return HostKind::dns_name;
  return is_ip_address(name) ? HostKind::ip_address : HostKind::unusable;
}

}  // namespace hcpnet::tls
