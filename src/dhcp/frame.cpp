// SPDX-License-Identifier: Apache-2.0
#include "dhcp/frame.hpp"

#include <boost/assert.hpp>

#include "dhcp/checksum.hpp"

namespace hcpnet::dhcp {
namespace {

constexpr std::size_t kIpBytes = 20;
constexpr std::size_t kUdpBytes = 8;
constexpr std::uint8_t kUdp = 17;

}  // namespace

std::vector<std::uint8_t> encode_udp_packet(const Endpoint& source, const Endpoint& destination, ByteView payload) {
  BOOST_ASSERT(source.address.is_v4() && destination.address.is_v4());
  std::vector<std::uint8_t> packet(kIpBytes + kUdpBytes + payload.size());
  const auto udp_bytes = static_cast<std::uint16_t>(kUdpBytes + payload.size());
  ByteWriter out(packet);
  out.u8(0x45);  // version 4, five words
  out.u8(0x10);  // low delay, as DHCP servers have always marked their packets
  out.u16(static_cast<std::uint16_t>(packet.size()));
  out.u16(0);       // identification: never fragmented,
  out.u16(0x4000);  // and it says so
  out.u8(64);
  out.u8(kUdp);
  out.u16(0);
  out.u32(source.address.v4().value());
  out.u32(destination.address.v4().value());
  out.put_u16(10, to_checksum(add_words(0, out.written())));

  out.u16(source.port);
  out.u16(destination.port);
  out.u16(udp_bytes);
  out.u16(0);
  out.bytes(payload);
  const ByteView addresses = ByteView(packet).subspan(12, 8);
  const std::uint16_t checksum =
      to_checksum(add_words(add_words(kUdp + std::uint32_t{udp_bytes}, addresses), ByteView(packet).subspan(kIpBytes)));
  out.put_u16(kIpBytes + 6, checksum == 0 ? std::uint16_t{0xFFFF} : checksum);  // zero would mean that there is none
  return packet;
}

}  // namespace hcpnet::dhcp
