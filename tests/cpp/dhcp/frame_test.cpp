// SPDX-License-Identifier: Apache-2.0
#include "dhcp/frame.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace hcpnet::dhcp {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Sums 16-bit words with end-around carry; 0xFFFF over a part that holds its own right checksum (RFC 1071 section 1).
std::uint32_t folded_sum(Bytes bytes) {
  if (bytes.size() % 2 != 0) bytes.push_back(0);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) sum += std::uint64_t{bytes[i]} * 256 + bytes[i + 1];
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint32_t>(sum);
}

TEST(DhcpUdpPacket, HasRightLengthsAndChecksums) {
  for (const std::size_t size : {0U, 1U, 300U, 301U, 1472U}) {
    SCOPED_TRACE(size);
    Bytes payload(size);
    std::iota(payload.begin(), payload.end(), std::uint8_t{7});
    const Bytes packet = encode_udp_packet({Ipv4(192, 0, 2, 2), 67}, {Ipv4(192, 0, 2, 50), 68}, payload);
    ASSERT_EQ(packet.size(), 28 + size);
    EXPECT_EQ(packet[2] * 256U + packet[3], packet.size());
    EXPECT_EQ(folded_sum(Bytes(packet.begin(), packet.begin() + 20)), 0xFFFFU);
    Bytes pseudo(packet.begin() + 12,
                 packet.begin() + 20);  // RFC 768: addresses, zero, protocol, length, then the datagram
    pseudo.insert(pseudo.end(), {0, 17, packet[24], packet[25]});
    pseudo.insert(pseudo.end(), packet.begin() + 20, packet.end());
    EXPECT_EQ(folded_sum(pseudo), 0xFFFFU);
    EXPECT_EQ(Bytes(packet.begin() + 28, packet.end()), payload);
  }
}

TEST(DhcpUdpPacket, NeverSaysThatItHasNoChecksum) {
  // Of all two-byte payloads exactly those sum to zero that have to be written as 0xFFFF.
  bool has_seen = false;
  for (unsigned value = 0; value < 65536; ++value) {
    const Bytes payload = {static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)};
    const Bytes packet = encode_udp_packet({Ipv4(192, 0, 2, 2), 67}, {Ipv4(192, 0, 2, 50), 68}, payload);
    const unsigned checksum = packet[26] * 256U + packet[27];
    ASSERT_NE(checksum, 0U);
    has_seen = has_seen || checksum == 0xFFFF;
  }
  EXPECT_TRUE(has_seen);
}

}  // namespace
}  // namespace hcpnet::dhcp
