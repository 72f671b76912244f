// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/dns/zone.hpp>

#include "dns/dns_support.hpp"

namespace hcpnet::dns {
namespace {

using test::a_record;
using test::name;
using Outcome = Zone::Outcome;

Zone blue_zone() {
  return Zone(
      name("blue.example.com"),
      {a_record("api.blue.example.com", "192.0.2.4"), a_record("*.apps.blue.example.com", "192.0.2.200"),
       a_record("console.apps.blue.example.com", "192.0.2.201"), a_record("a.b.c.blue.example.com", "192.0.2.9")});
}

Outcome outcome(const Zone& zone, std::string_view text, Type type = Type::a) {
  return zone.find(name(text), type).outcome;
}

TEST(DnsZone, HasASoaOfItsOwn) {
  const Zone zone(name("blue.example.com"), {}, 42);
  EXPECT_EQ(zone.soa().owner, name("blue.example.com"));
  EXPECT_EQ(zone.soa().ttl, 30U);
  EXPECT_EQ(zone.negative_ttl(), 30U);
  // mname, rname, then serial 42, refresh 3600, retry 600, expire 86400, minimum 30
  const std::string expected = std::string("\2ns\4blue\7example\3com\0\12hostmaster\4blue\7example\3com\0", 50) +
                               std::string("\0\0\0\52\0\0\16\20\0\0\2\130\0\1\121\200\0\0\0\36", 20);
  ASSERT_EQ(zone.soa().rdata.size(), 1U);
  EXPECT_EQ(zone.soa().rdata.front(), expected);
  EXPECT_EQ(outcome(zone, "blue.example.com", Type::soa), Outcome::answer);
  EXPECT_EQ(outcome(zone, "blue.example.com", Type::a), Outcome::nodata);
  EXPECT_EQ(outcome(zone, "x.blue.example.com", Type::a), Outcome::nxdomain);
}

TEST(DnsZone, AGivenSoaIsKept) {
  RRset soa = Zone(name("example"), {}, 7).soa();
  soa.ttl = 300;
  soa.rdata.front().back() = 60;
  const Zone zone(name("example"), {soa}, 8);
  EXPECT_EQ(zone.rrsets().size(), 1U);
  EXPECT_EQ(zone.soa().ttl, 300U);
  EXPECT_EQ(zone.negative_ttl(), 60U) << "the smaller of TTL and minimum";
}

TEST(DnsZone, FindsExactNamesInAnyCase) {
  const Zone zone = blue_zone();
  const auto found = zone.find(name("API.Blue.example.COM"), Type::a);
  ASSERT_EQ(found.outcome, Outcome::answer);
  EXPECT_EQ(found.rrset->rdata, std::vector<std::string>{std::string("\xc0\0\2\4", 4)});
  EXPECT_FALSE(found.from_wildcard);
  EXPECT_EQ(outcome(zone, "api.blue.example.com", Type::aaaa), Outcome::nodata);
  EXPECT_EQ(outcome(zone, "x.api.blue.example.com"), Outcome::nxdomain);
}

TEST(DnsZone, WildcardsReachAnyDepthButNotAcrossACloserName) {
  const Zone zone = blue_zone();
  for (const char* text : {"x.apps.blue.example.com", "a.b.c.d.apps.blue.example.com"}) {
    const auto found = zone.find(name(text), Type::a);
    ASSERT_EQ(found.outcome, Outcome::answer) << text;
    EXPECT_TRUE(found.from_wildcard);
    EXPECT_EQ(found.rrset->rdata.front(), std::string("\xc0\0\2\xc8", 4));
  }
  EXPECT_EQ(outcome(zone, "x.apps.blue.example.com", Type::aaaa), Outcome::nodata);
  EXPECT_EQ(outcome(zone, "apps.blue.example.com"), Outcome::nodata) << "exists: the wildcard is below it";
  EXPECT_EQ(outcome(zone, "y.console.apps.blue.example.com"), Outcome::nxdomain);
  EXPECT_FALSE(zone.find(name("*.apps.blue.example.com"), Type::a).from_wildcard) << "asked literally it is itself";
  EXPECT_EQ(outcome(zone, "x.*.apps.blue.example.com"), Outcome::nxdomain) << "RFC 4592 section 2.2.1";
}

TEST(DnsZone, NamesBetweenExistWithoutData) {
  const Zone zone = blue_zone();
  EXPECT_EQ(outcome(zone, "c.blue.example.com"), Outcome::nodata);
  EXPECT_EQ(outcome(zone, "b.c.blue.example.com"), Outcome::nodata);
  EXPECT_EQ(outcome(zone, "x.b.c.blue.example.com"), Outcome::nxdomain);
}

TEST(DnsZone, AWildcardThatIsItselfEmptyAnswersNodata) {
  const Zone zone(name("example"), {a_record("f.*.wild.example", "192.0.2.8")});
  EXPECT_EQ(outcome(zone, "x.wild.example"), Outcome::nodata);
  EXPECT_EQ(outcome(zone, "f.x.wild.example"), Outcome::nodata);
}

TEST(DnsZone, AnApexMayBeTheNameItselfAWildcardOrTheRoot) {
  const Zone own(name("oauth.apps.mgmt.example"), {a_record("oauth.apps.mgmt.example", "192.0.2.4")});
  EXPECT_EQ(outcome(own, "oauth.apps.mgmt.example"), Outcome::answer);
  EXPECT_EQ(outcome(own, "oauth.apps.mgmt.example", Type::aaaa), Outcome::nodata);
  EXPECT_EQ(outcome(own, "x.oauth.apps.mgmt.example"), Outcome::nxdomain);
  const Zone star(name("*.example"), {a_record("*.example", "192.0.2.4")});
  EXPECT_EQ(outcome(star, "*.example"), Outcome::answer);
  const Zone root(Name(), {a_record("a.example", "192.0.2.4"), a_record("*", "192.0.2.5")});
  EXPECT_EQ(outcome(root, "a.example"), Outcome::answer);
  EXPECT_EQ(outcome(root, "b.example"), Outcome::nxdomain) << "example is the closest encloser";
  EXPECT_EQ(outcome(root, "b.other"), Outcome::answer);
  EXPECT_EQ(outcome(root, "."), Outcome::nodata);
}

TEST(DnsZone, ACnameAnswersForEveryType) {
  const Zone zone(name("example"), {{name("www.example"), Type::cname, 30, {std::string("\1x\0", 3)}}});
  const auto found = zone.find(name("www.example"), Type::aaaa);
  ASSERT_EQ(found.outcome, Outcome::answer);
  EXPECT_EQ(found.rrset->type, Type::cname);
}

TEST(DnsZone, SetsOfTheSameNameAndTypeBecomeOne) {
  const Zone zone(name("example"), {a_record("b.example", "192.0.2.9", 60), a_record("a.example", "192.0.2.1"),
                                    a_record("B.example", "192.0.2.2", 20), a_record("b.example", "192.0.2.9")});
  ASSERT_EQ(zone.rrsets().size(), 3U) << "SOA, a, b";
  EXPECT_EQ(zone.rrsets()[1].owner, name("a.example"));
  EXPECT_EQ(zone.rrsets()[2].rdata, (std::vector<std::string>{{"\xc0\0\2\2", 4}, {"\xc0\0\2\x09", 4}}));
  EXPECT_EQ(zone.rrsets()[2].ttl, 20U);
}

TEST(DnsZone, TenThousandNamesAreAllFound) {
  std::vector<RRset> rrsets;
  for (std::uint32_t i = 0; i < 10'000; ++i)
    rrsets.push_back(
        make_a(name("host" + std::to_string(i) + ".rack" + std::to_string(i % 97) + ".example"), Ipv4(i), 30));
  const Zone zone(name("example"), std::move(rrsets));
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const auto found =
        zone.find(name("HOST" + std::to_string(i) + ".rack" + std::to_string(i % 97) + ".example"), Type::a);
    ASSERT_EQ(found.outcome, Outcome::answer) << i;
    ASSERT_EQ(ByteReader(as_bytes(found.rrset->rdata.front())).u32(), i);
  }
  EXPECT_EQ(outcome(zone, "host10000.rack9.example"), Outcome::nxdomain);
  EXPECT_EQ(outcome(zone, "rack9.example"), Outcome::nodata);
}

}  // namespace
}  // namespace hcpnet::dns
