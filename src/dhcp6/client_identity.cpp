// SPDX-License-Identifier: Apache-2.0
#include "dhcp6/client_identity.hpp"

#include <algorithm>
#include <array>

namespace hcpnet::dhcp6 {
namespace {

constexpr std::uint16_t kEthernet = 1;
constexpr std::uint8_t kGroupBit = 1;
constexpr std::uint8_t kLocalBit = 2;

/// RFC 6939 section 4: link-layer type u16, address.
std::optional<MacAddress> seen_by_relay(const Packet& packet) {
  if (packet.relays.empty()) return std::nullopt;
  const auto data = packet.relays.back().options.find(option::client_link_layer);
  if (!data) return std::nullopt;
  ByteReader reader(*data);
  if (reader.u16() != kEthernet) return std::nullopt;
  std::array<std::uint8_t, 6> bytes{};
  std::ranges::copy(reader.bytes(bytes.size()), bytes.begin());
  return reader.at_end() ? std::optional(MacAddress(bytes)) : std::nullopt;
}

std::optional<MacAddress> usable(std::optional<MacAddress> mac) noexcept {
  const bool is_usable = mac && (mac->bytes()[0] & kGroupBit) == 0 && *mac != MacAddress();
  return is_usable ? mac : std::nullopt;
}

}  // namespace

std::optional<MacAddress> mac_of_link_local(const Ipv6& address) noexcept {
  const auto& b = address.bytes();
  if (b[0] != 0xFE || (b[1] & 0xC0) != 0x80 || b[11] != 0xFF || b[12] != 0xFE) return std::nullopt;
  return usable(MacAddress({static_cast<std::uint8_t>(b[8] ^ kLocalBit), b[9], b[10], b[13], b[14], b[15]}));
}

std::optional<Client> identify(const Packet& packet, const Ipv6& source) {
  const auto id = packet.message.options.find(option::client_id);
  const auto duid = id ? make_duid(*id) : std::nullopt;
  if (!duid) return std::nullopt;
  Client out;
  out.duid = *duid;
  out.link_mac = mac_of_link_local(packet.relays.empty() ? source : packet.relays.back().peer);
  out.mac = usable(seen_by_relay(packet));
  if (!out.mac) out.mac = usable(duid->link_layer());
  if (!out.mac) out.mac = out.link_mac;
  return out;
}

}  // namespace hcpnet::dhcp6
