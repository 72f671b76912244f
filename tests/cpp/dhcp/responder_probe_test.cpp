// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/dhcp/responder.hpp>

#include "dhcp/packets.hpp"

// Which offers wait for a probe, and what an answer to one does (RFC 2131 section 3.1 step 2).
namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
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
  subnet.cidr = Ipv4Cidr(at(0), 24);
  subnet.server_id = kServer;
  subnet.pools = {{{at(50), at(52)}}};
  subnet.probe_timeout = 300ms;
  return {{subnet}, {}, {}};
}

class DhcpResponderProbe : public testing::Test {
 protected:
  Outcome send(const DhcpPacket& packet) {
    Outcome out = responder_.handle(packet.bytes(), 0, now_);
    responder_.settle(out.changes, true, now_);
    return out;
  }
  Outcome send_again(const DhcpPacket& packet) { return responder_.handle_again(packet.bytes(), 0, now_); }
  void bind(const MacAddress& mac, Ipv4 address) {
    ASSERT_EQ(send(test::select(mac, kServer, address)).reply->type, MessageType::ack);
  }
  DhcpPacket relayed(DhcpPacket packet) {
    packet.giaddr = at(1);
    return packet;
  }

  Responder responder_{config()};
  Responder::Time now_ = kNow;
};

TEST_F(DhcpResponderProbe, OfferOfANewAddressWaits) {
  const Outcome out = send(test::discover(kMac));
  ASSERT_TRUE(out.reply);
  ASSERT_TRUE(out.probe);
  EXPECT_EQ(out.probe->address, at(50));
  EXPECT_EQ(out.probe->client, kMac);
  EXPECT_EQ(out.probe->source, kServer);
  EXPECT_FALSE(out.probe->is_relayed);
  EXPECT_EQ(out.probe->timeout, 300ms);
  EXPECT_TRUE(responder_.has_offer(out.subnet, *out.probe));
  EXPECT_TRUE(send(relayed(test::discover(test_mac(2)))).probe->is_relayed);
}

TEST_F(DhcpResponderProbe, NothingWaitsUnlessItIsConfigured) {
  Config c = config();
  c.subnets[0].probe_timeout.reset();
  responder_ = Responder(c);
  EXPECT_FALSE(send(test::discover(kMac)).probe);
}

TEST_F(DhcpResponderProbe, NothingButAnOfferWaits) {
  EXPECT_FALSE(send(test::select(kMac, kServer, at(50))).probe);
  EXPECT_FALSE(send(test::renew(kMac, at(50))).probe);
  for (unsigned n = 2; n < 4; ++n) bind(test_mac(n), at(49 + n));
  EXPECT_FALSE(send(test::discover(test_mac(4))).probe) << "where there is no offer";
}

TEST_F(DhcpResponderProbe, WhatAClientIsBoundToIsNotAskedFor) {
  bind(kMac, at(50));
  EXPECT_FALSE(send(test::discover(kMac)).probe);
  now_ += 4000s;  // it has ended
  EXPECT_TRUE(send(test::discover(kMac)).probe) << "its own answer is told by its hardware address";
  EXPECT_FALSE(send(relayed(test::discover(kMac))).probe) << "which an echo does not tell";
}

TEST_F(DhcpResponderProbe, AddressThatAnswersRestsAndAnotherOneIsOffered) {
  const Outcome first = send(test::discover(kMac));
  const auto change = responder_.report_conflict(first.subnet, *first.probe, now_);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->event.kind, LeaseEventKind::conflict);
  EXPECT_EQ(change->event.lease.state, LeaseState::declined);
  EXPECT_EQ(change->event.lease.address, at(50));
  EXPECT_EQ(change->event.lease.mac, kMac);
  EXPECT_EQ(change->event.lease.expires, now_ + AllocatorLimits{}.conflict_hold);
  EXPECT_FALSE(responder_.has_offer(first.subnet, *first.probe));
  EXPECT_EQ(responder_.usage(0).declined, 1U);

  const Outcome second = send_again(test::discover(kMac));
  ASSERT_TRUE(second.probe);
  EXPECT_EQ(second.probe->address, at(51));
  EXPECT_EQ(send(test::discover(test_mac(2))).probe->address, at(52)) << "nobody else gets it either";

  now_ += AllocatorLimits{}.conflict_hold;
  responder_.expire(now_, 100);
  EXPECT_EQ(responder_.usage(0).declined, 0U);
}

TEST_F(DhcpResponderProbe, AnswerThatComesTooLateChangesNothing) {
  const Outcome out = send(test::discover(kMac));
  bind(kMac, at(50));
  EXPECT_FALSE(responder_.report_conflict(out.subnet, *out.probe, now_)) << "a lease is no offer";
  EXPECT_EQ(responder_.leases().at(0).state, LeaseState::bound);
  const Outcome other = send(test::discover(test_mac(2)));
  now_ += 60s;
  responder_.expire(now_, 100);
  EXPECT_FALSE(responder_.report_conflict(other.subnet, *other.probe, now_)) << "the offer has run out";
}

TEST_F(DhcpResponderProbe, AddressThatEndedAndAnswersIsNobodysAnyMore) {
  bind(test_mac(9), at(50));
  now_ += 4000s;
  const Outcome out = send(test::discover(test_mac(9)));
  ASSERT_TRUE(out.probe);
  ASSERT_TRUE(responder_.report_conflict(out.subnet, *out.probe, now_));
  EXPECT_EQ(send_again(test::discover(test_mac(9))).probe->address, at(51));
  EXPECT_EQ(send(test::select(test_mac(9), kServer, at(50))).reply->type, MessageType::nak);
}

TEST_F(DhcpResponderProbe, ReservedAddressThatAnswersIsReplacedForTheTimeBeing) {
  Config c = config();
  c.subnets[0].reservations = {{kMac, at(100), "db"}};
  responder_ = Responder(c);
  const Outcome out = send(test::discover(kMac));
  EXPECT_EQ(out.probe->address, at(100));
  ASSERT_TRUE(responder_.report_conflict(out.subnet, *out.probe, now_));
  EXPECT_EQ(send_again(test::discover(kMac)).probe->address, at(50));
  now_ += 301s;
  EXPECT_EQ(send(test::discover(kMac)).probe->address, at(100));
}

TEST_F(DhcpResponderProbe, WhatIsDealtWithAgainCountsForNoRateLimit) {
  Config c = config();
  c.subnets[0].rate_limit = ClientRateLimit{1, 1};
  responder_ = Responder(c);
  EXPECT_TRUE(send(test::discover(kMac)).probe);
  EXPECT_TRUE(send_again(test::discover(kMac)).probe);
  EXPECT_EQ(send(test::discover(kMac)).dropped, "rate_limited");
}

TEST_F(DhcpResponderProbe, EverySubnetOfALinkIsAskedAsTheFirstOneSays) {
  Config c = config();
  c.subnets[0].pools = {};
  c.subnets[0].shared_network = "hcp/vlan7";
  Subnet second = c.subnets[0];
  second.name = "hcp/vlan7/198.51.100.0/24";
  second.cidr = Ipv4Cidr(Ipv4(198, 51, 100, 0), 24);
  second.pools = {{{Ipv4(198, 51, 100, 50), Ipv4(198, 51, 100, 59)}}};
  second.server_id = Ipv4(198, 51, 100, 2);
  second.probe_timeout.reset();
  c.subnets.push_back(second);
  responder_ = Responder(c);
  const Outcome out = send(test::discover(kMac));
  ASSERT_TRUE(out.probe);
  EXPECT_EQ(out.probe->source, second.server_id);
  const auto change = responder_.report_conflict(out.subnet, *out.probe, now_);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->subnet, 1U);
  EXPECT_EQ(change->event.lease.subnet, second.name);
}

}  // namespace
}  // namespace hcpnet::dhcp
