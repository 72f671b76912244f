// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/ra/advertisement.hpp>
#include <hcpnet/ra/schedule.hpp>

#include "dhcp6/packets6.hpp"

namespace hcpnet::ra {
namespace {

using test::Bytes6;
using test::from_hex6;
using namespace std::chrono_literals;

TEST(Advertisement, GoldenPacket) {
  Advertisement a;
  a.prefix = parse_cidr("2001:db8::/64").value();
  a.mtu = 1400;
  a.dns_servers = {parse_ipv6("2001:db8::53").value()};
  a.domain_search = {"hc.example.com"};
  EXPECT_EQ(encode_advertisement(a), from_hex6("86 00 0000 00 c0 0000 00000000 00000000"
                                               "03 04 40 80 00278d00 00093a80 00000000 20010db8000000000000000000000000"
                                               "05 01 0000 00000578"
                                               "19 03 0000 00000708 20010db8000000000000000000000053"
                                               "1f 03 0000 00000708 02686307 6578616d706c6503636f6d00"));
}

TEST(Advertisement, FlagsAreSetOneByOne) {
  Advertisement a;
  a.prefix = parse_cidr("2001:db8::/64").value();
  a.managed = false;
  a.on_link = false;
  a.autonomous = true;
  a.router_lifetime = 1800s;
  const Bytes6 bytes = encode_advertisement(a);
  ASSERT_EQ(bytes.size(), 48u);
  EXPECT_EQ(bytes[5], 0x40);
  EXPECT_EQ(bytes[6] << 8 | bytes[7], 1800);
  EXPECT_EQ(bytes[19], 0x40);
}

TEST(Solicitation, IsHeldAgainstTheRfc) {  // RFC 4861 section 6.1.1
  const Ipv6 host = parse_ipv6("fe80::1").value();
  const Bytes6 plain = from_hex6("85 00 1234 00000000");
  const Bytes6 with_source = from_hex6("85 00 1234 00000000 01 01 020000000101");
  EXPECT_TRUE(is_valid_solicitation(plain, 255, host));
  EXPECT_TRUE(is_valid_solicitation(plain, 255, Ipv6()));
  EXPECT_TRUE(is_valid_solicitation(with_source, 255, host));
  EXPECT_FALSE(is_valid_solicitation(with_source, 255, Ipv6())) << "no source, so no source link-layer address";
  EXPECT_FALSE(is_valid_solicitation(plain, 254, host)) << "from beyond the link";
  EXPECT_FALSE(is_valid_solicitation(from_hex6("85 01 1234 00000000"), 255, host)) << "code";
  EXPECT_FALSE(is_valid_solicitation(from_hex6("86 00 1234 00000000"), 255, host)) << "type";
  EXPECT_FALSE(is_valid_solicitation(from_hex6("85 00 1234 00000000 0e 00"), 255, host)) << "an option of length 0";
  for (std::size_t n = 0; n < with_source.size(); ++n) {
    if (n == plain.size()) continue;
    EXPECT_FALSE(is_valid_solicitation(ByteView(with_source).first(n), 255, host)) << n;
  }
}

class ScheduleTest : public ::testing::Test {
 protected:
  Schedule::Time at(std::chrono::milliseconds after) const { return start + after; }
  double random = 0;
  Schedule::Time start{};
  Schedule schedule{start, [this] { return random; }};
};

TEST_F(ScheduleTest, BeginsQuicklyThenTakesItsTime) {
  EXPECT_EQ(schedule.next(), start);
  schedule.on_sent(at(0ms));
  EXPECT_EQ(schedule.next(), at(16s));
  schedule.on_sent(at(16s));
  EXPECT_EQ(schedule.next(), at(32s));
  schedule.on_sent(at(32s));
  EXPECT_EQ(schedule.next(), at(232s));
  random = 0.5;
  schedule.on_sent(at(232s));
  EXPECT_EQ(schedule.next(), at(632s));
}

TEST_F(ScheduleTest, AnswersWithinHalfASecond) {
  schedule.on_sent(at(0ms));
  random = 0.5;
  schedule.on_solicitation(at(10s));
  EXPECT_EQ(schedule.next(), at(10'250ms));
}

TEST_F(ScheduleTest, ManySolicitationsCostOneAdvertisementInThreeSeconds) {
  schedule.on_sent(at(10s));
  for (int i = 1; i < 100; ++i) schedule.on_solicitation(at(10s + i * 10ms));
  EXPECT_EQ(schedule.next(), at(13s));
}

TEST_F(ScheduleTest, AnEarlierTurnIsTheAnswer) {
  schedule.on_sent(at(0ms));
  random = 0.9;
  schedule.on_solicitation(at(15'900ms));
  EXPECT_EQ(schedule.next(), at(16s));
}

}  // namespace
}  // namespace hcpnet::ra
