// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <hcpnet/dhcp/allocator.hpp>
#include <map>
#include <random>
#include <set>

#include "dhcp/packets.hpp"

// Several pools, exclusions, classes and the subnets of a shared network.
namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
using Claim = Allocator::Claim;
using test::test_mac;

constexpr Allocator::Time kNow{1'700'000'000s};
const ClassSet kNone;
const ClassSet kPhones{1};
const ClassSet kPxe{2};

Ipv4 at(unsigned last) {
  return {192, 0, 2, static_cast<std::uint8_t>(last)};
}
Ipv4 far(unsigned last) {
  return {198, 51, 100, static_cast<std::uint8_t>(last)};
}

Subnet subnet(std::vector<Pool> pools) {
  Subnet out;
  out.name = "hcp/vlan7";
  out.cidr = Ipv4Cidr(at(0), 24);
  out.server_id = at(2);
  out.router = at(1);
  out.pools = std::move(pools);
  out.client_classes.resize(2);
  out.client_classes[0].name = "phones";
  out.client_classes[1].name = "pxe";
  return out;
}
Pool pool(unsigned first, unsigned last, std::vector<std::string> classes = {}) {
  return {{at(first), at(last)}, std::move(classes), {}};
}

/// A subnet of ten addresses and one of three on the same link.
std::vector<Subnet> shared() {
  Subnet second;
  second.name = "hcp/vlan7/198.51.100.0/24";
  second.cidr = Ipv4Cidr(far(0), 24);
  second.server_id = at(2);
  second.router = far(1);
  second.pools = {{{far(10), far(12)}}};
  second.lease_time = 600s;
  std::vector<Subnet> out = {subnet({pool(50, 59)}), second};
  for (Subnet& one : out) one.shared_network = "hcp/vlan7";
  return out;
}

/// Offer, request, commit.
Ipv4 lease(Allocator& allocator, const Client& client, Allocator::Time now = kNow) {
  const auto address = allocator.offer(client, {}, now);
  EXPECT_TRUE(address);
  if (!address) return {};
  allocator.bind(client, *address, {}, now);
  allocator.confirm(client.mac, *address);
  return *address;
}

/// Clients that nobody knows yet, until nothing is left.
std::set<Ipv4> lease_all(Allocator& allocator, const ClassSet& classes = {}, Allocator::Time now = kNow) {
  std::set<Ipv4> given;
  for (unsigned n = 1000; const auto address = allocator.offer({test_mac(n), classes}, {}, now); ++n) {
    EXPECT_TRUE(given.insert(*address).second) << address->to_string();
    allocator.bind({test_mac(n), classes}, *address, {}, now);
    allocator.confirm(test_mac(n), *address);
  }
  return given;
}

bool is_open(const Pool& pool, const ClassSet& classes) {
  const auto has = [&](const char* name) { return std::ranges::count(pool.client_classes, name) > 0; };
  return pool.client_classes.empty() || (has("phones") && (classes & kPhones).any()) ||
         (has("pxe") && (classes & kPxe).any());
}

TEST(DhcpAllocatorPools, GivesFromThePoolsInTheirOrder) {
  Allocator allocator(subnet({pool(50, 51), pool(20, 21)}));
  std::vector<Ipv4> given;
  for (unsigned n = 1; n <= 4; ++n) given.push_back(lease(allocator, test_mac(n)));
  EXPECT_EQ(given, (std::vector{at(50), at(51), at(20), at(21)}));
  EXPECT_FALSE(allocator.offer(test_mac(9), {}, kNow));
}

TEST(DhcpAllocatorPools, UsesTheAddressOutOfUseLongestOfAllPoolsAgain) {
  Allocator allocator(subnet({pool(50, 50), pool(20, 20)}));
  lease(allocator, test_mac(1));
  lease(allocator, test_mac(2));
  allocator.release(test_mac(2), at(20), kNow + 1s);
  allocator.release(test_mac(1), at(50), kNow + 2s);
  EXPECT_EQ(lease(allocator, test_mac(3), kNow + 3s), at(20));
  EXPECT_EQ(lease(allocator, test_mac(4), kNow + 3s), at(50));
}

TEST(DhcpAllocatorPools, NeverGivesWhatIsExcluded) {
  Subnet holes = subnet({pool(50, 59), pool(10, 12)});
  holes.exclusions = {{at(52), at(53)}, {at(53), at(54)}, {at(59), at(59)}, {at(0), at(10)}, {at(200), at(210)}};
  Allocator allocator(holes);
  EXPECT_EQ(allocator.usage().pool_size, 6U + 2U);
  EXPECT_EQ(allocator.claim(test_mac(1), at(53)), Claim::outside);
  EXPECT_EQ(allocator.offer(test_mac(1), at(53), kNow), at(50)) << "nor by naming it";
  allocator.withdraw(test_mac(1));
  EXPECT_EQ(lease_all(allocator), (std::set{at(50), at(51), at(55), at(56), at(57), at(58), at(11), at(12)}));
}

TEST(DhcpAllocatorPools, ReservationMayLieInAnExclusion) {
  Subnet holes = subnet({pool(50, 59)});
  holes.exclusions = {{at(50), at(54)}};
  holes.reservations = {{test_mac(1), at(52), "db"}};
  Allocator allocator(holes);
  EXPECT_EQ(lease(allocator, test_mac(1)), at(52));
  EXPECT_EQ(allocator.claim(test_mac(1), at(52)), Claim::own) << "and is renewed";
  EXPECT_EQ(allocator.usage().pool_size, 5U);
}

TEST(DhcpAllocatorPools, ExclusionOfAnAddressInUseLetsTheLeaseEnd) {
  Allocator allocator(subnet({pool(50, 51)}));
  lease(allocator, test_mac(1));
  Subnet holes = subnet({pool(50, 51)});
  holes.exclusions = {{at(50), at(50)}};
  allocator.reconfigure(holes);
  EXPECT_EQ(allocator.claim(test_mac(1), at(50)), Claim::retired);
  EXPECT_EQ(lease(allocator, test_mac(2)), at(51));
  EXPECT_EQ(allocator.expire(kNow + 3600s, 10).size(), 2U);
  EXPECT_EQ(allocator.claim(test_mac(1), at(50)), Claim::outside);
  EXPECT_EQ(allocator.offer(test_mac(3), {}, kNow + 3600s), at(51)) << "never 50";
  EXPECT_EQ(allocator.offer(test_mac(4), {}, kNow + 3600s), std::nullopt);
}

TEST(DhcpAllocatorPools, GuardedPoolIsForItsClassesAloneAndTheirFirstChoice) {
  Allocator allocator(subnet({pool(50, 59), pool(20, 20, {"phones"}), pool(30, 30, {"pxe", "phones"})}));
  EXPECT_EQ(allocator.claim({test_mac(1), kPhones}, at(20)), Claim::free);
  EXPECT_EQ(allocator.claim({test_mac(1), kPxe}, at(20)), Claim::outside);
  EXPECT_EQ(allocator.claim({test_mac(1), kPxe}, at(30)), Claim::free);
  EXPECT_EQ(allocator.claim(test_mac(1), at(30)), Claim::outside);
  EXPECT_EQ(allocator.offer(test_mac(1), at(20), kNow), at(50));
  EXPECT_EQ(lease(allocator, {test_mac(2), kPhones}), at(20));
  EXPECT_EQ(lease(allocator, {test_mac(3), kPhones}), at(30));
  EXPECT_EQ(lease(allocator, {test_mac(4), kPhones}), at(51)) << "then like everybody";
  EXPECT_EQ(lease_all(allocator).size(), 8U) << "the others never get the two";
}

TEST(DhcpAllocatorPools, PoolOfAClassThatIsNotThereIsOpenToNobody) {
  Allocator allocator(subnet({pool(20, 29, {"unknown"})}));
  EXPECT_FALSE(allocator.offer({test_mac(1), kPhones | kPxe}, {}, kNow));
}

TEST(DhcpAllocatorPools, ClientThatLeavesItsClassKeepsTheLeaseAndGetsAnotherAddress) {
  Allocator allocator(subnet({pool(50, 59), pool(20, 20, {"pxe"})}));
  EXPECT_EQ(lease(allocator, {test_mac(1), kPxe}), at(20));
  EXPECT_EQ(allocator.claim(test_mac(1), at(20)), Claim::retired);
  EXPECT_EQ(allocator.offer(test_mac(1), at(20), kNow), at(50));
  const auto events = allocator.bind(test_mac(1), at(50), {}, kNow);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].lease.address, at(20));
  allocator.confirm(test_mac(1), at(50));
  EXPECT_EQ(allocator.offer({test_mac(2), kPxe}, {}, kNow), at(20)) << "is used again";
}

// Firmware that says what it is in its DISCOVER and not in its REQUEST would ask for ever.
TEST(DhcpAllocatorPools, OfferIsTheClientsEvenIfItIsOfTheClassNoMore) {
  Allocator allocator(subnet({pool(50, 59), pool(20, 20, {"pxe"})}));
  EXPECT_EQ(allocator.offer({test_mac(1), kPxe}, {}, kNow), at(20));
  EXPECT_EQ(allocator.claim(test_mac(1), at(20)), Claim::own);
  EXPECT_EQ(allocator.claim(test_mac(2), at(20)), Claim::outside);
  allocator.bind(test_mac(1), at(20), {}, kNow);
  allocator.confirm(test_mac(1), at(20));
  EXPECT_EQ(allocator.claim(test_mac(1), at(20)), Claim::retired) << "to be renewed the class counts";
  EXPECT_EQ(allocator.offer({test_mac(1), kPxe}, {}, kNow), at(20));
  EXPECT_EQ(allocator.claim(test_mac(1), at(20)), Claim::own) << "and when it boots again";
  EXPECT_EQ(allocator.usage().offered, 0U) << "it is bound";
  EXPECT_EQ(allocator.offer(test_mac(1), {}, kNow), at(50)) << "but a new offer is of today's classes";
  allocator.offer({test_mac(3), kPxe}, {}, kNow);
  allocator.reconfigure(subnet({pool(60, 69)}));
  EXPECT_EQ(allocator.claim({test_mac(3), kPxe}, at(51)), Claim::outside) << "nor outside today's pools";
}

// A lease may end while its address is offered to its client again.
TEST(DhcpAllocatorPools, LeaseThatEndsWhileItIsOfferedGoesToNobodyElse) {
  Allocator allocator(subnet({pool(20, 20, {"pxe"})}));
  lease(allocator, {test_mac(1), kPxe});
  EXPECT_EQ(allocator.offer({test_mac(1), kPxe}, {}, kNow + 3595s), at(20));
  allocator.expire(kNow + 3600s, 10);
  EXPECT_FALSE(allocator.offer({test_mac(2), kPxe}, {}, kNow + 3600s));
  EXPECT_EQ(allocator.claim({test_mac(1), kPxe}, at(20)), Claim::own);
  allocator.expire(kNow + 3605s, 10);
  EXPECT_EQ(allocator.offer({test_mac(2), kPxe}, {}, kNow + 3605s), at(20));
}

TEST(DhcpAllocatorPools, EndedLeaseOfAGuardedPoolGoesToNobodyElse) {
  Allocator allocator(subnet({pool(50, 50), pool(20, 20, {"pxe"})}));
  lease(allocator, {test_mac(1), kPxe});
  lease(allocator, test_mac(2));
  allocator.release(test_mac(1), at(20), kNow);
  EXPECT_FALSE(allocator.offer(test_mac(3), {}, kNow));
  EXPECT_EQ(allocator.offer({test_mac(3), kPxe}, {}, kNow), at(20));
}

TEST(DhcpAllocatorPools, EndedLeasesOutsideThePoolsMakeRoom) {
  Allocator allocator(subnet({pool(50, 59)}), {.max_leases = 2});
  lease(allocator, test_mac(1));
  lease(allocator, test_mac(2));
  allocator.reconfigure(subnet({pool(80, 89)}));
  allocator.release(test_mac(1), at(50), kNow);
  EXPECT_EQ(lease(allocator, test_mac(3)), at(80));
  EXPECT_FALSE(allocator.offer(test_mac(4), {}, kNow));
}

TEST(DhcpAllocatorPools, PoolThatShrinksKeepsItsLeasesUntilTheyEnd) {
  Allocator allocator(subnet({pool(50, 52)}));
  for (unsigned n = 1; n <= 3; ++n) lease(allocator, test_mac(n));
  allocator.reconfigure(subnet({pool(52, 52), pool(90, 90)}));
  EXPECT_EQ(allocator.claim(test_mac(1), at(50)), Claim::retired);
  EXPECT_EQ(allocator.claim(test_mac(3), at(52)), Claim::own);
  EXPECT_EQ(lease(allocator, test_mac(4)), at(90));
  EXPECT_EQ(allocator.leases().size(), 4U);
  while (!allocator.expire(kNow + 3600s, 10).empty()) continue;
  EXPECT_EQ(lease_all(allocator, kNone, kNow + 3600s), (std::set{at(52), at(90)}));
}

TEST(DhcpAllocatorPools, CountsWhatIsInUseInEachPool) {
  Subnet counted = subnet({pool(50, 59), pool(20, 29, {"pxe"})});
  counted.exclusions = {{at(55), at(56)}};
  counted.reservations = {{test_mac(7), at(57), ""}, {test_mac(8), at(200), ""}};
  Allocator allocator(counted);
  for (unsigned n = 1; n <= 3; ++n) lease(allocator, test_mac(n));
  lease(allocator, {test_mac(4), kPxe});
  lease(allocator, test_mac(7));
  lease(allocator, test_mac(8));
  allocator.decline(test_mac(1), at(50), kNow);
  allocator.offer(test_mac(5), {}, kNow);
  const auto pools = allocator.pools(0);
  ASSERT_EQ(pools.size(), 2U);
  EXPECT_EQ(pools[0].range, (Ipv4Range{at(50), at(59)}));
  EXPECT_EQ(pools[0].usage.pool_size, 7U) << "without two excluded and one reserved";
  EXPECT_EQ(pools[0].usage.bound, 2U);
  EXPECT_EQ(pools[0].usage.offered, 1U);
  EXPECT_EQ(pools[0].usage.declined, 1U);
  EXPECT_EQ(pools[1].usage.bound, 1U);
  EXPECT_EQ(allocator.usage(0).bound, 5U) << "reservations too";
  EXPECT_EQ(allocator.usage(0).pool_size, 17U);
  counted.pools = {pool(20, 29, {"pxe"})};
  allocator.reconfigure(counted);
  EXPECT_EQ(allocator.pools(0).at(0).usage.bound, 1U);
  EXPECT_EQ(allocator.usage(0).bound, 5U) << "what is outside today's pools is still in use";
}

// RFC 2131 has no word for it; ISC and Kea call it a shared network.
TEST(DhcpAllocatorPools, SharedNetworkGivesFromTheNextSubnetWhenTheFirstIsFull) {
  Allocator allocator(shared());
  const std::set<Ipv4> given = lease_all(allocator);
  EXPECT_EQ(given.size(), 13U);
  EXPECT_TRUE(given.contains(far(12)));
  EXPECT_EQ(allocator.usage(0).bound, 10U);
  EXPECT_EQ(allocator.usage(1).bound, 3U);
  const auto leases = allocator.leases();
  EXPECT_EQ(leases.front().subnet, "hcp/vlan7");
  EXPECT_EQ(leases.back().subnet, "hcp/vlan7/198.51.100.0/24");
  EXPECT_EQ(leases.back().expires, kNow + 600s) << "each has its own lease time";
}

TEST(DhcpAllocatorPools, SharedNetworkHasOneLeasePerClient) {
  Allocator allocator(shared());
  EXPECT_EQ(lease(allocator, test_mac(1)), at(50));
  EXPECT_EQ(allocator.claim(test_mac(1), far(11)), Claim::free);
  const auto events = allocator.bind(test_mac(1), far(11), {}, kNow);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind, LeaseEventKind::released);
  EXPECT_EQ(events[0].lease.address, at(50));
}

TEST(DhcpAllocatorPools, SharedNetworkGivesNoAddressOfItsOwn) {
  std::vector<Subnet> all = shared();
  all[1].server_id = far(11);
  all[1].pools = {{{far(0), far(255)}}};
  all[1].reservations = {{test_mac(1), far(77), ""}};
  Allocator allocator(all);
  const std::set<Ipv4> given = lease_all(allocator);
  for (const unsigned last : {0U, 1U, 11U, 77U, 255U}) EXPECT_FALSE(given.contains(far(last))) << last;
  EXPECT_EQ(given.size(), 10U + 251U);
  EXPECT_EQ(lease(allocator, test_mac(1)), far(77)) << "reserved in the second one";
}

TEST(DhcpAllocatorPools, RestoresTheLeasesOfAllSubnets) {
  const auto stored = [](Ipv4 address, unsigned n, std::chrono::seconds started) {
    Lease out;
    out.address = address;
    out.mac = test_mac(n);
    out.started = kNow + started;
    out.expires = kNow + 500s;
    return out;
  };
  Allocator allocator(shared());
  const auto ended =
      allocator.restore({stored(far(10), 1, -5s), stored(at(50), 1, -9s), stored(far(11), 2, -5s)}, kNow);
  ASSERT_EQ(ended.size(), 1U) << "one client, one lease on a link";
  EXPECT_EQ(ended[0].address, at(50));
  EXPECT_EQ(allocator.offer(test_mac(1), {}, kNow), far(10));
  EXPECT_EQ(allocator.offer(test_mac(2), {}, kNow), far(11));
  EXPECT_EQ(allocator.offer(test_mac(3), {}, kNow), at(51));
}

// Overlapping pools in no order: the first one has the address, and the counts add up.
TEST(DhcpAllocatorPools, OverlappingPoolsInAnyOrderShareTheirAddresses) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Pool> pools;
    for (int n = 0; n < 8; ++n) {
      const unsigned first = 3 + static_cast<unsigned>(random() % 240);
      pools.push_back(pool(first, std::min(254U, first + static_cast<unsigned>(random() % 40))));
    }
    std::vector<std::uint64_t> sizes(pools.size());
    for (unsigned last = 3; last < 255; ++last) {
      const auto owner = std::ranges::find_if(pools, [&](const Pool& p) { return p.range.contains(at(last)); });
      if (owner != pools.end()) ++sizes[static_cast<std::size_t>(owner - pools.begin())];
    }
    const auto usages = Allocator(subnet(pools)).pools(0);
    for (std::size_t n = 0; n < sizes.size(); ++n) ASSERT_EQ(usages.at(n).usage.pool_size, sizes[n]) << round;
  }
}

// As many pools as there may be take no time that a reload would be noticed by.
TEST(DhcpAllocatorPools, ThousandsOfPoolsAreReadAtOnce) {
  std::vector<Pool> pools;
  for (std::uint32_t n = 0; n < kMaxPools; ++n) {
    const Ipv4 first(Ipv4(10, 0, 0, 0).value() + (static_cast<std::uint32_t>(kMaxPools) - n) * 16);
    pools.push_back({{first, Ipv4(first.value() + 7)}, {}, {}});
  }
  Subnet many = subnet(std::move(pools));
  many.cidr = Ipv4Cidr(Ipv4(10, 0, 0, 0), 8);
  const std::clock_t before = std::clock();  // of the processor: others may be using it too
  EXPECT_EQ(Allocator(many).usage().pool_size, kMaxPools * 8);
  EXPECT_LT(std::clock() - before, 2 * CLOCKS_PER_SEC);
}

TEST(DhcpAllocatorPools, HugePoolsWithHolesCostNothing) {
  Subnet huge = subnet({{{Ipv4(10, 0, 0, 0), Ipv4(10, 255, 255, 255)}}});
  huge.cidr = Ipv4Cidr(Ipv4(10, 0, 0, 0), 8);
  huge.server_id = Ipv4(10, 0, 0, 2);
  huge.router.reset();
  huge.exclusions = {{Ipv4(10, 0, 0, 0), Ipv4(10, 127, 255, 255)}};
  Allocator allocator(huge);
  EXPECT_EQ(allocator.usage().pool_size, (1U << 23) - 1);
  EXPECT_EQ(lease(allocator, test_mac(1)), Ipv4(10, 128, 0, 0));
  const std::clock_t before = std::clock();  // of the processor: others may be using it too
  for (int n = 0; n < 1000; ++n) allocator.reconfigure(huge);
  EXPECT_LT(std::clock() - before, 2 * CLOCKS_PER_SEC) << "not a step per address";
}

TEST(DhcpAllocatorPools, PoolMayEndAtTheLastAddressOfAll) {
  Subnet edge = subnet({{{Ipv4(255, 255, 255, 250), Ipv4(255, 255, 255, 255)}}});
  edge.cidr = Ipv4Cidr(Ipv4(255, 255, 255, 0), 24);
  edge.exclusions = {{Ipv4(255, 255, 255, 254), Ipv4(255, 255, 255, 255)}};
  EXPECT_EQ(Allocator(edge).usage().pool_size, 4U);
}

// Random clients whose classes change, and pools that change, on one or two subnets; what they send reaches the disk or
// not: nobody gets what is not open to it, no address has two owners, and none gets lost.
TEST(DhcpAllocatorPools, NeverGivesOneAddressTwiceWhileThePoolsChange) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    const std::vector<Subnet> layouts = [] {
      std::vector<Subnet> out = {subnet({pool(50, 60), pool(20, 26, {"phones"}), pool(30, 34, {"pxe", "phones"})}),
                                 subnet({pool(55, 65), pool(20, 26)}), subnet({pool(30, 60, {"pxe"}), pool(61, 65)})};
      out[1].exclusions = {{at(57), at(60)}};
      out[2].reservations = {{test_mac(7), at(62), ""}};
      return out;
    }();
    const auto link = [&](std::size_t n) { return std::vector{layouts[n], shared()[1]}; };
    std::size_t layout = 0;
    Allocator allocator(link(layout));
    std::map<Ipv4, Allocator::Time> resting;
    std::map<MacAddress, std::pair<Ipv4, Allocator::Time>> held;
    Allocator::Time now = kNow;
    for (int step = 0; step < 3000; ++step) {
      const unsigned n = pick(40);
      const unsigned kind = pick(5) == 0 ? pick(4) : n % 4;
      const Client client{test_mac(n), kind == 0 ? kPhones : kind == 1 ? kPxe : kNone};
      now += std::chrono::seconds(pick(40) == 0 ? pick(2000) : pick(3));
      while (!allocator.expire(now, 100).empty()) continue;
      std::erase_if(held, [&](const auto& entry) { return entry.second.second <= now; });
      if (pick(100) == 0) {
        layout = pick(3);
        allocator.reconfigure(link(layout));
      }
      std::erase_if(resting, [&](const auto& entry) { return entry.second <= now; });
      if (pick(60) == 0 && held.contains(client.mac) && allocator.decline(client.mac, held[client.mac].first, now)) {
        resting[held[client.mac].first] = now + 3600s;
        held.erase(client.mac);
        continue;
      }
      if (pick(3) == 0) {
        if (held.contains(client.mac) && allocator.release(client.mac, held[client.mac].first, now))
          held.erase(client.mac);
        continue;
      }
      const auto address = allocator.offer(client, pick(3) == 0 ? std::optional(at(15 + pick(60))) : std::nullopt, now);
      if (!address || pick(4) == 0) continue;
      ASSERT_FALSE(resting.contains(*address)) << address->to_string();
      const std::vector<Subnet> all = link(layout);
      const Subnet& today = all[all[1].cidr.contains(*address) ? 1 : 0];
      const bool is_reserved = std::ranges::any_of(
          today.reservations, [&](const Reservation& r) { return r.address == *address && r.mac == client.mac; });
      const auto open = std::ranges::find_if(today.pools, [&](const Pool& p) { return p.range.contains(*address); });
      ASSERT_NE(open, today.pools.end());
      ASSERT_TRUE(std::ranges::none_of(today.exclusions, [&](const Ipv4Range& r) { return r.contains(*address); }));
      ASSERT_TRUE(is_reserved || is_open(*open, client.classes)) << address->to_string();
      const auto events = allocator.bind(client, *address, {}, now);
      if (pick(6) == 0) {
        allocator.revert(client.mac, *address, now);
        const bool is_renewal = held.contains(client.mac) && held[client.mac].first == *address;
        if (is_renewal) held[client.mac].second = events.back().lease.expires;  // it lasts longer in memory
        ASSERT_EQ(allocator.usage().bound, held.size()) << "who had an address has it still";
        continue;
      }
      allocator.confirm(client.mac, *address);
      for (const auto& [other, lease] : held)
        ASSERT_FALSE(other != client.mac && lease.first == *address) << address->to_string() << " at step " << step;
      held[client.mac] = {*address, events.back().lease.expires};
      std::uint64_t bound = 0;
      for (const Allocator::PoolUsage& p : allocator.pools(0)) bound += p.usage.bound;
      ASSERT_LE(bound, allocator.usage().bound);
      ASSERT_EQ(allocator.usage().bound, held.size());
    }
    now += 100'000s;
    while (allocator.next_due() && *allocator.next_due() <= now) allocator.expire(now, 100);
    allocator.reconfigure(link(0));
    EXPECT_EQ(lease_all(allocator, kPhones, now).size(), 11U + 7U + 5U + 3U);
  }
}

}  // namespace
}  // namespace hcpnet::dhcp
