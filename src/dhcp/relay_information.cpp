// SPDX-License-Identifier: Apache-2.0
#include "dhcp/relay_information.hpp"

namespace hcpnet::dhcp {
namespace {

/// Of what has come through no relay nobody but the client itself can have said it.
std::optional<ByteView> find_relayed(const Message& message, std::uint8_t code) noexcept {
  if (message.giaddr.is_unspecified()) return std::nullopt;
  return find_sub_option(relay_option_of(message), code);
}

std::optional<Ipv4> find_relayed_address(const Message& message, std::uint8_t code) noexcept {
  const auto value = find_relayed(message, code);
  if (!value || value->size() != 4) return std::nullopt;
  return Ipv4(ByteReader(*value).u32());
}

}  // namespace

std::optional<ByteView> find_sub_option(ByteView relay_information, std::uint8_t code) noexcept {
  std::optional<ByteView> out;
  ByteReader list(relay_information);
  while (list.ok() && list.remaining() > 0) {
    const std::uint8_t found = list.u8();
    const ByteView data = list.bytes(list.u8());
    if (found == code && !out) out = data;
  }
  return list.at_end() ? out : std::nullopt;
}

bool is_relay_address_or_absent(const Message& message, std::uint8_t code) noexcept {
  const auto value = find_relayed(message, code);
  return !value || value->size() == 4;
}

std::optional<Ipv4> selected_subnet(const Message& message) noexcept {
  if (const auto link = find_relayed_address(message, sub_option::link_selection)) return link;
  return message.options.find_address(option::subnet_selection);
}

std::optional<Ipv4> server_id_override(const Message& message) noexcept {
  const auto address = find_relayed_address(message, sub_option::server_id_override);
  if (!address || address->is_unspecified()) return std::nullopt;  // 0.0.0.0 names nobody
  return address;
}

}  // namespace hcpnet::dhcp
