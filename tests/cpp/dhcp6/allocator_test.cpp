// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <hcpnet/dhcp6/allocator.hpp>
#include <optional>
#include <utility>

namespace hcpnet::dhcp6 {
namespace {

using namespace std::chrono_literals;

constexpr Allocator::Time kNow{1'700'000'000s};

/// One address for everybody, so that it is seen when it is free.
Subnet one_address() {
  Subnet out;
  out.name = "hcp/vlan7";
  out.cidr = parse_cidr("2001:db8::/64").value();
  out.pool.first = out.pool.last = parse_ipv6("2001:db8::10").value();
  return out;
}

Client client(const char* duid) {
  Client out;
  out.duid = parse_duid(duid).value();
  return out;
}

AllocatorLimits with_delay() {
  AllocatorLimits limits;
  limits.reuse_delay = 1s;
  return limits;
}

TEST(Dhcp6ReuseDelay, ALeaseEndsThatMuchAfterItExpires) {
  Allocator allocator(one_address(), with_delay());
  const auto address = allocator.offer(client("000401"), {}, kNow);
  ASSERT_TRUE(address);
  allocator.confirm(allocator.bind(client("000401"), *address, {}, kNow).back().lease);
  EXPECT_TRUE(allocator.expire(kNow + 3600s, 10).empty());
  EXPECT_EQ(allocator.offer(client("000402"), {}, kNow + 3600s), std::nullopt);
  EXPECT_EQ(allocator.next_due(), kNow + 3601s);
  const auto events = allocator.expire(kNow + 3601s, 10);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].lease.expires, kNow + 3600s) << "as its client was told";
  EXPECT_EQ(allocator.offer(client("000402"), {}, kNow + 3601s), address);
}

TEST(Dhcp6ReuseDelay, AnOfferEndsWithoutIt) {
  Allocator allocator(one_address(), with_delay());
  allocator.offer(client("000401"), {}, kNow);
  EXPECT_EQ(allocator.next_due(), kNow + AllocatorLimits{}.offer_hold);
}

TEST(Dhcp6ReuseDelay, ItCountsForWhatWasStoredToo) {
  Lease lease;
  lease.address = one_address().pool.first;
  lease.client = client("000401");
  lease.started = kNow;
  lease.expires = kNow + 3600s;
  for (const auto& [after, is_free] : {std::pair(3600s, false), std::pair(3601s, true)}) {
    Allocator allocator(one_address(), with_delay());
    allocator.restore({lease}, kNow + after);
    EXPECT_EQ(allocator.offer(client("000402"), {}, kNow + after).has_value(), is_free);
  }
}

}  // namespace
}  // namespace hcpnet::dhcp6
