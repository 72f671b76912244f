// SPDX-License-Identifier: Apache-2.0
#include "dhcp/probe_packet.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hcpnet::dhcp {
namespace {

using Bytes = std::vector<std::uint8_t>;

const MacAddress kOwn({2, 0, 0, 0, 0, 9});
const MacAddress kOther({2, 0, 0, 0, 0, 1});
const Ipv4 kAddress(192, 0, 2, 50);

template <std::size_t N>
Bytes to_bytes(const std::array<std::uint8_t, N>& array) {
  return {array.begin(), array.end()};
}

/// What somebody answers, put together byte by byte.
Bytes arp_reply() {
  return {0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 0, 1, 192, 0, 2, 50, 2, 0, 0, 0, 0, 9, 0, 0, 0, 0};
}

TEST(DhcpArpProbe, AsksInNobodysName) {  // RFC 5227 section 1.1
  EXPECT_EQ(to_bytes(encode_arp_probe(kOwn, kAddress)),
            (Bytes{0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, 50}));
}

TEST(DhcpArpProbe, ReadsAReplyWithOrWithoutPadding) {
  Bytes packet = arp_reply();
  EXPECT_EQ(parse_arp_reply(packet), (ArpReply{kAddress, kOther}));
  packet.resize(46, 0xAA);
  EXPECT_EQ(parse_arp_reply(packet), (ArpReply{kAddress, kOther}));
}

TEST(DhcpArpProbe, ReadsNothingElse) {
  for (std::size_t size = 0; size < kArpBytes; ++size) {
    Bytes packet = arp_reply();
    packet.resize(size);
    EXPECT_EQ(parse_arp_reply(packet), std::nullopt) << size;
  }
  for (std::size_t at = 0; at < 8; ++at) {  // types, lengths, operation
    Bytes packet = arp_reply();
    ++packet[at];
    EXPECT_EQ(parse_arp_reply(packet), std::nullopt) << at;
  }
  EXPECT_EQ(parse_arp_reply(encode_arp_probe(kOwn, kAddress)), std::nullopt) << "a question is no answer";
}

/// The reply to a request: its type, and so its checksum, differ (RFC 792).
Bytes echo_reply(std::size_t option_bytes = 0) {
  Bytes packet = {0x45, 0, 0, 0, 0, 0, 0, 0, 64, 1, 0, 0, 192, 0, 2, 50, 192, 0, 2, 2};
  packet[0] = static_cast<std::uint8_t>(0x45 + option_bytes / 4);
  packet.resize(packet.size() + option_bytes);
  const Bytes icmp = {0, 0, 0xED, 0xC8, 0x12, 0x34, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0};
  packet.insert(packet.end(), icmp.begin(), icmp.end());
  return packet;
}

TEST(DhcpEchoProbe, RequestHasARightChecksum) {
  EXPECT_EQ(to_bytes(encode_echo_request({0x1234, 3})),
            (Bytes{8, 0, 0xE5, 0xC8, 0x12, 0x34, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(DhcpEchoProbe, ReadsAReplyBehindAHeaderWithOrWithoutOptions) {
  for (const std::size_t options : {0U, 4U, 40U})
    EXPECT_EQ(parse_echo_reply(echo_reply(options)), (EchoReply{kAddress, {0x1234, 3}})) << options;
}

TEST(DhcpEchoProbe, ReadsNothingElse) {
  for (std::size_t size = 0; size < 28; ++size) {
    Bytes packet = echo_reply();
    packet.resize(size);
    EXPECT_EQ(parse_echo_reply(packet), std::nullopt) << size;
  }
  const auto changed = [](std::size_t at, std::uint8_t value) {
    Bytes packet = echo_reply();
    packet[at] = value;
    return parse_echo_reply(packet);
  };
  EXPECT_EQ(changed(0, 0x65), std::nullopt) << "version 6";
  EXPECT_EQ(changed(0, 0x44), std::nullopt) << "a header of 16 bytes";
  EXPECT_EQ(changed(0, 0x4F), std::nullopt) << "a header longer than the packet";
  EXPECT_EQ(changed(9, 17), std::nullopt) << "UDP";
  EXPECT_EQ(changed(20, 8), std::nullopt) << "a request";
  EXPECT_EQ(changed(21, 1), std::nullopt) << "a code that there is not";
  EXPECT_EQ(changed(27, 4), std::nullopt) << "another checksum";
}

}  // namespace
}  // namespace hcpnet::dhcp
