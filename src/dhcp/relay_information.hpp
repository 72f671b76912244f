// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/bytes.hpp>
#include <hcpnet/dhcp/message.hpp>
#include <hcpnet/net.hpp>
#include <optional>

namespace hcpnet::dhcp {

/// Sub-options of option 82 that the server reads (RFC 3046 unless noted).
namespace sub_option {
inline constexpr std::uint8_t circuit_id = 1;
inline constexpr std::uint8_t remote_id = 2;
inline constexpr std::uint8_t link_selection = 5;       // RFC 3527
inline constexpr std::uint8_t server_id_override = 11;  // RFC 5107
}  // namespace sub_option

/// Option 82 of a message; empty where it has none.
[[nodiscard]] inline ByteView relay_option_of(const Message& message) noexcept {
  return message.options.find(option::relay_information).value_or(ByteView());
}

/// RFC 3046 section 2.0: code, length, value; again and again. nullopt where it is not there, or the option is broken.
[[nodiscard]] std::optional<ByteView> find_sub_option(ByteView relay_information, std::uint8_t code) noexcept;

/// False for a sub-option of a relay that is there and has not the size of an address.
[[nodiscard]] bool is_relay_address_or_absent(const Message& message, std::uint8_t code) noexcept;

/// An address of the subnet that the client is to be served from, whatever giaddr says: the relay's link selection
/// (RFC 3527 section 3), before the client's subnet selection (RFC 3011 section 2). nullopt: neither is there.
[[nodiscard]] std::optional<Ipv4> selected_subnet(const Message& message) noexcept;
/// What the relay wants clients to take for the server's identifier (RFC 5107 section 4), so that their renewals come
/// to the relay. nullopt: our own.
[[nodiscard]] std::optional<Ipv4> server_id_override(const Message& message) noexcept;

}  // namespace hcpnet::dhcp
