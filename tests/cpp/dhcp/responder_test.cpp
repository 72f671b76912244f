// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/dhcp/responder.hpp>

#include "dhcp/packets.hpp"

namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
using test::Bytes;
using test::DhcpAnswer;
using test::DhcpPacket;
using test::test_mac;

constexpr Responder::Time kNow{1'700'000'000s};
const Ipv4 kServer(192, 0, 2, 2);
const MacAddress kMac = test_mac(1);

Ipv4 at(unsigned last) {
  return {192, 0, 2, static_cast<std::uint8_t>(last)};
}

Config config() {
  Subnet subnet;
  subnet.name = "hcp/vlan7";
  subnet.cidr = Ipv4Cidr(at(0), 25);
  subnet.server_id = kServer;
  subnet.router = at(1);
  subnet.dns_servers = {at(3), Ipv4(198, 51, 100, 53)};
  subnet.domain_name = "hc.example.com";
  subnet.pools = {{{at(50), at(59)}}};
  return {{subnet}, {{test_mac(7), "worker-7"}}, {}};
}

/// A responder whose changes reach the disk at once.
class DhcpResponder : public testing::Test {
 protected:
  void configure(const Config& c) { responder_ = Responder(c); }
  Outcome send(const DhcpPacket& packet) { return send(packet.bytes()); }
  Outcome send(const Bytes& bytes) {
    Outcome out = responder_.handle(bytes, 0, now_);
    responder_.settle(out.changes, true, now_);
    return out;
  }
  /// The reply; fails when there is none.
  DhcpAnswer answer(const DhcpPacket& packet) {
    const Outcome out = send(packet);
    EXPECT_TRUE(out.reply) << out.dropped;
    return out.reply ? test::read_answer(out.reply->packet).value() : DhcpAnswer();
  }
  Ipv4 bind(const MacAddress& mac) {
    const Ipv4 address = answer(test::discover(mac)).yiaddr;
    EXPECT_EQ(answer(test::select(mac, kServer, address)).type(), 5);
    return address;
  }

  Responder responder_{config()};
  Responder::Time now_ = kNow;
};

TEST_F(DhcpResponder, OfferTellsWhatTheNetworkIs) {  // RFC 2131 section 4.3.1
  const DhcpAnswer offer = answer(test::discover(kMac));
  EXPECT_EQ(offer.type(), 2);
  EXPECT_EQ(offer.find(1), (Bytes{255, 255, 255, 128})) << "the mask follows from the CIDR";
  EXPECT_EQ(offer.find(3), (Bytes{192, 0, 2, 1}));
  EXPECT_EQ(offer.find(6), (Bytes{192, 0, 2, 3, 198, 51, 100, 53}));
  EXPECT_EQ(offer.find(15), (Bytes{'h', 'c', '.', 'e', 'x', 'a', 'm', 'p', 'l', 'e', '.', 'c', 'o', 'm'}));
  EXPECT_EQ(offer.find(51), (Bytes{0, 0, 0x0E, 0x10}));
  EXPECT_EQ(offer.find(58), (Bytes{0, 0, 0x07, 0x08}));
  EXPECT_EQ(offer.find(59), (Bytes{0, 0, 0x0C, 0x4E}));
}

TEST_F(DhcpResponder, OptionsHaveAFixedOrder) {
  EXPECT_EQ(answer(test::discover(kMac).with(61, {1, 2})).codes(), (std::vector{53, 54, 51, 58, 59, 61, 1, 3, 6, 15}));
  EXPECT_EQ(answer(test::discover(kMac).with(55, {6, 3, 15})).codes(), (std::vector{53, 54, 51, 58, 59, 6, 1, 3, 15}))
      << "the mask comes before the router, RFC 2132 section 3.3";
}

TEST_F(DhcpResponder, KnownNamesAreSentAndClientNamesAreOnlyRemembered) {
  EXPECT_EQ(answer(test::discover(test_mac(7))).find(12), (Bytes{'w', 'o', 'r', 'k', 'e', 'r', '-', '7'}));
  EXPECT_EQ(answer(test::discover(kMac).with(12, {'X'})).find(12), std::nullopt);
  const Outcome bound = send(test::select(kMac, kServer, at(51)).with(12, {'X'}));
  EXPECT_EQ(bound.changes.at(0).event.lease.host_name, "x");
}

// Option 81, RFC 4702 section 4. Flags: 1 S, 2 O, 4 E, 8 N.
TEST_F(DhcpResponder, ClientHearsWhichNameItHasInOurDns) {
  Config c = config();
  c.subnets[0].names_domain = "vms.example";
  configure(c);
  const auto fqdn = [&](Bytes value) { return answer(test::discover(kMac).with(81, std::move(value))).find(81); };
  const Bytes text = {1, 255, 255, 'v', 'm', '.', 'v', 'm', 's', '.', 'e', 'x', 'a', 'm', 'p', 'l', 'e'};
  EXPECT_EQ(fqdn({1, 0, 0, 'V', 'M'}), text);
  Bytes overridden = text;
  overridden[0] = 3;
  EXPECT_EQ(fqdn({0, 0, 0, 'V', 'M'}), overridden) << "the client wants to do it itself";
  EXPECT_EQ(fqdn({8, 0, 0, 'V', 'M'}), overridden) << "the client wants no name";
  EXPECT_EQ(fqdn({5, 0, 0, 2, 'V', 'M', 1, 'x', 0}),
            (Bytes{5, 255, 255, 2, 'v', 'm', 3, 'v', 'm', 's', 7, 'e', 'x', 'a', 'm', 'p', 'l', 'e', 0}));
  EXPECT_EQ(fqdn({5, 0, 0, 9, 'V'}), std::nullopt) << "what is no name gets no answer";
  EXPECT_EQ(answer(test::discover(kMac).with(55, {81})).find(81), std::nullopt) << "nor does who says nothing";
  EXPECT_EQ(answer(test::discover(test_mac(7)).with(81, {1, 0, 0})).find(81),
            (Bytes{1,   255, 255, 'w', 'o', 'r', 'k', 'e', 'r', '-', '7', '.',
                   'v', 'm', 's', '.', 'e', 'x', 'a', 'm', 'p', 'l', 'e'}))
      << "a client may leave its name to us";
}

TEST_F(DhcpResponder, WithoutNamesInOurDnsTheClientHearsItsOwnWord) {
  const auto fqdn = [&](Bytes value) { return answer(test::discover(kMac).with(81, std::move(value))).find(81); };
  EXPECT_EQ(fqdn({1, 0, 0, 'V', 'M'}), (Bytes{10, 255, 255, 'V', 'M'}));
  EXPECT_EQ(fqdn({4, 0, 0, 2, 'V', 'M'}), (Bytes{12, 255, 255, 2, 'V', 'M'})) << "byte for byte";
}

TEST_F(DhcpResponder, FullNameGoesBeforeTheHostName) {  // section 3.1
  const auto host_name = [&](Bytes value) {
    const Outcome out = send(test::select(kMac, kServer, at(50)).with(12, {'h'}).with(81, std::move(value)));
    return out.changes.at(0).event.lease.host_name;
  };
  EXPECT_EQ(host_name({4, 0, 0, 1, 'V', 1, 'x', 0}), "v");
  EXPECT_EQ(host_name({0, 0, 0, 'w', '.', 'x'}), "w");
  EXPECT_EQ(host_name({0, 0, 0}), "h");
  EXPECT_EQ(host_name({4, 0, 0, 9}), "h");
}

TEST_F(DhcpResponder, ReservationNamesItsClient) {
  Config c = config();
  c.subnets[0].reservations = {{test_mac(7), at(100), "db"}};
  configure(c);
  const DhcpAnswer offer = answer(test::discover(test_mac(7)));
  EXPECT_EQ(offer.yiaddr, at(100));
  EXPECT_EQ(offer.find(12), (Bytes{'d', 'b'}));
}

TEST_F(DhcpResponder, ConfiguredOptionsReplaceDerivedOnesButNotTheProtocols) {
  Config c = config();
  c.subnets[0].options = {{15, {'x'}}, {51, {1, 1, 1, 1}}, {54, {9, 9, 9, 9}}, {26, {5, 0x78}}};
  configure(c);
  const DhcpAnswer offer = answer(test::discover(kMac));
  EXPECT_EQ(offer.find(15), Bytes{'x'});
  EXPECT_EQ(offer.find(26), (Bytes{5, 0x78}));
  EXPECT_EQ(offer.find(51), (Bytes{0, 0, 0x0E, 0x10}));
  EXPECT_EQ(offer.find(54), (Bytes{192, 0, 2, 2}));
}

TEST_F(DhcpResponder, ClasslessRoutesHaveTheDefaultRouteToo) {  // DHC-26
  Config c = config();
  c.subnets[0].options = {{121, {8, 10, 192, 0, 2, 9}}, {249, {8, 10, 192, 0, 2, 9}}};
  configure(c);
  EXPECT_EQ(answer(test::discover(kMac).with(55, {121})).find(121), (Bytes{0, 192, 0, 2, 1, 8, 10, 192, 0, 2, 9}));
  const DhcpAnswer all = answer(test::discover(kMac));
  EXPECT_TRUE(all.find(121));
  EXPECT_FALSE(all.find(249)) << "of those who ask for nothing in particular few know it";
  EXPECT_EQ(answer(test::discover(kMac).with(55, {249})).find(249), (Bytes{8, 10, 192, 0, 2, 9}));
}

TEST_F(DhcpResponder, ReplyKeepsToTheClientsSize) {  // RFC 2132 section 9.10
  Config c = config();
  c.subnets[0].options = {{43, Bytes(250, 1)}, {66, Bytes(200, 2)}, {67, Bytes(200, 3)}};
  configure(c);
  Outcome small = send(test::discover(kMac));
  ASSERT_TRUE(small.reply);
  EXPECT_LE(small.reply->packet.size(), 548U);
  EXPECT_GT(small.omitted_options, 0U);
  const Outcome large = send(test::discover(kMac).with(57, {0x05, 0xDC}));
  EXPECT_EQ(large.omitted_options, 0U);
  EXPECT_LE(large.reply->packet.size(), 1472U);
  const Outcome tiny = send(test::discover(kMac).with(57, {0, 64}));
  EXPECT_GT(tiny.reply->packet.size(), 300U) << "less than 576 is not allowed to be asked for";
}

// RFC 2131 section 4.3.2, SELECTING
TEST_F(DhcpResponder, SelectedOfferIsBoundEvenIfItRanOutAndIsFree) {
  answer(test::discover(kMac));
  now_ += 60s;
  EXPECT_EQ(answer(test::select(kMac, kServer, at(50))).type(), 5);
}

TEST_F(DhcpResponder, SelectedOfferThatSomebodyElseTookIsRefused) {  // section 4.3.2, SELECTING
  answer(test::discover(kMac));
  now_ += 60s;
  bind(test_mac(2));
  EXPECT_EQ(answer(test::select(kMac, kServer, at(50))).type(), 6);
}

TEST_F(DhcpResponder, LostAckIsSentAgain) {  // section 4.3.2, SELECTING
  const Ipv4 address = bind(kMac);
  const Outcome again = send(test::select(kMac, kServer, address));
  EXPECT_EQ(again.reply->type, MessageType::ack);
  EXPECT_EQ(again.changes.at(0).event.kind, LeaseEventKind::renewed);
}

TEST_F(DhcpResponder, RequestWithoutAnyAddressIsDropped) {  // section 4.3.2, table 4
  EXPECT_EQ(send(test::dhcp_packet(3, kMac)).dropped, "inconsistent");
  EXPECT_EQ(send(test::renew(kMac, at(50)).with_address(50, at(51))).dropped, "inconsistent");
}

// INIT-REBOOT
DhcpPacket reboot(const MacAddress& mac, Ipv4 address) {
  return test::dhcp_packet(3, mac).with_address(50, address);
}

// Section 4.3.2, INIT-REBOOT
TEST_F(DhcpResponder, RebootOfAnUnknownClientDependsOnAuthority) {  // DHC-09, reply_if_not_authoritative
  EXPECT_EQ(answer(reboot(kMac, at(55))).type(), 6);
  Config c = config();
  c.subnets[0].authoritative = false;
  configure(c);
  const Outcome out = send(reboot(kMac, at(55)));
  EXPECT_FALSE(out.reply);
  EXPECT_EQ(out.dropped, "not_authoritative");
}

TEST_F(DhcpResponder, RebootAtTheWrongAddressIsRefusedEvenWithoutAuthority) {  // section 4.3.2, INIT-REBOOT
  Config c = config();
  c.subnets[0].authoritative = false;
  configure(c);
  bind(kMac);
  EXPECT_EQ(answer(reboot(kMac, at(55))).type(), 6);
  EXPECT_EQ(answer(reboot(kMac, at(50))).type(), 5);
}

TEST_F(DhcpResponder, RebootAfterExpiryGetsTheSameAddressWhileItIsFree) {  // section 4.3.2, INIT-REBOOT
  bind(kMac);
  now_ += 4000s;
  EXPECT_EQ(answer(reboot(kMac, at(50))).type(), 5);
}

TEST_F(DhcpResponder, RebootAtAReservedAddressNeedsNoHistory) {  // section 4.3.2, INIT-REBOOT
  Config c = config();
  c.subnets[0].reservations = {{kMac, at(100), ""}};
  configure(c);
  EXPECT_EQ(answer(reboot(kMac, at(100))).type(), 5);
}

// RENEWING, REBINDING
TEST_F(DhcpResponder, RenewalGoesToTheClientsAddress) {  // section 4.3.2
  bind(kMac);
  now_ += 1800s;
  const Outcome out = send(test::renew(kMac, at(50)));
  ASSERT_TRUE(out.reply);
  EXPECT_EQ(out.reply->delivery, Delivery::address);
  EXPECT_EQ(out.reply->destination.to_string(), "192.0.2.50:68");
  EXPECT_EQ(test::read_answer(out.reply->packet)->ciaddr, at(50));
  EXPECT_EQ(out.changes.at(0).event.lease.expires, now_ + 3600s);
}

TEST_F(DhcpResponder, RenewalOfAForgottenLeaseGoesOnWhereTheServerIsAlone) {  // section 4.3.2; a deviation
  EXPECT_EQ(answer(test::renew(kMac, at(55))).type(), 5);
  EXPECT_EQ(answer(test::renew(test_mac(2), at(55))).type(), 6) << "but not at an address that somebody has";
  Config c = config();
  c.subnets[0].authoritative = false;
  configure(c);
  EXPECT_EQ(send(test::renew(kMac, at(55))).dropped, "not_authoritative");
}

TEST_F(DhcpResponder, LeaseOutsideTodaysPoolIsNotRenewed) {  // section 4.3.2; DHC-19
  bind(kMac);
  Config c = config();
  c.subnets[0].pools = {{{at(80), at(89)}}};
  responder_.replace(c);
  EXPECT_EQ(send(test::renew(kMac, at(50))).dropped, "not_renewable");
  EXPECT_EQ(answer(reboot(kMac, at(50))).type(), 6);
  EXPECT_EQ(bind(kMac), at(80));
}

// DECLINE, RELEASE, INFORM
TEST_F(DhcpResponder, DeclineAndReleaseHaveNoReply) {  // sections 4.3.3 and 4.3.4
  bind(kMac);
  const Outcome declined = send(test::dhcp_packet(4, kMac).with_address(54, kServer).with_address(50, at(50)));
  EXPECT_FALSE(declined.reply);
  EXPECT_EQ(declined.changes.at(0).event.kind, LeaseEventKind::declined);
  const Ipv4 other = bind(kMac);
  DhcpPacket release = test::dhcp_packet(7, kMac).with_address(54, kServer);
  release.ciaddr = other;
  const Outcome released = send(release);
  EXPECT_FALSE(released.reply);
  EXPECT_EQ(released.changes.at(0).event.kind, LeaseEventKind::released);
  EXPECT_EQ(send(release).dropped, "not_bound");
}

TEST_F(DhcpResponder, ClientThatDeclinesWhateverItGetsIsNotBelieved) {  // section 4.3.3
  ResponderLimits limits;
  limits.allocator.max_declined_per_client = 1;
  responder_ = Responder(config(), limits);
  const auto decline = [&](Ipv4 address) {
    return send(test::dhcp_packet(4, kMac).with_address(54, kServer).with_address(50, address)).dropped;
  };
  EXPECT_EQ(decline(bind(kMac)), "");
  const Ipv4 second = bind(kMac);
  EXPECT_EQ(decline(second), "decline_limit");
  EXPECT_EQ(bind(kMac), second) << "it has it still";
}

TEST_F(DhcpResponder, WhatIsMeantForAnotherServerIsLeftAlone) {  // sections 3.1 and 4.3.2
  bind(kMac);
  const Ipv4 other(192, 0, 2, 99);
  EXPECT_EQ(send(test::dhcp_packet(4, kMac).with_address(54, other).with_address(50, at(50))).dropped, "not_for_us");
  DhcpPacket release = test::dhcp_packet(7, kMac).with_address(54, other);
  release.ciaddr = at(50);
  EXPECT_EQ(send(release).dropped, "not_for_us");
  EXPECT_EQ(responder_.usage(0).bound, 1U);
}

TEST_F(DhcpResponder, InformIsAnsweredWithinTheSubnetOnly) {  // section 4.3.5
  DhcpPacket inform = test::dhcp_packet(8, kMac);
  inform.ciaddr = at(77);
  inform.giaddr = at(1);
  const Outcome out = send(inform);
  ASSERT_TRUE(out.reply);
  EXPECT_EQ(out.reply->destination.to_string(), "192.0.2.77:68") << "also through a relay";
  EXPECT_TRUE(out.changes.empty());
  inform.ciaddr = Ipv4(203, 0, 113, 1);
  EXPECT_EQ(send(inform).dropped, "no_subnet");
}

// Relays
TEST_F(DhcpResponder, RelayChoosesTheSubnet) {  // section 4.3.1
  Config c = config();
  Subnet second = c.subnets[0];
  second.name = "hcp/vlan8";
  second.cidr = Ipv4Cidr(Ipv4(198, 51, 100, 0), 24);
  second.server_id = Ipv4(198, 51, 100, 2);
  second.router = Ipv4(198, 51, 100, 1);
  second.pools = {{{Ipv4(198, 51, 100, 50), Ipv4(198, 51, 100, 59)}}};
  c.subnets.push_back(second);
  configure(c);
  DhcpPacket relayed = test::discover(kMac);
  relayed.giaddr = Ipv4(198, 51, 100, 1);
  const Outcome out = send(relayed);
  ASSERT_TRUE(out.reply);
  EXPECT_EQ(out.subnet, 1U);
  EXPECT_EQ(out.reply->source, second.server_id);
  EXPECT_EQ(out.reply->destination.to_string(), "198.51.100.1:67");
  EXPECT_EQ(test::read_answer(out.reply->packet)->yiaddr, Ipv4(198, 51, 100, 50));
  relayed.giaddr = Ipv4(203, 0, 113, 1);
  EXPECT_EQ(send(relayed).dropped, "no_subnet");
}

TEST_F(DhcpResponder, NobodyOutsideTheSubnetIsSentAnything) {  // section 4.1
  DhcpPacket packet = test::discover(kMac);
  packet.ciaddr = Ipv4(203, 0, 113, 9);
  EXPECT_EQ(send(packet).reply->delivery, Delivery::hardware);
}

// What is dropped, and how it is counted.
TEST_F(DhcpResponder, DropsWhatIsNoRequest) {  // section 2
  const auto dropped = [&](auto change) {
    DhcpPacket packet = test::discover(kMac);
    change(packet);
    return std::string(send(packet).dropped);
  };
  EXPECT_EQ(dropped([](DhcpPacket& p) { p.op = 2; }), "not_a_request");
  EXPECT_EQ(dropped([](DhcpPacket& p) { p.htype = 6; }), "hardware_address");  // DHC-30
  EXPECT_EQ(dropped([](DhcpPacket& p) { p.hlen = 16; }), "hardware_address");
  EXPECT_EQ(dropped([](DhcpPacket& p) { p.mac = MacAddress(); }), "hardware_address");
  EXPECT_EQ(dropped([](DhcpPacket& p) { p.mac = MacAddress({1, 0, 0x5E, 0, 0, 1}); }), "hardware_address");
  EXPECT_EQ(dropped([](DhcpPacket& p) { p.options.clear(); }), "bootp");                // DHC-32
  EXPECT_EQ(dropped([](DhcpPacket& p) { p.options[0].second = {2}; }), "from_server");  // DHC-31
  EXPECT_EQ(dropped([](DhcpPacket& p) { p.options[0].second = {9}; }), "malformed");
  EXPECT_EQ(dropped([](DhcpPacket& p) { p.with(50, {1, 2, 3}); }), "malformed");
  EXPECT_EQ(send(Bytes(100)).dropped, "too_short");
  EXPECT_EQ(send(Bytes(300)).dropped, "no_cookie");
  EXPECT_EQ(send(Bytes(3000)).dropped, "too_large");
  EXPECT_EQ(answer(test::discover(kMac)).type(), 2) << "and goes on";
}

TEST_F(DhcpResponder, ExhaustedPoolIsSilence) {  // section 4.3.1
  for (unsigned n = 0; n < 10; ++n) bind(test_mac(100 + n));
  EXPECT_EQ(send(test::discover(kMac)).dropped, "pool_exhausted");
}

TEST_F(DhcpResponder, ChangeThatWasNotStoredBindsNobody) {
  answer(test::discover(kMac));
  const Outcome out = responder_.handle(test::select(kMac, kServer, at(50)).bytes(), 0, now_);
  ASSERT_FALSE(out.changes.empty());
  responder_.settle(out.changes, false, now_);
  EXPECT_FALSE(responder_.acknowledge_stored(out, now_));
  EXPECT_TRUE(responder_.leases().empty());
  EXPECT_EQ(answer(test::discover(test_mac(2))).yiaddr, at(51)) << "held for the client that asks again";
}

// A machine that restarts while the disk fails needs its address; what a restart of the server knows can be told.
TEST_F(DhcpResponder, RenewalThatWasNotStoredIsToldWhatIsLeftOfTheLease) {
  bind(kMac);
  const auto renew_in_vain = [&] {
    const Outcome out = responder_.handle(test::renew(kMac, at(50)).bytes(), 0, now_);
    EXPECT_TRUE(out.reply);
    responder_.settle(out.changes, false, now_);
    return std::pair(out.reply, responder_.acknowledge_stored(out, now_));
  };
  now_ += 600s;
  const auto [meant, said] = renew_in_vain();
  ASSERT_TRUE(meant && said);
  const DhcpAnswer ack = test::read_answer(said->packet).value();
  EXPECT_EQ(ack.type(), 5);
  EXPECT_EQ(ack.yiaddr, at(50));
  EXPECT_EQ(ack.find(51), (Bytes{0, 0, 0x0B, 0xB7})) << "2999: a client may have asked a second ago";
  EXPECT_EQ(ack.find(58), (Bytes{0, 0, 0x05, 0xDB}));
  EXPECT_EQ(ack.find(59), (Bytes{0, 0, 0x0A, 0x40}));
  EXPECT_EQ(ack.codes(), test::read_answer(meant->packet)->codes());
  EXPECT_EQ(said->destination, meant->destination);

  now_ += 2989s;
  EXPECT_TRUE(renew_in_vain().second) << "ten seconds are left";
  now_ += 1s;
  EXPECT_FALSE(renew_in_vain().second);
  EXPECT_EQ(answer(test::renew(kMac, at(50))).find(51), (Bytes{0, 0, 0x0E, 0x10})) << "the disk works again";
}

// Section 4.1, every way a reply may take.
TEST_F(DhcpResponder, DeliveryFollowsRelayAddressFlagAndType) {
  struct Row {
    bool is_relayed, has_address, has_flag;
    Delivery expected;
  };
  bind(kMac);
  for (const Row& row : {Row{false, false, false, Delivery::hardware}, Row{false, false, true, Delivery::broadcast},
                         Row{false, true, false, Delivery::address}, Row{false, true, true, Delivery::address},
                         Row{true, false, false, Delivery::relay}, Row{true, true, true, Delivery::relay}}) {
    DhcpPacket packet = row.has_address ? test::renew(kMac, at(50)) : reboot(kMac, at(50));
    if (row.is_relayed) packet.giaddr = at(1);
    if (row.has_flag) packet.flags = 0x8000;
    const Outcome out = send(packet);
    ASSERT_TRUE(out.reply);
    EXPECT_EQ(out.reply->delivery, row.expected) << row.is_relayed << row.has_address << row.has_flag;
    EXPECT_EQ(test::read_answer(out.reply->packet)->flags, packet.flags);
  }
}

TEST_F(DhcpResponder, SurvivesEverySingleByteChange) {
  Bytes all = test::select(kMac, kServer, at(50)).with(55, {1, 3, 6}).with(61, {1, 2, 3}).bytes();
  std::size_t replies = 0;
  for (std::size_t at_byte = 0; at_byte < all.size(); ++at_byte) {
    const std::uint8_t before = all[at_byte];
    for (int value = 0; value < 256; value += 5) {
      all[at_byte] = static_cast<std::uint8_t>(value);
      const Outcome out = send(all);
      EXPECT_TRUE(out.dropped.empty() || !out.reply);
      if (!out.reply) continue;
      ++replies;
      EXPECT_TRUE(test::read_answer(out.reply->packet));
    }
    all[at_byte] = before;
  }
  EXPECT_GT(replies, 0U);
}

}  // namespace
}  // namespace hcpnet::dhcp
