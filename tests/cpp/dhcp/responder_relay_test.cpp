// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/dhcp/responder.hpp>

#include "dhcp/packets.hpp"

// What relays, and clients that are relays themselves, say about which subnet and which server are meant.
namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
using test::Bytes;
using test::DhcpAnswer;
using test::DhcpPacket;
using test::test_mac;

constexpr Responder::Time kNow{1'700'000'000s};
const Ipv4 kServer(192, 0, 2, 2);
const Ipv4 kFarServer(198, 51, 100, 2);
const Ipv4 kRelay(203, 0, 113, 1);  // in no subnet that is served
const MacAddress kMac = test_mac(1);

Ipv4 near(unsigned last) {
  return {192, 0, 2, static_cast<std::uint8_t>(last)};
}
Ipv4 far(unsigned last) {
  return {198, 51, 100, static_cast<std::uint8_t>(last)};
}
Bytes bytes(Ipv4 address) {
  const auto all = address.bytes();
  return {all.begin(), all.end()};
}

/// The link that messages come in on, and another one.
Config config() {
  Subnet own;
  own.name = "hcp/near";
  own.cidr = Ipv4Cidr(near(0), 25);
  own.server_id = kServer;
  own.pools = {{{near(50), near(59)}}};
  Subnet other = own;
  other.name = "hcp/far";
  other.cidr = Ipv4Cidr(far(0), 24);
  other.server_id = kFarServer;
  other.pools = {{{far(50), far(59)}}};
  return {{own, other}, {}, {}};
}

Bytes sub_option(std::uint8_t code, Bytes value) {
  Bytes out = {code, static_cast<std::uint8_t>(value.size())};
  out.insert(out.end(), value.begin(), value.end());
  return out;
}
DhcpPacket relayed(DhcpPacket packet, Bytes information = {}, Ipv4 giaddr = kRelay) {
  packet.giaddr = giaddr;
  if (!information.empty()) packet.with(82, std::move(information));
  return packet;
}
DhcpPacket link_selected(DhcpPacket packet, Ipv4 link, Ipv4 giaddr = kRelay) {
  return relayed(std::move(packet), sub_option(5, bytes(link)), giaddr);
}

class DhcpResponderRelays : public testing::Test {
 protected:
  Outcome send(const DhcpPacket& packet) {
    Outcome out = responder_.handle(packet.bytes(), 0, kNow);
    responder_.settle(out.changes, true, kNow);
    return out;
  }
  DhcpAnswer answer(const DhcpPacket& packet) {
    const Outcome out = send(packet);
    EXPECT_TRUE(out.reply) << out.dropped;
    return out.reply ? test::read_answer(out.reply->packet).value() : DhcpAnswer();
  }

  Responder responder_{config()};
};

// RFC 3527 section 3
TEST_F(DhcpResponderRelays, LinkSelectionChoosesTheSubnetAndGiaddrOnlyWhereTheReplyGoes) {
  const Outcome out = send(link_selected(test::discover(kMac), far(0)));
  ASSERT_TRUE(out.reply) << out.dropped;
  const DhcpAnswer offer = test::read_answer(out.reply->packet).value();
  EXPECT_EQ(offer.yiaddr, far(50));
  EXPECT_EQ(offer.find(54), bytes(kFarServer));
  EXPECT_EQ(out.reply->destination.to_string(), "203.0.113.1:67");
  EXPECT_EQ(offer.giaddr, kRelay);
  EXPECT_EQ(offer.find(82), sub_option(5, bytes(far(0)))) << "echoed as any other (RFC 3046 section 2.2)";
  EXPECT_EQ(answer(link_selected(test::discover(test_mac(2)), far(77), near(1))).yiaddr, far(51))
      << "any address of the subnet means it, and it counts before giaddr";
}

TEST_F(DhcpResponderRelays, RelayIsOfTheSmallestNetworkThatHoldsIt) {
  Config c = config();
  c.subnets[0].cidr = Ipv4Cidr(Ipv4(198, 0, 0, 0), 8);
  c.subnets[0].server_id = Ipv4(198, 0, 0, 2);
  c.subnets[0].pools = {{{Ipv4(198, 0, 0, 50), Ipv4(198, 0, 0, 59)}}};
  responder_ = Responder(c);
  EXPECT_EQ(answer(relayed(test::discover(kMac), {}, far(1))).yiaddr, far(50));
  EXPECT_EQ(answer(relayed(test::discover(kMac), {}, Ipv4(198, 1, 0, 1))).yiaddr, Ipv4(198, 0, 0, 50));
}

TEST_F(DhcpResponderRelays, LinkSelectionOfAnUnknownSubnetIsNotServed) {
  EXPECT_EQ(send(link_selected(test::discover(kMac), Ipv4(10, 0, 0, 0), near(1))).dropped, "no_subnet");
}

TEST_F(DhcpResponderRelays, LinkSelectionOfTheWrongSizeIsMalformed) {
  EXPECT_EQ(send(relayed(test::discover(kMac), sub_option(5, {192, 0, 2}), near(1))).dropped, "malformed");
}

TEST_F(DhcpResponderRelays, LinkSelectionWithoutARelayMeansNothing) {
  DhcpPacket direct = test::discover(kMac);
  direct.with(82, sub_option(5, bytes(far(0))));
  EXPECT_EQ(answer(direct).yiaddr, near(50)) << "a client on our link can't reach for another one's addresses";
}

TEST_F(DhcpResponderRelays, LinkSelectionMayNameAnySubnetOfASharedNetwork) {
  Config c = config();
  c.subnets[0].shared_network = c.subnets[1].shared_network = "hcp/near";
  responder_ = Responder(c);
  EXPECT_EQ(answer(link_selected(test::discover(kMac), far(0))).yiaddr, near(50))
      << "another subnet on the same link will do";
}

// RFC 3011 section 2
TEST_F(DhcpResponderRelays, SubnetSelectionChoosesTheSubnetAndIsEchoed) {
  const DhcpAnswer offer = answer(relayed(test::discover(kMac).with_address(118, far(0))));
  EXPECT_EQ(offer.yiaddr, far(50));
  EXPECT_EQ(offer.find(118), bytes(far(0))) << "although it was not asked for";
  const DhcpAnswer ack = answer(relayed(test::select(kMac, kFarServer, far(50)).with_address(118, far(0))));
  EXPECT_EQ(ack.type(), 5);
  EXPECT_EQ(ack.find(118), bytes(far(0)));
  DhcpPacket inform = relayed(test::dhcp_packet(8, test_mac(3)).with_address(118, far(0)));
  inform.ciaddr = far(99);
  EXPECT_EQ(answer(inform).find(118), bytes(far(0)));
}

TEST_F(DhcpResponderRelays, SubnetSelectionIsNotInARefusal) {  // RFC 2131 table 3
  const DhcpAnswer nak = answer(relayed(test::select(kMac, kFarServer, far(9)).with_address(118, far(0))));
  EXPECT_EQ(nak.type(), 6);
  EXPECT_EQ(nak.find(118), std::nullopt);
}

TEST_F(DhcpResponderRelays, SubnetSelectionOfAnUnknownSubnetIsNotServed) {
  EXPECT_EQ(send(relayed(test::discover(kMac).with_address(118, Ipv4(10, 0, 0, 0)), {}, near(1))).dropped, "no_subnet");
}

TEST_F(DhcpResponderRelays, SubnetSelectionOfTheWrongSizeIsMalformed) {
  EXPECT_EQ(send(test::discover(kMac).with(118, {192, 0, 2})).dropped, "malformed");
}

TEST_F(DhcpResponderRelays, SubnetSelectionWithoutARelayStaysOnTheLink) {
  EXPECT_EQ(answer(test::discover(kMac).with_address(118, near(0))).yiaddr, near(50));
  EXPECT_EQ(send(test::discover(kMac).with_address(118, far(0))).dropped, "no_subnet");
}

TEST_F(DhcpResponderRelays, LinkSelectionGoesBeforeSubnetSelection) {  // RFC 3527 section 3
  EXPECT_EQ(answer(link_selected(test::discover(kMac).with_address(118, near(0)), far(0))).yiaddr, far(50));
}

// RFC 5107 section 4
TEST_F(DhcpResponderRelays, ServerIdentifierIsTheOneThatTheRelayWants) {
  const Bytes override = sub_option(11, bytes(near(1)));
  const Outcome out = send(relayed(test::discover(kMac), override, near(1)));
  ASSERT_TRUE(out.reply) << out.dropped;
  EXPECT_EQ(test::read_answer(out.reply->packet)->find(54), bytes(near(1)));
  EXPECT_EQ(out.reply->source, kServer) << "the packet is ours all the same";
  const DhcpAnswer ack = answer(relayed(test::select(kMac, near(1), near(50)), override, near(1)));
  EXPECT_EQ(ack.type(), 5) << "the client answers to the relay's address";
  EXPECT_EQ(ack.find(54), bytes(near(1)));
  EXPECT_EQ(answer(relayed(test::select(test_mac(2), near(1), near(50)), override, near(1))).find(54), bytes(near(1)))
      << "a refusal names it too";
}

TEST_F(DhcpResponderRelays, RenewalThroughTheRelayIsAnsweredThroughIt) {
  const Bytes override = sub_option(11, bytes(near(1)));
  answer(relayed(test::discover(kMac), override, near(1)));
  answer(relayed(test::select(kMac, near(1), near(50)), override, near(1)));
  const Outcome out = send(relayed(test::renew(kMac, near(50)), override, near(1)));
  ASSERT_TRUE(out.reply) << out.dropped;
  EXPECT_EQ(out.reply->delivery, Delivery::relay);
  EXPECT_EQ(test::read_answer(out.reply->packet)->find(54), bytes(near(1)));
}

TEST_F(DhcpResponderRelays, ReleaseAndDeclineNameTheRelaysServer) {
  const Bytes override = sub_option(11, bytes(near(1)));
  answer(relayed(test::discover(kMac), override, near(1)));
  answer(relayed(test::select(kMac, near(1), near(50)), override, near(1)));
  DhcpPacket release = test::dhcp_packet(7, kMac).with_address(54, near(1));
  release.ciaddr = near(50);
  EXPECT_EQ(send(release).dropped, "not_for_us") << "without the relay's word it is another server";
  EXPECT_EQ(send(relayed(release, override, near(1))).changes.at(0).event.kind, LeaseEventKind::released);
  answer(relayed(test::discover(kMac), override, near(1)));
  const DhcpPacket decline = test::dhcp_packet(4, kMac).with_address(54, near(1)).with_address(50, near(50));
  EXPECT_EQ(send(relayed(decline, override, near(1))).changes.at(0).event.kind, LeaseEventKind::declined);
}

TEST_F(DhcpResponderRelays, OwnIdentifierHoldsBesideTheRelays) {
  const Bytes override = sub_option(11, bytes(near(1)));
  answer(relayed(test::discover(kMac), {}, near(1)));
  EXPECT_EQ(answer(relayed(test::select(kMac, kServer, near(50)), override, near(1))).type(), 5);
  EXPECT_EQ(send(relayed(test::select(kMac, near(9), near(50)), override, near(1))).dropped, "not_for_us");
}

TEST_F(DhcpResponderRelays, OverrideThatIsNoAddressIsMalformedAndWithoutARelayMeansNothing) {
  EXPECT_EQ(send(relayed(test::discover(kMac), sub_option(11, {1}), near(1))).dropped, "malformed");
  DhcpPacket direct = test::discover(kMac);
  direct.with(82, sub_option(11, bytes(near(1))));
  EXPECT_EQ(answer(direct).find(54), bytes(kServer));
  EXPECT_EQ(answer(relayed(test::discover(kMac), sub_option(11, {0, 0, 0, 0}), near(1))).find(54), bytes(kServer))
      << "0.0.0.0 names nobody";
}

}  // namespace
}  // namespace hcpnet::dhcp
