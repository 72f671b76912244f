// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/dhcp6/duid.hpp>
#include <hcpnet/dhcp6/message.hpp>

#include "dhcp6/packets6.hpp"

namespace hcpnet::dhcp6 {
namespace {

using test::Bytes6;
using test::from_hex6;
using ::testing::ElementsAre;

/// A SOLICIT that came through two relays, byte by byte as RFC 8415 sections 7 to 9 lay it out.
Bytes6 relayed_solicit() {
  return from_hex6(
      "0c01 20010db8000100000000000000000001 fe800000000000000000000000000009"  // outer relay, hop count 1
      "0012 0004 65746831"                                                      // interface-id "eth1"
      "0009 0054"                                                               // relay message, 84 bytes
      "0c00 00000000000000000000000000000000 fe80000000000000000000fffe000101"  // inner relay
      "004f 0008 0001 020000000101"                                             // client link-layer address
      "0009 0022"                                                               // 34 bytes
      "01abcdef 0001 000a 00030001020000000101 0003 000c 000000070000000000000000");
}

TEST(ParseDhcp6Packet, ReadsRelaysOutermostFirst) {
  const Bytes6 bytes = relayed_solicit();
  const auto packet = parse_packet(bytes);
  ASSERT_TRUE(packet) << packet.error().message();
  ASSERT_EQ(packet->relays.size(), 2u);
  EXPECT_EQ(packet->relays[0].hop_count, 1);
  EXPECT_EQ(packet->relays[0].link, parse_ipv6("2001:db8:1::1"));
  EXPECT_EQ(as_text(packet->relays[0].options.find(option::interface_id).value()), "eth1");
  EXPECT_EQ(packet->relays[1].peer, parse_ipv6("fe80::ff:fe00:101"));
  EXPECT_EQ(packet->message.type, MessageType::solicit);
  EXPECT_EQ(packet->message.transaction_id, 0xABCDEFu);
  const auto ia = parse_ia_na(packet->message.options.find(option::ia_na).value());
  ASSERT_TRUE(ia);
  EXPECT_EQ(ia->iaid, 7u);
}

TEST(ParseDhcp6Packet, WritesWhatItRead) {
  const Bytes6 bytes = relayed_solicit();
  EXPECT_EQ(encode_packet(parse_packet(bytes).value()), bytes);
}

TEST(ParseDhcp6Packet, RefusesEveryProperPrefixOfARelayedMessage) {
  const Bytes6 bytes = relayed_solicit();
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(parse_packet(ByteView(bytes).first(n))) << n;
  }
}

TEST(ParseDhcp6Packet, SurvivesEveryChangeOfOneByte) {
  const Bytes6 bytes = relayed_solicit();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      Bytes6 changed = bytes;
      changed[i] = static_cast<std::uint8_t>(value);
      const auto packet = parse_packet(changed);
      if (!packet) continue;
      const Bytes6 again = encode_packet(*packet);
      const auto reread = parse_packet(again);
      ASSERT_TRUE(reread) << i << ' ' << value;
      EXPECT_EQ(*reread, *packet) << i << ' ' << value;
    }
  }
}

TEST(ParseDhcp6Packet, HasLimits) {
  const Bytes6 relay_header = from_hex6("0c00 00000000000000000000000000000000 fe800000000000000000000000000009");
  Bytes6 nested = from_hex6("01abcdef");
  for (int i = 0; i < 9; ++i) nested = test::join6({relay_header, test::option6(9, nested)});
  EXPECT_TRUE(parse_packet(nested));
  nested = test::join6({relay_header, test::option6(9, nested)});
  EXPECT_EQ(parse_packet(nested).error(), Errc::too_many_relays);

  Bytes6 far = relayed_solicit();
  far[1] = 9;
  EXPECT_EQ(parse_packet(far).error(), Errc::too_many_relays) << "hop count above 8";
  EXPECT_EQ(parse_packet(Bytes6(4097, 1)).error(), Errc::too_large);
  Bytes6 many = from_hex6("01abcdef");
  for (int i = 0; i < 257; ++i) many = test::join6({many, test::option6(250, {})});
  EXPECT_EQ(parse_packet(many).error(), Errc::malformed);
}

TEST(ParseDhcp6Packet, WantsAMessageInARelay) {
  EXPECT_EQ(parse_packet(from_hex6("0c00 00000000000000000000000000000000 00000000000000000000000000000000")).error(),
            Errc::malformed);
}

TEST(WrapDhcp6Reply, GoesBackThroughTheSameRelays) {
  const Bytes6 bytes = relayed_solicit();
  const auto packet = parse_packet(bytes).value();
  EXPECT_EQ(wrap_reply(packet.relays, from_hex6("02abcdef")),
            from_hex6("0d01 20010db8000100000000000000000001 fe800000000000000000000000000009 0012 0004 65746831"
                      "0009 002a 0d00 00000000000000000000000000000000 fe80000000000000000000fffe000101"
                      "0009 0004 02abcdef"));
}

TEST(ParseIaNa, ReadsAddressesAndStatus) {
  const Bytes6 bytes = from_hex6(
      "00000001 00000e10 00001518"
      "0005 0018 20010db8000000000000000000000010 00001c20 00001c20"
      "000d 0002 0002");
  const auto ia = parse_ia_na(bytes);
  ASSERT_TRUE(ia);
  EXPECT_EQ(*ia, (IaNa{1, 3600, 5400, {{parse_ipv6("2001:db8::10").value(), 7200, 7200}}, Status::no_addrs_avail}));
  for (const std::size_t n : {11u, 20u, 39u, 45u}) EXPECT_FALSE(parse_ia_na(ByteView(bytes).first(n))) << n;
}

TEST(DomainList, CaseDh6_03ReadsCompressedNamesAndNeverCompresses) {
  const auto names = parse_domain_list(test::read_case6("DH6-03-compressed.hex"));
  ASSERT_TRUE(names);
  EXPECT_THAT(*names, ElementsAre("apps.hcp1.example.com", "hcp1.example.com"));
  EXPECT_EQ(encode_domain_list(*names).value(), test::read_case6("DH6-03-encode.hex"));
}

TEST(DomainList, RefusesPointersThatDoNotGoBack) {
  for (const char* hex : {"c000", "0161c000", "0161c002", "c00100", "0161c0", "40", "0161", "05616263"}) {
    EXPECT_FALSE(parse_domain_list(from_hex6(hex))) << hex;
  }
}

TEST(DomainList, RefusesWhatIsNoName) {
  const auto is_refused = [](const std::string& name) { return encode_domain_list(std::vector{name}).has_error(); };
  EXPECT_TRUE(is_refused(""));
  EXPECT_TRUE(is_refused("."));
  EXPECT_TRUE(is_refused("a..b"));
  EXPECT_TRUE(is_refused("a.."));
  EXPECT_TRUE(is_refused(std::string(64, 'a')));
  EXPECT_TRUE(is_refused(std::string(127, 'a') + std::string(127, 'b')));
  EXPECT_FALSE(is_refused("a.example."));
}

TEST(Duid, ShowsItsLinkLayerAddress) {
  const auto mac = parse_mac_address("02:00:00:00:01:01");
  EXPECT_EQ(parse_duid("00030001020000000101")->link_layer(), mac);
  EXPECT_EQ(parse_duid("00:01:00:01:2a:bb:cc:dd:02:00:00:00:01:01")->link_layer(), mac);
  EXPECT_EQ(parse_duid("0003 0001"), std::nullopt);
  EXPECT_EQ(parse_duid("00030006020000000101")->link_layer(), std::nullopt) << "not Ethernet";
  EXPECT_EQ(parse_duid("0003000102000000010101")->link_layer(), std::nullopt) << "too long";
  EXPECT_EQ(parse_duid("00-04-01")->to_string(), "00:04:01");
  for (const char* text : {"", "0004", "00:04", "00:04-01", "00:04:0", "0g0401", "000401:"})
    EXPECT_EQ(parse_duid(text), std::nullopt) << text;
  EXPECT_TRUE(make_duid(Bytes6(130, 1)));
  EXPECT_FALSE(make_duid(Bytes6(131, 1)));
}

}  // namespace
}  // namespace hcpnet::dhcp6
