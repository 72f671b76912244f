// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/dhcp/responder.hpp>
#include <string>

#include "dhcp/packets.hpp"

// What pools, classes and the subnets of a shared network do to replies.
namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
using test::Bytes;
using test::DhcpAnswer;
using test::DhcpPacket;
using test::test_mac;

constexpr Responder::Time kNow{1'700'000'000s};
const Ipv4 kServer(192, 0, 2, 2);
const Ipv4 kSecondServer(198, 51, 100, 2);
const MacAddress kMac = test_mac(1);

Ipv4 at(unsigned last) {
  return {192, 0, 2, static_cast<std::uint8_t>(last)};
}
Ipv4 far(unsigned last) {
  return {198, 51, 100, static_cast<std::uint8_t>(last)};
}
Bytes bytes(std::string_view text) {
  return {text.begin(), text.end()};
}

/// One address in the first subnet, two in the second, which has a server address of its own.
Config config() {
  Subnet first;
  first.name = "hcp/vlan7";
  first.cidr = Ipv4Cidr(at(0), 25);
  first.server_id = kServer;
  first.router = at(1);
  first.dns_servers = {at(3)};
  first.options = {{26, {5, 0x78}}, {42, {192, 0, 2, 9}}};
  first.pools = {{{at(50), at(50)}}};
  first.shared_network = first.name;
  Subnet second = first;
  second.name = "hcp/vlan7/198.51.100.0/24";
  second.cidr = Ipv4Cidr(far(0), 24);
  second.server_id = kSecondServer;
  second.router = far(1);
  second.pools = {{{far(50), far(51)}}};
  return {{first, second}, {}, {}};
}

ClientClass pxe() {
  ClientClass out;
  out.name = "pxe";
  out.match.vendor_classes = {"PXEClient"};
  out.options = {{42, {192, 0, 2, 10}}, {121, {8, 10, 192, 0, 2, 9}}};
  out.boot = {at(9), "", "shim.efi"};
  return out;
}
DhcpPacket with_pxe(DhcpPacket packet) {
  return packet.with(60, bytes("PXEClient:Arch:00007"));
}

class DhcpResponderClasses : public testing::Test {
 protected:
  void configure(const Config& c) { responder_ = Responder(c); }
  Outcome send(const DhcpPacket& packet) {
    Outcome out = responder_.handle(packet.bytes(), 0, now_);
    responder_.settle(out.changes, true, now_);
    return out;
  }
  DhcpAnswer answer(const DhcpPacket& packet) {
    const Outcome out = send(packet);
    EXPECT_TRUE(out.reply) << out.dropped;
    return out.reply ? test::read_answer(out.reply->packet).value() : DhcpAnswer();
  }
  /// DISCOVER and REQUEST, to the server that the offer names.
  Ipv4 bind(const MacAddress& mac) {
    const DhcpAnswer offer = answer(test::discover(mac));
    const Bytes server = offer.find(54).value_or(Bytes(4));
    EXPECT_EQ(answer(test::select(mac, Ipv4(server[0], server[1], server[2], server[3]), offer.yiaddr)).type(), 5);
    return offer.yiaddr;
  }

  Responder responder_{config()};
  Responder::Time now_ = kNow;
};

TEST_F(DhcpResponderClasses, AnswerIsThatOfTheSubnetOfTheAddress) {
  EXPECT_EQ(bind(test_mac(9)), at(50));
  const Outcome out = send(test::discover(kMac));
  ASSERT_TRUE(out.reply);
  const DhcpAnswer offer = test::read_answer(out.reply->packet).value();
  EXPECT_EQ(offer.yiaddr, far(50));
  EXPECT_EQ(offer.find(1), (Bytes{255, 255, 255, 0}));
  EXPECT_EQ(offer.find(3), (Bytes{198, 51, 100, 1}));
  EXPECT_EQ(offer.find(54), (Bytes{198, 51, 100, 2}));
  EXPECT_EQ(out.reply->source, kSecondServer);
  EXPECT_EQ(out.subnet, 1U);
}

TEST_F(DhcpResponderClasses, ChangesNameTheSubnetOfTheirAddress) {
  bind(test_mac(9));
  const Outcome out = send(test::select(kMac, kSecondServer, far(50)));
  ASSERT_EQ(out.changes.size(), 1U);
  EXPECT_EQ(out.changes[0].subnet, 1U);
  EXPECT_EQ(out.changes[0].event.lease.subnet, "hcp/vlan7/198.51.100.0/24");
  now_ += 3600s;
  const auto ended = responder_.expire(now_, 10);
  ASSERT_EQ(ended.size(), 2U);
  EXPECT_NE(ended[0].subnet, ended[1].subnet);
}

TEST_F(DhcpResponderClasses, EveryServerAddressOfTheLinkIsOurs) {
  EXPECT_EQ(answer(test::select(kMac, kServer, far(51))).type(), 5);
  EXPECT_EQ(send(test::select(test_mac(2), Ipv4(192, 0, 2, 99), far(50))).dropped, "not_for_us");
  const Outcome refused = send(test::select(test_mac(2), kSecondServer, far(99)));
  ASSERT_TRUE(refused.reply);
  EXPECT_EQ(test::read_answer(refused.reply->packet)->find(54), (Bytes{198, 51, 100, 2}));
}

TEST_F(DhcpResponderClasses, ClientIsRenewedAtItsAddressInTheSecondSubnet) {
  bind(test_mac(9));
  bind(kMac);
  const Outcome out = send(test::renew(kMac, far(50)));
  ASSERT_TRUE(out.reply);
  EXPECT_EQ(out.reply->delivery, Delivery::address);
  EXPECT_EQ(out.reply->destination.to_string(), "198.51.100.50:68");
  DhcpPacket inform = test::dhcp_packet(8, test_mac(3));
  inform.ciaddr = far(200);
  EXPECT_EQ(answer(inform).find(3), (Bytes{198, 51, 100, 1}));
}

TEST_F(DhcpResponderClasses, RelayOfEitherSubnetMeansTheLink) {
  DhcpPacket relayed = test::discover(kMac);
  relayed.giaddr = far(1);
  const Outcome out = send(relayed);
  ASSERT_TRUE(out.reply);
  EXPECT_EQ(test::read_answer(out.reply->packet)->yiaddr, at(50)) << "the first pool of the link";
  EXPECT_EQ(out.reply->destination.to_string(), "198.51.100.1:67");
}

TEST_F(DhcpResponderClasses, SubnetsOfOtherLinksStayApart) {
  Config c = config();
  c.subnets[0].shared_network = c.subnets[1].shared_network = "";
  configure(c);
  bind(kMac);
  EXPECT_EQ(send(test::discover(test_mac(2))).dropped, "pool_exhausted");
}

TEST_F(DhcpResponderClasses, OptionsComeFromClassThenPoolThenSubnet) {
  Config c = config();
  c.subnets[0].client_classes = {pxe()};
  c.subnets[0].pools[0].options = {{42, {192, 0, 2, 11}}, {26, {5, 0}}};
  configure(c);
  const DhcpAnswer plain = answer(test::discover(kMac));
  EXPECT_EQ(plain.find(42), (Bytes{192, 0, 2, 11}));
  EXPECT_EQ(plain.find(26), (Bytes{5, 0}));
  EXPECT_EQ(plain.find(121), std::nullopt);
  const DhcpAnswer classed = answer(with_pxe(test::discover(kMac)));
  EXPECT_EQ(classed.find(42), (Bytes{192, 0, 2, 10}));
  EXPECT_EQ(classed.find(26), (Bytes{5, 0}));
  EXPECT_EQ(classed.find(121), (Bytes{0, 192, 0, 2, 1, 8, 10, 192, 0, 2, 9})) << "with the default route";
  EXPECT_EQ(answer(with_pxe(test::discover(kMac)).with(55, {42, 3})).codes(),
            (std::vector{53, 54, 51, 58, 59, 42, 1, 3}));
  bind(test_mac(9));
  EXPECT_EQ(answer(test::discover(test_mac(2))).find(42), (Bytes{192, 0, 2, 9})) << "another subnet, another pool";
}

TEST_F(DhcpResponderClasses, EarlierClassWins) {
  Config c = config();
  ClientClass mine = pxe();
  mine.name = "mine";
  mine.match = {.mac_prefixes = {{2, 0}}};
  mine.options = {{42, {192, 0, 2, 12}}};
  mine.boot = {Ipv4(), "", "mine.efi"};
  c.subnets[0].client_classes = {mine, pxe()};
  configure(c);
  const DhcpAnswer offer = answer(with_pxe(test::discover(kMac)));
  EXPECT_EQ(offer.find(42), (Bytes{192, 0, 2, 12}));
  EXPECT_EQ(std::string(offer.file.begin(), offer.file.begin() + 9), std::string("mine.efi\0", 9));
  EXPECT_EQ(offer.siaddr, at(9)) << "what the first one does not say the second one does";
}

TEST_F(DhcpResponderClasses, BootsWhomTheClassTellsTo) {
  Config c = config();
  c.subnets[0].client_classes = {pxe()};
  c.subnets[0].boot = {at(8), "boot.example.com", "undionly.kpxe"};
  configure(c);
  const auto text = [](const Bytes& field) {
    return std::string(field.begin(), std::find(field.begin(), field.end(), std::uint8_t{0}));
  };
  const DhcpAnswer plain = answer(test::discover(kMac));
  EXPECT_EQ(plain.siaddr, at(8));
  EXPECT_EQ(text(plain.sname), "boot.example.com");
  EXPECT_EQ(text(plain.file), "undionly.kpxe");
  const DhcpAnswer classed = answer(with_pxe(test::discover(kMac)));
  EXPECT_EQ(classed.siaddr, at(9));
  EXPECT_EQ(text(classed.sname), "boot.example.com");
  EXPECT_EQ(text(classed.file), "shim.efi");
  EXPECT_EQ(answer(test::select(kMac, kServer, at(99))).siaddr, Ipv4()) << "a NAK has none of it, RFC 2131 table 3";
}

TEST_F(DhcpResponderClasses, LongBootTextIsCutToItsField) {
  Config c = config();
  c.subnets[0].boot = {at(8), std::string(80, 'h'), std::string(200, 'f')};
  configure(c);
  const DhcpAnswer offer = answer(test::discover(kMac));
  EXPECT_EQ(offer.sname[62], 'h');
  EXPECT_EQ(offer.sname[63], 0);
  EXPECT_EQ(offer.file[126], 'f');
  EXPECT_EQ(offer.file[127], 0);
}

TEST_F(DhcpResponderClasses, ClassOpensAPool) {
  Config c = config();
  c.subnets[0].client_classes = {pxe()};
  c.subnets[0].pools.push_back({{at(70), at(70)}, {"pxe"}, {{26, {5, 1}}}});
  configure(c);
  const DhcpAnswer offer = answer(with_pxe(test::discover(kMac)));
  EXPECT_EQ(offer.yiaddr, at(70));
  EXPECT_EQ(offer.find(26), (Bytes{5, 1}));
  EXPECT_EQ(answer(test::discover(test_mac(2))).yiaddr, at(50));
  EXPECT_EQ(answer(with_pxe(test::select(kMac, kServer, at(70)))).type(), 5);
  EXPECT_EQ(send(test::renew(kMac, at(70))).dropped, "not_renewable") << "of the class no more";
  EXPECT_EQ(answer(test::select(test_mac(3), kServer, at(70))).type(), 6);
  EXPECT_EQ(responder_.pools(0).at(1).usage.bound, 1U);
}

/// A pool for one port of a switch, and a class of it with an option.
Config with_port() {
  Config c = config();
  ClientClass port;
  port.name = "port";
  port.match = {.circuit_ids = {"ge-0/1"}};
  port.options = {{42, {192, 0, 2, 13}}};
  c.subnets[0].client_classes = {port};
  c.subnets[0].pools.push_back({{at(70), at(70)}, {"port"}, {}});
  return c;
}
/// As a relay at the first subnet's router passes it on.
DhcpPacket relayed(DhcpPacket packet, const std::string& circuit) {
  packet.giaddr = at(1);
  Bytes information = {1, static_cast<std::uint8_t>(circuit.size())};
  information.insert(information.end(), circuit.begin(), circuit.end());
  return packet.with(82, information);
}

TEST_F(DhcpResponderClasses, WhatTheRelaySaidHoldsForARenewalPastIt) {
  configure(with_port());
  EXPECT_EQ(answer(relayed(test::discover(kMac), "ge-0/1")).yiaddr, at(70));
  EXPECT_EQ(answer(relayed(test::select(kMac, kServer, at(70)), "ge-0/1")).type(), 5);
  const DhcpAnswer renewed = answer(test::renew(kMac, at(70)));
  EXPECT_EQ(renewed.type(), 5);
  EXPECT_EQ(renewed.find(42), (Bytes{192, 0, 2, 13}));
  EXPECT_EQ(renewed.find(82), std::nullopt) << "only what was sent is sent back";
  EXPECT_EQ(answer(test::renew(kMac, at(70))).type(), 5) << "and for the next one";
  std::vector<Lease> stored = responder_.leases();
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(stored[0].relay_information, std::string("\1\6ge-0/1"));
  configure(with_port());
  responder_.restore({stored, {}}, now_);
  EXPECT_EQ(answer(test::renew(kMac, at(70))).type(), 5) << "and after a restart";
  EXPECT_EQ(send(relayed(test::renew(kMac, at(70)), "ge-0/2")).dropped, "not_renewable")
      << "a relay that says something else is believed";
}

TEST_F(DhcpResponderClasses, WhatTheRelaySaidIsOfNobodyElsesLease) {
  configure(with_port());
  answer(relayed(test::discover(kMac), "ge-0/1"));
  answer(relayed(test::select(kMac, kServer, at(70)), "ge-0/1"));
  EXPECT_EQ(answer(test::renew(test_mac(2), at(70))).type(), 6);
  EXPECT_EQ(answer(test::discover(kMac)).yiaddr, at(50)) << "nor of a client that begins anew past the relay";
  now_ += 3600s;
  responder_.expire(now_, 10);
  EXPECT_EQ(answer(test::renew(kMac, at(70))).type(), 6) << "and it ends with the lease";
}

// The firmware says what it is, what it starts does not.
TEST_F(DhcpResponderClasses, RequestThatLostItsClassGetsWhatWasOffered) {
  Config c = config();
  c.subnets[0].client_classes = {pxe()};
  c.subnets[0].pools.push_back({{at(70), at(70)}, {"pxe"}, {}});
  configure(c);
  EXPECT_EQ(answer(with_pxe(test::discover(kMac))).yiaddr, at(70));
  EXPECT_EQ(answer(test::select(kMac, kServer, at(70))).type(), 5);
  EXPECT_EQ(answer(with_pxe(test::discover(kMac))).yiaddr, at(70));
  EXPECT_EQ(answer(test::select(kMac, kServer, at(70))).type(), 5) << "at its next start too";
}

// RFC 2131 table 5: RENEWING, REBINDING and INIT-REBOOT have no option 54.
TEST_F(DhcpResponderClasses, RefusalNamesTheServerOfTheAddress) {
  bind(test_mac(9));
  EXPECT_EQ(bind(kMac), far(50));
  const auto server_of = [&](const DhcpPacket& packet) { return answer(packet).find(54); };
  EXPECT_EQ(server_of(test::renew(test_mac(2), far(50))), (Bytes{198, 51, 100, 2}));
  DhcpPacket reboot = test::dhcp_packet(3, kMac);
  EXPECT_EQ(server_of(reboot.with_address(50, far(51))), (Bytes{198, 51, 100, 2}));
  EXPECT_EQ(server_of(test::renew(test_mac(2), at(50))), (Bytes{192, 0, 2, 2}));
  EXPECT_EQ(server_of(test::renew(test_mac(2), Ipv4(203, 0, 113, 9))), (Bytes{192, 0, 2, 2})) << "nobody's: the first";
}

// The client has X and is told to move to Y; the disk fails.
TEST_F(DhcpResponderClasses, MoveThatIsNotStoredLeavesTheOldLease) {
  Config c = config();
  c.subnets[0].client_classes = {pxe()};
  c.subnets[0].pools.push_back({{at(70), at(70)}, {"pxe"}, {}});
  configure(c);
  answer(with_pxe(test::discover(kMac)));
  answer(with_pxe(test::select(kMac, kServer, at(70))));
  answer(test::discover(kMac));
  const Outcome lost = responder_.handle(test::select(kMac, kServer, at(50)).bytes(), 0, now_);
  ASSERT_EQ(lost.changes.size(), 2U);
  responder_.settle(lost.changes, false, now_);
  EXPECT_NE(answer(with_pxe(test::discover(test_mac(2)))).yiaddr, at(70));
  EXPECT_EQ(answer(with_pxe(test::renew(kMac, at(70)))).type(), 5);
}

TEST_F(DhcpResponderClasses, ReservationsOfBothSubnetsAreNamed) {
  Config c = config();
  c.subnets[1].reservations = {{kMac, far(77), "db"}};
  configure(c);
  const DhcpAnswer offer = answer(test::discover(kMac));
  EXPECT_EQ(offer.yiaddr, far(77));
  EXPECT_EQ(offer.find(12), bytes("db"));
}

TEST_F(DhcpResponderClasses, ReplacedConfigurationKeepsTheLeasesOfAllSubnets) {
  bind(test_mac(9));
  bind(kMac);
  Config c = config();
  c.subnets[1].pools = {{{far(60), far(60)}}};
  responder_.replace(c);
  EXPECT_EQ(responder_.usage(1).bound, 1U);
  EXPECT_EQ(send(test::renew(kMac, far(50))).dropped, "not_renewable");
  EXPECT_EQ(bind(test_mac(3)), far(60));
  EXPECT_EQ(send(test::discover(test_mac(4))).dropped, "pool_exhausted");
}

TEST_F(DhcpResponderClasses, ClientThatSendsTooMuchIsNotHeard) {
  Config c = config();
  c.subnets[0].rate_limit = ClientRateLimit{2, 5};
  configure(c);
  for (int n = 0; n < 5; ++n) EXPECT_EQ(answer(test::discover(kMac)).type(), 2) << n;
  EXPECT_EQ(send(test::discover(kMac)).dropped, "rate_limited");
  EXPECT_EQ(answer(test::discover(test_mac(2))).type(), 2) << "others are";
  now_ += 1s;
  EXPECT_EQ(answer(test::discover(kMac)).type(), 2);
  EXPECT_EQ(answer(test::discover(kMac)).type(), 2);
  EXPECT_EQ(send(test::discover(kMac)).dropped, "rate_limited");
  Config same = c;
  same.subnets[0].reservations = {{test_mac(3), at(60), ""}};
  responder_.replace(same);
  EXPECT_EQ(send(test::discover(kMac)).dropped, "rate_limited") << "a reload is no new beginning";
  now_ += 1h;
  for (int n = 0; n < 5; ++n) EXPECT_EQ(answer(test::discover(kMac)).type(), 2) << "no more than the burst";
  EXPECT_EQ(send(test::discover(kMac)).dropped, "rate_limited");
}

}  // namespace
}  // namespace hcpnet::dhcp
