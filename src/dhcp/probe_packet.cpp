// SPDX-License-Identifier: Apache-2.0
#include "dhcp/probe_packet.hpp"

#include <algorithm>

#include "dhcp/checksum.hpp"

namespace hcpnet::dhcp {
namespace {

constexpr std::uint16_t kEthernetHardware = 1;
constexpr std::uint16_t kIpv4 = 0x0800;
constexpr std::uint16_t kArpRequest = 1;
constexpr std::uint16_t kArpReply = 2;
constexpr std::size_t kMacBytes = 6;
constexpr std::size_t kIpv4Bytes = 4;

constexpr std::size_t kMinIpHeaderBytes = 20;
constexpr std::uint8_t kIcmp = 1;
constexpr std::uint8_t kEchoReply = 0;
constexpr std::uint8_t kEchoRequest = 8;
constexpr std::size_t kIcmpChecksumAt = 2;

}  // namespace

// RFC 826: hardware and protocol type, the lengths of their addresses, operation; then sender and target, hardware
// address before protocol address.
std::array<std::uint8_t, kArpBytes> encode_arp_probe(const MacAddress& own, Ipv4 address) noexcept {
  std::array<std::uint8_t, kArpBytes> packet{};
  ByteWriter out(packet);
  out.u16(kEthernetHardware);
  out.u16(kIpv4);
  out.u8(kMacBytes);
  out.u8(kIpv4Bytes);
  out.u16(kArpRequest);
  out.bytes(own.bytes());
  out.zeros(kIpv4Bytes + kMacBytes);
  out.u32(address.value());
  return packet;
}

std::optional<ArpReply> parse_arp_reply(ByteView packet) noexcept {
  ByteReader in(packet);
  const bool is_known =
      in.u16() == kEthernetHardware && in.u16() == kIpv4 && in.u8() == kMacBytes && in.u8() == kIpv4Bytes;
  if (!is_known || in.u16() != kArpReply) return std::nullopt;
  std::array<std::uint8_t, kMacBytes> mac{};
  std::ranges::copy(in.bytes(kMacBytes), mac.begin());
  const Ipv4 address(in.u32());
  in.skip(kMacBytes + kIpv4Bytes);
  if (!in.ok()) return std::nullopt;
  return ArpReply{address, MacAddress(mac)};
}

// RFC 792: type, code, checksum, identifier, sequence number, data.
std::array<std::uint8_t, kEchoBytes> encode_echo_request(const EchoMark& mark) noexcept {
  std::array<std::uint8_t, kEchoBytes> message{};
  ByteWriter out(message);
  out.u8(kEchoRequest);
  out.u8(0);
  out.u16(0);
  out.u16(mark.identifier);
  out.u16(mark.sequence);
  out.zeros(kEchoBytes - out.size());
  out.put_u16(kIcmpChecksumAt, to_checksum(add_words(0, message)));
  return message;
}

// RFC 791 section 3.1. The kernel has joined fragments.
std::optional<EchoReply> parse_echo_reply(ByteView packet) noexcept {
  ByteReader ip(packet);
  const std::uint8_t first = ip.u8();
  const std::size_t header_bytes = std::size_t{first & 0x0FU} * 4;
  ip.skip(8);
  const std::uint8_t protocol = ip.u8();
  ip.skip(2);
  const Ipv4 source(ip.u32());
  ip.skip(4);
  if (first >> 4 != 4 || protocol != kIcmp || header_bytes < kMinIpHeaderBytes) return std::nullopt;
  ip.skip(header_bytes - kMinIpHeaderBytes);

  ByteReader icmp(ip.rest());
  if (icmp.u8() != kEchoReply || icmp.u8() != 0) return std::nullopt;
  icmp.skip(2);
  EchoReply reply{source, {}};
  reply.mark.identifier = icmp.u16();
  reply.mark.sequence = icmp.u16();
  if (!ip.ok() || !icmp.ok() || to_checksum(add_words(0, ip.rest())) != 0) return std::nullopt;
  return reply;
}

}  // namespace hcpnet::dhcp
