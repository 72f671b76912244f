// SPDX-License-Identifier: Apache-2.0
// Leases that other servers write (Subnet::shared_store), and when an address is given to another client.
#include <gmock/gmock.h>

#include <hcpnet/dhcp/allocator.hpp>
#include <hcpnet/dhcp/responder.hpp>

#include "dhcp/packets.hpp"
#include "dhcp/shared_lease.hpp"

namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
using Claim = Allocator::Claim;
using test::test_mac;

constexpr Allocator::Time kNow{1'700'000'000s};
const Ipv4 kServer(192, 0, 2, 2);

Ipv4 at(unsigned last) {
  return {192, 0, 2, static_cast<std::uint8_t>(last)};
}

/// One address for everybody, so that it is seen when it is free.
Subnet shared_subnet(unsigned last = 50) {
  Subnet out;
  out.name = "hcp/vlan7";
  out.cidr = Ipv4Cidr(at(0), 24);
  out.server_id = kServer;
  out.pools = {{{at(50), at(last)}}};
  out.shared_store = SharedStore{.endpoints = {"http://192.0.2.9:2379"}, .prefix = "/vlan7", .max_skew = 4s};
  return out;
}

Lease written(std::uint32_t client, unsigned last = 50, Allocator::Time expires = kNow + 1h,
              LeaseState state = LeaseState::bound) {
  Lease lease;
  lease.address = at(last);
  lease.mac = test_mac(client);
  lease.state = state;
  lease.started = kNow;
  lease.expires = expires;
  return lease;
}

Ipv4 bind(Allocator& allocator, std::uint32_t client, Allocator::Time now = kNow) {
  const auto address = allocator.offer(test_mac(client), {}, now);
  EXPECT_TRUE(address);
  if (!address) return {};
  allocator.bind(test_mac(client), *address, {}, now);
  allocator.confirm(test_mac(client), *address);
  return *address;
}

std::vector<LeaseEventKind> kinds(const std::vector<LeaseEvent>& events) {
  std::vector<LeaseEventKind> out;
  for (const LeaseEvent& event : events) out.push_back(event.kind);
  return out;
}

TEST(DhcpReuseDelay, ALeaseEndsThatMuchAfterItExpires) {
  Subnet subnet = shared_subnet();
  subnet.shared_store.reset();
  AllocatorLimits limits;
  limits.reuse_delay = 1s;
  Allocator allocator(subnet, limits);
  bind(allocator, 1);
  EXPECT_TRUE(allocator.expire(kNow + 3600s, 10).empty());
  EXPECT_EQ(allocator.offer(test_mac(2), {}, kNow + 3600s), std::nullopt);
  EXPECT_EQ(allocator.next_due(), kNow + 3601s);
  EXPECT_EQ(allocator.expire(kNow + 3601s, 10).size(), 1U);
  EXPECT_EQ(allocator.offer(test_mac(2), {}, kNow + 3601s), at(50));
}

TEST(DhcpReuseDelay, ASharedPoolWaitsForSkewAndMarginToo) {
  AllocatorLimits limits;
  limits.reuse_delay = 1s;
  Allocator allocator(shared_subnet(), limits);
  bind(allocator, 1);
  const auto free = kNow + 3600s + 1s + 4s + kSharedMargin;
  EXPECT_TRUE(allocator.expire(free - 1s, 10).empty());
  EXPECT_EQ(allocator.claim(test_mac(2), at(50)), Claim::taken);
  EXPECT_EQ(allocator.claim(test_mac(1), at(50)), Claim::own) << "its own client may renew so long";
  EXPECT_EQ(allocator.expire(free, 10).size(), 1U);
  EXPECT_EQ(allocator.claim(test_mac(2), at(50)), Claim::free);
}

TEST(DhcpTake, AnothersLeaseIsItsClientsHere) {
  Allocator allocator(shared_subnet());
  const auto events = allocator.take(written(1), kNow);
  EXPECT_THAT(kinds(events), testing::ElementsAre(LeaseEventKind::bound));
  EXPECT_EQ(events.at(0).lease.subnet, "hcp/vlan7");
  EXPECT_EQ(allocator.offer(test_mac(2), {}, kNow), std::nullopt);
  EXPECT_EQ(allocator.claim(test_mac(1), at(50)), Claim::own);
  EXPECT_EQ(allocator.leases().at(0).expires, kNow + 1h);
  EXPECT_TRUE(allocator.take(written(1), kNow).empty()) << "nothing new";
  EXPECT_THAT(kinds(allocator.take(written(1, 50, kNow + 2h), kNow)), testing::ElementsAre(LeaseEventKind::renewed));
  EXPECT_EQ(allocator.leases().at(0).expires, kNow + 2h);
}

/// Word of an older renewal, by another server, comes while one of ours is under way.
TEST(DhcpTake, ARenewalThatIsUnderWayIsNotMadeShorter) {
  Allocator allocator(shared_subnet());
  bind(allocator, 1);
  allocator.bind(test_mac(1), at(50), {}, kNow + 30min);
  EXPECT_TRUE(allocator.take(written(1, 50, kNow + 70min), kNow + 30min).empty());
  allocator.confirm(test_mac(1), at(50));
  EXPECT_EQ(allocator.leases().at(0).expires, kNow + 90min);
}

/// It comes while a renewal of the one before waits for the disk.
TEST(DhcpTake, WhatIsStoredIsThePresentClients) {
  Allocator allocator(shared_subnet());
  bind(allocator, 1);
  allocator.bind(test_mac(1), at(50), {}, kNow + 30min);
  allocator.take(written(2, 50, kNow + 2h), kNow + 30min);
  EXPECT_EQ(allocator.stored_end(test_mac(1), at(50)), std::nullopt);
  EXPECT_EQ(allocator.stored_end(test_mac(2), at(50)), kNow + 2h);
}

TEST(DhcpTake, AnOfferOfTheAddressEnds) {
  Allocator allocator(shared_subnet());
  ASSERT_EQ(allocator.offer(test_mac(2), {}, kNow), at(50));
  allocator.take(written(1), kNow);
  EXPECT_FALSE(allocator.has_offer(test_mac(2), at(50)));
  EXPECT_EQ(allocator.claim(test_mac(2), at(50)), Claim::taken);
}

/// The store has refused it, and told who has the address; then the request is taken back.
TEST(DhcpTake, ABindingThatWasLostDoesNotComeBack) {
  Allocator allocator(shared_subnet());
  ASSERT_EQ(allocator.offer(test_mac(2), {}, kNow), at(50));
  allocator.bind(test_mac(2), at(50), {}, kNow);
  EXPECT_THAT(kinds(allocator.take(written(1), kNow)), testing::ElementsAre(LeaseEventKind::bound))
      << "the other one was no lease yet";
  allocator.revert(test_mac(2), at(50), kNow);
  EXPECT_EQ(allocator.claim(test_mac(2), at(50)), Claim::taken);
  EXPECT_EQ(allocator.claim(test_mac(1), at(50)), Claim::own);
  EXPECT_EQ(allocator.leases().size(), 1U);
}

TEST(DhcpTake, WhomTheStoreContradictsIsTold) {
  Allocator allocator(shared_subnet());
  bind(allocator, 2);
  EXPECT_THAT(kinds(allocator.take(written(1), kNow + 10s)),
              testing::ElementsAre(LeaseEventKind::released, LeaseEventKind::bound));
  EXPECT_EQ(allocator.claim(test_mac(2), at(50)), Claim::taken);
  EXPECT_EQ(allocator.find(test_mac(2)), std::nullopt);
}

TEST(DhcpTake, WhatWasGivenBackElsewhereIsFree) {
  Allocator allocator(shared_subnet());
  bind(allocator, 1);
  EXPECT_THAT(kinds(allocator.take(written(1, 50, kNow + 10s, LeaseState::released), kNow + 10s)),
              testing::ElementsAre(LeaseEventKind::released));
  EXPECT_EQ(allocator.offer(test_mac(2), {}, kNow + 10s), at(50));
}

TEST(DhcpTake, WhatRestsElsewhereRestsHere) {
  Allocator allocator(shared_subnet());
  EXPECT_THAT(kinds(allocator.take(written(1, 50, kNow + 1h, LeaseState::declined), kNow)),
              testing::ElementsAre(LeaseEventKind::declined));
  EXPECT_EQ(allocator.offer(test_mac(1), {}, kNow), std::nullopt);
  EXPECT_EQ(allocator.usage().declined, 1U);
}

TEST(DhcpTake, AnEndedLeaseIsRememberedForItsClient) {
  Allocator allocator(shared_subnet(51));
  EXPECT_THAT(kinds(allocator.take(written(1, 51, kNow - 1h), kNow)), testing::ElementsAre(LeaseEventKind::expired));
  EXPECT_EQ(allocator.offer(test_mac(1), {}, kNow), at(51));
}

TEST(DhcpTake, OfTwoAddressesOfAClientTheLaterOneIsItsOwn) {
  Allocator allocator(shared_subnet(51));
  Lease later = written(1, 51);
  later.started = kNow + 5s;
  allocator.take(later, kNow + 5s);
  allocator.take(written(1, 50), kNow + 5s);
  ASSERT_TRUE(allocator.find(test_mac(1)));
  EXPECT_EQ(allocator.find(test_mac(1))->address, at(51));
  EXPECT_EQ(allocator.offer(test_mac(2), {}, kNow + 5s), std::nullopt) << "nobody knows that it has left the other";
}

/// Its offer stands until it ends: the server that the client has chosen binds the address meanwhile.
TEST(DhcpShared, AClientThatTurnsToAnotherServerKeepsItsOfferHere) {
  const auto offered_after = [](Subnet subnet) {
    Responder responder(Config{{std::move(subnet)}, {}, {}});
    responder.handle(test::discover(test_mac(1)).bytes(), 0, kNow);
    responder.handle(test::select(test_mac(1), at(3), at(50)).bytes(), 0, kNow);
    return responder.usage(0).offered;
  };
  EXPECT_EQ(offered_after(shared_subnet()), 1U);
  Subnet alone = shared_subnet();
  alone.shared_store.reset();
  EXPECT_EQ(offered_after(alone), 0U);
}

TEST(DhcpShared, WhatIsOfNoNetworkIsPassedOver) {
  Responder responder(Config{{shared_subnet()}, {}, {}});
  Lease stray = written(1);
  stray.address = Ipv4(203, 0, 113, 1);
  EXPECT_TRUE(responder.take(stray, kNow).empty());
  EXPECT_EQ(responder.take(written(1), kNow).size(), 1U);
}

}  // namespace
}  // namespace hcpnet::dhcp
