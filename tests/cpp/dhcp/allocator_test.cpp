// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/dhcp/allocator.hpp>
#include <map>
#include <random>
#include <set>

#include "dhcp/packets.hpp"

namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
using Claim = Allocator::Claim;
using test::test_mac;

constexpr Allocator::Time kNow{1'700'000'000s};

Ipv4 at(unsigned last) {
  return {192, 0, 2, static_cast<std::uint8_t>(last)};
}

Subnet subnet(unsigned first = 50, unsigned last = 59) {
  Subnet out;
  out.name = "hcp/vlan7";
  out.cidr = Ipv4Cidr(at(0), 24);
  out.server_id = at(2);
  out.router = at(1);
  out.dns_servers = {at(3)};
  out.pools = {{{at(first), at(last)}}};
  return out;
}

/// Offer, request, commit.
Ipv4 lease(Allocator& allocator, const MacAddress& mac, Allocator::Time now = kNow) {
  const auto address = allocator.offer(mac, {}, now);
  EXPECT_TRUE(address);
  if (!address) return {};
  allocator.bind(mac, *address, {}, now);
  allocator.confirm(mac, *address);
  return *address;
}

TEST(DhcpAllocator, GivesTheLowestAddressThatWasNeverUsed) {
  Allocator allocator(subnet());
  EXPECT_EQ(lease(allocator, test_mac(1)), at(50));
  EXPECT_EQ(lease(allocator, test_mac(2)), at(51));
}

TEST(DhcpAllocator, GivesEachAddressOnceAndThenNone) {
  Allocator allocator(subnet());
  std::set<Ipv4> given;
  for (unsigned n = 0; n < 10; ++n) given.insert(lease(allocator, test_mac(n)));
  EXPECT_EQ(given.size(), 10U);
  EXPECT_EQ(allocator.offer(test_mac(99), {}, kNow), std::nullopt);
}

TEST(DhcpAllocator, NeverGivesNetworkBroadcastServersOrRouter) {
  Subnet all = subnet(0, 255);
  all.reservations = {{test_mac(500), at(7), ""}};
  Allocator allocator(all);
  std::set<Ipv4> given;
  for (unsigned n = 0; n < 250; ++n) given.insert(lease(allocator, test_mac(n)));
  EXPECT_EQ(given.size(), 250U);  // 256 less network, broadcast, .1, .2, .3 and the reserved .7
  EXPECT_EQ(allocator.offer(test_mac(400), {}, kNow), std::nullopt);
  for (const unsigned last : {0U, 255U, 1U, 2U, 3U, 7U}) EXPECT_FALSE(given.contains(at(last))) << last;
  EXPECT_EQ(allocator.usage().pool_size, 250U);
}

TEST(DhcpAllocator, UsesBothAddressesOfAPointToPointLink) {
  Subnet link = subnet();
  link.cidr = Ipv4Cidr(at(8), 31);
  link.server_id = at(8);
  link.router.reset();
  link.pools = {{{at(8), at(9)}}};
  Allocator allocator(link);
  EXPECT_EQ(lease(allocator, test_mac(1)), at(9));
}

TEST(DhcpAllocator, MergesPoolsThatOverlapAndCutsThemToTheSubnet) {
  Subnet several = subnet();
  several.pools = {{{at(54), at(59)}}, {{at(50), at(55)}}, {{at(52), at(53)}}, {{at(250), Ipv4(192, 0, 3, 10)}}};
  EXPECT_EQ(Allocator(several).usage().pool_size, 10U + 5U);
}

TEST(DhcpAllocator, ReservationWinsOverEverythingButSomebodyElsesLease) {
  Subnet reserved = subnet();
  reserved.reservations = {{test_mac(1), at(200), "db"}};
  Allocator allocator(subnet());
  EXPECT_EQ(lease(allocator, test_mac(1)), at(50));
  allocator.reconfigure(reserved);
  EXPECT_EQ(allocator.claim(test_mac(1), at(50)), Claim::retired);
  EXPECT_EQ(allocator.offer(test_mac(1), at(50), kNow), at(200));
  EXPECT_EQ(allocator.claim(test_mac(2), at(200)), Claim::outside);

  reserved.reservations = {{test_mac(3), at(51), ""}};
  Allocator other(subnet());
  lease(other, test_mac(1));
  EXPECT_EQ(lease(other, test_mac(2)), at(51));
  other.reconfigure(reserved);
  EXPECT_EQ(lease(other, test_mac(3)), at(52)) << "until it is free the client gets another one";
  EXPECT_EQ(other.claim(test_mac(2), at(51)), Claim::retired);
}

TEST(DhcpAllocator, ReservationsThatCantBeAreNone) {
  Subnet wrong = subnet();
  wrong.reservations = {{test_mac(1), at(2), ""},
                        {test_mac(2), at(255), ""},
                        {test_mac(3), Ipv4(198, 51, 100, 9), ""},
                        {test_mac(4), at(100), ""},
                        {test_mac(5), at(100), ""}};
  Allocator allocator(wrong);
  for (const unsigned n : {1U, 2U, 3U, 5U}) {
    const auto address = allocator.offer(test_mac(n), {}, kNow);
    ASSERT_TRUE(address);
    EXPECT_TRUE(wrong.pools[0].range.contains(*address)) << address->to_string();
  }
  EXPECT_EQ(allocator.offer(test_mac(4), {}, kNow), at(100));
}

TEST(DhcpAllocator, RequestedAddressIsGivenOnlyWhenItIsFreeAndInThePool) {
  Allocator allocator(subnet());
  EXPECT_EQ(allocator.offer(test_mac(1), at(55), kNow), at(55));
  EXPECT_EQ(allocator.offer(test_mac(2), at(55), kNow), at(50));
  EXPECT_EQ(allocator.offer(test_mac(3), at(99), kNow), at(51));
  EXPECT_EQ(allocator.offer(test_mac(4), at(2), kNow), at(52));
}

TEST(DhcpAllocator, OfferIsHeldAndThenFreeAgain) {
  Allocator allocator(subnet(50, 50));
  EXPECT_EQ(allocator.offer(test_mac(1), {}, kNow), at(50));
  EXPECT_EQ(allocator.offer(test_mac(2), {}, kNow), std::nullopt);
  EXPECT_EQ(allocator.claim(test_mac(2), at(50)), Claim::taken);
  EXPECT_EQ(allocator.next_due(), kNow + 10s);
  EXPECT_TRUE(allocator.expire(kNow + 9s, 10).empty());
  EXPECT_EQ(allocator.offer(test_mac(2), {}, kNow + 9s), std::nullopt);
  EXPECT_TRUE(allocator.expire(kNow + 10s, 10).empty());
  EXPECT_EQ(allocator.offer(test_mac(2), {}, kNow + 10s), at(50));
}

TEST(DhcpAllocator, AskingAgainHoldsTheOfferForLonger) {
  Allocator allocator(subnet(50, 50));
  allocator.offer(test_mac(1), {}, kNow);
  allocator.offer(test_mac(1), {}, kNow + 8s);
  allocator.expire(kNow + 12s, 10);
  EXPECT_EQ(allocator.offer(test_mac(2), {}, kNow + 12s), std::nullopt);
}

TEST(DhcpAllocator, WithdrawnOfferIsTheNextToBeGiven) {
  Allocator allocator(subnet());
  allocator.offer(test_mac(1), {}, kNow);
  allocator.withdraw(test_mac(1));
  EXPECT_EQ(allocator.offer(test_mac(2), {}, kNow), at(50));
}

TEST(DhcpAllocator, OffersAreLimited) {
  Allocator allocator(subnet(), {.max_offers = 2});
  EXPECT_TRUE(allocator.offer(test_mac(1), {}, kNow));
  EXPECT_TRUE(allocator.offer(test_mac(2), {}, kNow));
  EXPECT_FALSE(allocator.offer(test_mac(3), {}, kNow));
  EXPECT_TRUE(allocator.offer(test_mac(1), {}, kNow)) << "the same client may ask again";
}

TEST(DhcpAllocator, LeasesInMemoryAreLimitedButEndedOnesAreUsedAgain) {
  Allocator allocator(subnet(), {.max_leases = 2});
  lease(allocator, test_mac(1));
  lease(allocator, test_mac(2));
  EXPECT_FALSE(allocator.offer(test_mac(3), {}, kNow));
  EXPECT_FALSE(allocator.offer(test_mac(3), at(58), kNow)) << "nor by naming an address";
  allocator.release(test_mac(1), at(50), kNow);
  EXPECT_EQ(allocator.offer(test_mac(3), {}, kNow), at(50));
}

TEST(DhcpAllocator, FormerOwnerComesBackToItsAddress) {
  Allocator allocator(subnet());
  lease(allocator, test_mac(1));
  allocator.release(test_mac(1), at(50), kNow);
  EXPECT_EQ(lease(allocator, test_mac(2)), at(51)) << "an address that was never used comes first";
  EXPECT_EQ(allocator.offer(test_mac(1), at(55), kNow), at(50));
}

TEST(DhcpAllocator, AddressOutOfUseLongestIsUsedAgainFirst) {
  Allocator allocator(subnet(50, 52));
  for (unsigned n = 1; n <= 3; ++n) lease(allocator, test_mac(n));
  allocator.release(test_mac(2), at(51), kNow + 1s);
  allocator.release(test_mac(1), at(50), kNow + 2s);
  EXPECT_EQ(lease(allocator, test_mac(4), kNow + 3s), at(51));
  EXPECT_EQ(lease(allocator, test_mac(5), kNow + 3s), at(50));
}

TEST(DhcpAllocator, LapsedOfferOfAnEndedAddressIsNextAgain) {
  Allocator allocator(subnet(50, 51));
  lease(allocator, test_mac(1));
  lease(allocator, test_mac(2));
  allocator.release(test_mac(1), at(50), kNow);
  allocator.release(test_mac(2), at(51), kNow);
  EXPECT_EQ(allocator.offer(test_mac(3), {}, kNow), at(50));
  allocator.expire(kNow + 10s, 10);
  EXPECT_EQ(allocator.offer(test_mac(4), {}, kNow + 10s), at(50));
}

TEST(DhcpAllocator, LeaseExpiresAtItsTimeAndNotBefore) {
  Allocator allocator(subnet());
  lease(allocator, test_mac(1));
  EXPECT_EQ(allocator.next_due(), kNow + 3600s);
  EXPECT_TRUE(allocator.expire(kNow + 3599s, 10).empty());
  const auto events = allocator.expire(kNow + 3600s, 10);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, LeaseEventKind::expired);
  EXPECT_EQ(events[0].lease.state, LeaseState::expired);
  EXPECT_EQ(allocator.usage().bound, 0U);
}

TEST(DhcpAllocator, RenewalMovesTheExpiryAndKeepsTheStart) {
  Allocator allocator(subnet());
  lease(allocator, test_mac(1));
  const auto events = allocator.bind(test_mac(1), at(50), {}, kNow + 1800s);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, LeaseEventKind::renewed);
  EXPECT_EQ(events[0].lease.started, kNow);
  EXPECT_EQ(events[0].lease.expires, kNow + 5400s);
  allocator.confirm(test_mac(1), at(50));
  EXPECT_TRUE(allocator.expire(kNow + 3600s, 10).empty());
  EXPECT_EQ(allocator.expire(kNow + 5400s, 10).size(), 1U);
}

TEST(DhcpAllocator, ShorterLeaseTimeEndsARenewedLeaseEarlier) {
  Allocator allocator(subnet());
  lease(allocator, test_mac(1));
  Subnet shorter = subnet();
  shorter.lease_time = 60s;
  allocator.reconfigure(shorter);
  allocator.bind(test_mac(1), at(50), {}, kNow);
  allocator.confirm(test_mac(1), at(50));
  EXPECT_EQ(allocator.next_due(), kNow + 60s);
  EXPECT_EQ(allocator.expire(kNow + 60s, 10).size(), 1U);
  EXPECT_TRUE(allocator.expire(kNow + 3600s, 10).empty()) << "the first time of ending means nothing any more";
}

// The client was not told: it goes by what it heard before.
TEST(DhcpAllocator, ShorterRenewalThatDidNotReachTheDiskChangesNothing) {
  Allocator allocator(subnet(50, 50));
  lease(allocator, test_mac(1));
  Subnet shorter = subnet(50, 50);
  shorter.lease_time = 60s;
  allocator.reconfigure(shorter);
  const auto events = allocator.bind(test_mac(1), at(50), {}, kNow);
  EXPECT_EQ(events.at(0).lease.expires, kNow + 60s) << "what is written";
  EXPECT_EQ(allocator.leases().at(0).expires, kNow + 3600s) << "what is on disk";
  allocator.revert(test_mac(1), at(50), kNow);
  EXPECT_TRUE(allocator.expire(kNow + 60s, 10).empty());
  EXPECT_FALSE(allocator.offer(test_mac(2), {}, kNow + 60s));
  EXPECT_EQ(allocator.expire(kNow + 3600s, 10).size(), 1U);
}

// A reload comes between two renewals that wait for the disk.
TEST(DhcpAllocator, ShorterRenewalCountsOnceItIsOnDiskItself) {
  Allocator allocator(subnet(50, 50));
  lease(allocator, test_mac(1));
  const Lease first = allocator.bind(test_mac(1), at(50), {}, kNow + 10s).at(0).lease;
  Subnet shorter = subnet(50, 50);
  shorter.lease_time = 60s;
  allocator.reconfigure(shorter);
  const Lease second = allocator.bind(test_mac(1), at(50), {}, kNow + 20s).at(0).lease;
  allocator.confirm(first);
  EXPECT_EQ(allocator.leases().at(0).expires, kNow + 3610s);
  allocator.confirm(second);
  EXPECT_EQ(allocator.leases().at(0).expires, kNow + 80s);
}

TEST(DhcpAllocator, EndsNoMoreThanAskedForAtOnce) {
  Allocator allocator(subnet());
  for (unsigned n = 0; n < 5; ++n) lease(allocator, test_mac(n));
  EXPECT_EQ(allocator.expire(kNow + 3600s, 3).size(), 3U);
  EXPECT_LE(*allocator.next_due(), kNow + 3600s);
  EXPECT_EQ(allocator.expire(kNow + 3600s, 3).size(), 2U);
}

TEST(DhcpAllocator, OneLeasePerClient) {
  Allocator allocator(subnet());
  lease(allocator, test_mac(1));
  const auto events = allocator.bind(test_mac(1), at(57), {}, kNow);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind, LeaseEventKind::released);
  EXPECT_EQ(events[0].lease.address, at(50));
  EXPECT_EQ(events[1].kind, LeaseEventKind::bound);
  EXPECT_EQ(allocator.usage().bound, 2U) << "until the new one is on disk";
  allocator.confirm(test_mac(1), at(57));
  EXPECT_EQ(allocator.usage().bound, 1U);
  EXPECT_EQ(allocator.claim(test_mac(2), at(50)), Claim::free);
}

TEST(DhcpAllocator, MoveThatDidNotReachTheDiskLeavesTheClientWhereItWas) {
  Allocator allocator(subnet(50, 57));
  lease(allocator, test_mac(1));
  allocator.bind(test_mac(1), at(57), {}, kNow);
  allocator.revert(test_mac(1), at(57), kNow);
  EXPECT_EQ(allocator.find(test_mac(1))->address, at(50));
  EXPECT_EQ(allocator.find(test_mac(1))->state, LeaseState::bound);
  EXPECT_EQ(allocator.claim(test_mac(1), at(50)), Claim::own) << "it is still used, and on disk";
  EXPECT_EQ(allocator.claim(test_mac(2), at(50)), Claim::taken);
  EXPECT_EQ(allocator.leases().size(), 1U);
}

// Two requests that wait for the disk at once.
TEST(DhcpAllocator, ClientThatGoesBackBeforeTheDiskAnswersKeepsItsAddress) {
  Allocator allocator(subnet(50, 57));
  lease(allocator, test_mac(1));
  allocator.bind(test_mac(1), at(57), {}, kNow);
  allocator.bind(test_mac(1), at(50), {}, kNow);
  allocator.confirm(test_mac(1), at(57));
  EXPECT_EQ(allocator.claim(test_mac(2), at(50)), Claim::taken);
  allocator.confirm(test_mac(1), at(50));
  EXPECT_EQ(allocator.claim(test_mac(2), at(50)), Claim::taken);
  EXPECT_EQ(allocator.claim(test_mac(2), at(57)), Claim::free);
  EXPECT_EQ(allocator.usage().bound, 1U);
}

TEST(DhcpAllocator, ReleaseAndDeclineAreForTheOwnerOnly) {
  Allocator allocator(subnet());
  lease(allocator, test_mac(1));
  EXPECT_FALSE(allocator.release(test_mac(2), at(50), kNow));
  EXPECT_FALSE(allocator.decline(test_mac(2), at(50), kNow));
  EXPECT_FALSE(allocator.release(test_mac(1), at(51), kNow));
  EXPECT_EQ(allocator.usage().bound, 1U);
}

TEST(DhcpAllocator, DeclinedAddressRestsAndIsThenUsedLast) {
  Allocator allocator(subnet(50, 51));
  lease(allocator, test_mac(1));
  ASSERT_TRUE(allocator.decline(test_mac(1), at(50), kNow));
  EXPECT_EQ(allocator.usage().declined, 1U);
  EXPECT_EQ(lease(allocator, test_mac(1)), at(51));
  EXPECT_EQ(allocator.offer(test_mac(2), at(50), kNow), std::nullopt);
  allocator.expire(kNow + 3599s, 10);
  EXPECT_EQ(allocator.offer(test_mac(2), {}, kNow + 3599s), std::nullopt);
  EXPECT_EQ(allocator.expire(kNow + 3600s, 10).size(), 1U)
      << "the lease of the other address; a rest ends without an event";
  EXPECT_EQ(allocator.offer(test_mac(2), {}, kNow + 3600s), at(50));
}

TEST(DhcpAllocator, OfferedAddressMayBeDeclined) {
  Allocator allocator(subnet());
  allocator.offer(test_mac(1), {}, kNow);
  ASSERT_TRUE(allocator.decline(test_mac(1), at(50), kNow));
  EXPECT_EQ(allocator.offer(test_mac(1), {}, kNow), at(51));
}

TEST(DhcpAllocator, OneClientDoesNotDeclineThePool) {
  Allocator allocator(subnet(), {.max_declined_per_client = 2});
  for (const unsigned last : {50U, 51U}) {
    lease(allocator, test_mac(1));
    EXPECT_TRUE(allocator.may_decline(test_mac(1), kNow));
    EXPECT_TRUE(allocator.decline(test_mac(1), at(last), kNow)) << last;
  }
  lease(allocator, test_mac(1));
  EXPECT_FALSE(allocator.may_decline(test_mac(1), kNow));
  EXPECT_FALSE(allocator.decline(test_mac(1), at(52), kNow));
  EXPECT_EQ(allocator.usage().declined, 2U);
  EXPECT_EQ(allocator.claim(test_mac(1), at(52)), Claim::own);
  lease(allocator, test_mac(2), kNow + 1s);
  EXPECT_TRUE(allocator.decline(test_mac(2), at(53), kNow + 1s)) << "others have limits of their own";
  allocator.expire(kNow + 3600s, 10);
  lease(allocator, test_mac(1), kNow + 3600s);
  EXPECT_TRUE(allocator.decline(test_mac(1), at(52), kNow + 3600s)) << "once the first ones rest no longer";
}

TEST(DhcpAllocator, BindingCountsOnlyWhenConfirmed) {
  Allocator allocator(subnet());
  allocator.bind(test_mac(1), at(50), {}, kNow);
  EXPECT_TRUE(allocator.leases().empty());
  EXPECT_EQ(allocator.claim(test_mac(2), at(50)), Claim::taken);
  allocator.confirm(test_mac(1), at(50));
  EXPECT_EQ(allocator.leases().size(), 1U);
}

TEST(DhcpAllocator, RevertedBindingIsHeldForTheSameClient) {
  Allocator allocator(subnet(50, 50));
  allocator.bind(test_mac(1), at(50), {}, kNow);
  allocator.revert(test_mac(1), at(50), kNow);
  EXPECT_EQ(allocator.usage().bound, 0U);
  EXPECT_EQ(allocator.claim(test_mac(1), at(50)), Claim::own);
  EXPECT_EQ(allocator.claim(test_mac(2), at(50)), Claim::taken);
  allocator.expire(kNow + 10s, 10);
  EXPECT_EQ(allocator.claim(test_mac(2), at(50)), Claim::free);
}

TEST(DhcpAllocator, RevertedRenewalStaysBound) {
  Allocator allocator(subnet());
  lease(allocator, test_mac(1));
  allocator.bind(test_mac(1), at(50), {}, kNow + 10s);
  allocator.revert(test_mac(1), at(50), kNow + 10s);
  EXPECT_EQ(allocator.usage().bound, 1U);
}

TEST(DhcpAllocator, KnowsWhichEndIsOnDisk) {
  Allocator allocator(subnet());
  static_cast<void>(allocator.offer(test_mac(1), {}, kNow));
  allocator.bind(test_mac(1), at(50), {}, kNow);
  EXPECT_EQ(allocator.stored_end(test_mac(1), at(50)), std::nullopt) << "not there yet";
  allocator.confirm(test_mac(1), at(50));
  EXPECT_EQ(allocator.stored_end(test_mac(1), at(50)), kNow + 3600s);
  EXPECT_EQ(allocator.stored_end(test_mac(2), at(50)), std::nullopt) << "somebody else's";

  // Two renewals wait: the first one gets there, the second one does not.
  const Lease first = allocator.bind(test_mac(1), at(50), {}, kNow + 10s).back().lease;
  allocator.bind(test_mac(1), at(50), {}, kNow + 20s);
  EXPECT_EQ(allocator.stored_end(test_mac(1), at(50)), kNow + 3600s);
  allocator.confirm(first);
  EXPECT_EQ(allocator.stored_end(test_mac(1), at(50)), kNow + 3610s);
  allocator.revert(test_mac(1), at(50), kNow + 20s);
  EXPECT_EQ(allocator.stored_end(test_mac(1), at(50)), kNow + 3610s);
  allocator.confirm(allocator.bind(test_mac(1), at(50), {}, kNow + 30s).back().lease);
  EXPECT_EQ(allocator.stored_end(test_mac(1), at(50)), kNow + 3630s);

  // Nobody knows whether a shorter one that failed is there.
  Subnet shorter = subnet();
  shorter.lease_time = 60s;
  allocator.reconfigure(shorter);
  allocator.bind(test_mac(1), at(50), {}, kNow + 40s);
  allocator.revert(test_mac(1), at(50), kNow + 40s);
  EXPECT_EQ(allocator.stored_end(test_mac(1), at(50)), kNow + 100s);
  allocator.release(test_mac(1), at(50), kNow + 50s);
  EXPECT_EQ(allocator.stored_end(test_mac(1), at(50)), std::nullopt);
}

TEST(DhcpAllocator, LeaseOutsideTodaysPoolStaysButIsNotRenewed) {
  Allocator allocator(subnet());
  lease(allocator, test_mac(1));
  allocator.reconfigure(subnet(80, 89));
  EXPECT_EQ(allocator.claim(test_mac(1), at(50)), Claim::retired);
  EXPECT_EQ(allocator.claim(test_mac(2), at(50)), Claim::outside);
  EXPECT_EQ(allocator.leases().size(), 1U);
  EXPECT_EQ(allocator.offer(test_mac(1), at(50), kNow), at(80));
}

TEST(DhcpAllocator, PoolThatComesBackIsWhole) {
  Allocator allocator(subnet(50, 51));
  lease(allocator, test_mac(1));
  allocator.release(test_mac(1), at(50), kNow);
  allocator.reconfigure(subnet(60, 60));
  lease(allocator, test_mac(2));
  EXPECT_EQ(allocator.offer(test_mac(3), {}, kNow), std::nullopt);
  allocator.reconfigure(subnet(50, 51));
  std::set<Ipv4> given = {lease(allocator, test_mac(4)), lease(allocator, test_mac(5))};
  EXPECT_EQ(given, (std::set<Ipv4>{at(50), at(51)}));
}

Lease stored(unsigned last, const MacAddress& mac, std::chrono::seconds started, std::chrono::seconds expires,
             LeaseState state = LeaseState::bound) {
  Lease out;
  out.address = at(last);
  out.mac = mac;
  out.state = state;
  out.started = kNow + started;
  out.expires = kNow + expires;
  return out;
}

TEST(DhcpAllocator, RestoresWhatWasStored) {  // DHC-19
  Allocator allocator(subnet());
  const auto ended = allocator.restore(
      {stored(52, test_mac(1), -5000s, 3600s), stored(50, test_mac(1), -100s, 3600s),
       stored(51, test_mac(2), -900s, -10s, LeaseState::expired), stored(200, test_mac(3), -50s, 3600s),
       stored(53, test_mac(4), -50s, 600s, LeaseState::declined)},
      kNow);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].address, at(52));
  EXPECT_EQ(ended[0].state, LeaseState::released);
  EXPECT_EQ(allocator.offer(test_mac(1), {}, kNow), at(50));
  EXPECT_EQ(allocator.offer(test_mac(2), {}, kNow), at(51));
  EXPECT_EQ(allocator.offer(test_mac(4), {}, kNow), at(54)) << "50 to 53 are known";
  EXPECT_EQ(allocator.claim(test_mac(3), at(200)), Claim::retired);
  EXPECT_EQ(allocator.leases().size(), 5U);
}

TEST(DhcpAllocator, LeaseThatRanOutWhileNobodyServedExpiresAtTheNextLook) {
  Allocator allocator(subnet());
  allocator.restore({stored(50, test_mac(1), -900s, -10s)}, kNow);
  const auto events = allocator.expire(kNow, 10);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].lease.expires, kNow - 10s);
}

TEST(DhcpAllocator, HugePoolCostsNothing) {
  Subnet huge = subnet();
  huge.cidr = Ipv4Cidr(Ipv4(10, 0, 0, 0), 8);
  huge.server_id = Ipv4(10, 0, 0, 2);
  huge.pools = {{{Ipv4(10, 0, 0, 0), Ipv4(10, 255, 255, 255)}}};
  Allocator allocator(huge);
  EXPECT_EQ(allocator.usage().pool_size, (1U << 24) - 3);
  EXPECT_EQ(lease(allocator, test_mac(1)), Ipv4(10, 0, 0, 1));
  EXPECT_EQ(lease(allocator, test_mac(2)), Ipv4(10, 0, 0, 3));
}

// Random clients and time; after each step no address may be held by two clients who both were told so, and none may
// get lost.
TEST(DhcpAllocator, NeverGivesOneAddressTwiceAndLosesNone) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    Allocator allocator(subnet(50, 69));
    std::map<MacAddress, std::pair<Ipv4, Allocator::Time>> held;  // what clients were told
    std::map<Ipv4, Allocator::Time> resting;
    Allocator::Time now = kNow;
    for (int step = 0; step < 4000; ++step) {
      const MacAddress mac = test_mac(pick(30));
      now += std::chrono::seconds(pick(40) == 0 ? pick(2000) : pick(3));
      allocator.expire(now, pick(2) == 0 ? 1 : 100);
      std::erase_if(held, [&](const auto& entry) { return entry.second.second <= now; });
      switch (pick(8)) {
        case 0:
        case 1:
        case 2: {  // DISCOVER, and mostly REQUEST; sometimes the disk fails
          const auto wish = pick(3) == 0 ? std::optional(at(45 + pick(30))) : std::nullopt;
          const auto address = allocator.offer(mac, wish, now);
          if (!address || pick(4) == 0) break;
          ASSERT_TRUE(*address >= at(50) && *address <= at(69));
          const auto events = allocator.bind(mac, *address, {}, now);
          if (pick(6) == 0) {
            allocator.revert(mac, *address, now);
            break;
          }
          allocator.confirm(mac, *address);
          for (const auto& [other, lease] : held) {
            ASSERT_FALSE(other != mac && lease.first == *address)
                << address->to_string() << " has two owners at step " << step;
          }
          ASSERT_FALSE(resting.contains(*address) && resting[*address] > now);
          held[mac] = {*address, events.back().lease.expires};
          break;
        }
        case 3:  // RENEW
          if (held.contains(mac) && allocator.claim(mac, held[mac].first) == Claim::own) {
            held[mac].second = allocator.bind(mac, held[mac].first, {}, now).back().lease.expires;
            allocator.confirm(mac, held[mac].first);
          }
          break;
        case 4:
          if (held.contains(mac) && allocator.release(mac, held[mac].first, now)) held.erase(mac);
          break;
        case 5:
          if (pick(5) != 0 || !held.contains(mac)) break;
          if (allocator.decline(mac, held[mac].first, now)) {
            resting[held[mac].first] = now + 3600s;
            held.erase(mac);
          }
          break;
        case 6:
          allocator.withdraw(mac);
          break;
        default:
          if (pick(50) == 0) allocator.reconfigure(subnet(50, 69));
      }
    }
    // When everybody has gone, everything can be given again.
    now += 100'000s;
    while (allocator.next_due() && *allocator.next_due() <= now) allocator.expire(now, 100);
    std::set<Ipv4> all;
    for (unsigned n = 0; n < 20; ++n) all.insert(lease(allocator, test_mac(1000 + n), now));
    EXPECT_EQ(all.size(), 20U);
  }
}

}  // namespace
}  // namespace hcpnet::dhcp
