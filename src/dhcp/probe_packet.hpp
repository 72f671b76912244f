// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/net.hpp>
#include <optional>

/// The packets of a probe: questions whether somebody uses an address, and answers that he does. Pure.
namespace hcpnet::dhcp {

inline constexpr std::size_t kArpBytes = 28;   ///< RFC 826, with Ethernet and IPv4 addresses
inline constexpr std::size_t kEchoBytes = 16;  ///< RFC 792: the header and eight bytes of data

/// An ARP probe (RFC 5227 section 1.1): a request in nobody's name, so that it changes no cache.
[[nodiscard]] std::array<std::uint8_t, kArpBytes> encode_arp_probe(const MacAddress& own, Ipv4 address) noexcept;

struct ArpReply {
  Ipv4 address;  ///< of the sender
  MacAddress mac;
  friend bool operator==(const ArpReply&, const ArpReply&) = default;
};
/// Reads what follows an Ethernet header; padding after it is ignored. nullopt for anything but a reply about Ethernet
/// and IPv4. Throws nothing.
[[nodiscard]] std::optional<ArpReply> parse_arp_reply(ByteView packet) noexcept;

/// What an echo request says and its reply repeats.
struct EchoMark {
  std::uint16_t identifier = 0;
  std::uint16_t sequence = 0;
  friend bool operator==(const EchoMark&, const EchoMark&) = default;
};
/// The ICMP message without an IP header, its checksum right.
[[nodiscard]] std::array<std::uint8_t, kEchoBytes> encode_echo_request(const EchoMark& mark) noexcept;

struct EchoReply {
  Ipv4 source;
  EchoMark mark;
  friend bool operator==(const EchoReply&, const EchoReply&) = default;
};
/// Reads an IPv4 packet, options or not. nullopt for anything but an echo reply with a right checksum. Throws nothing.
[[nodiscard]] std::optional<EchoReply> parse_echo_reply(ByteView packet) noexcept;

}  // namespace hcpnet::dhcp
