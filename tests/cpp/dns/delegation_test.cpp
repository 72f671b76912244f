// SPDX-License-Identifier: Apache-2.0
// Referrals at zone cuts (RFC 1034 section 4.3.2, RFC 9471).
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/dns/explain.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/dns/zone_file.hpp>

#include "dns/dns_support.hpp"

namespace hcpnet::dns {
namespace {

constexpr const char* kZone = R"($ORIGIN blue.example.
$TTL 60
@ SOA ns1 host 1 3600 600 86400 30
@ NS ns1
ns1 A 192.0.2.1
sub NS ns.sub
sub NS ns1
sub NS ns.green.example.
ns.sub A 192.0.2.50
hidden.sub TXT "occluded"
deep.sub NS elsewhere.example.
secure NS ns1
secure DS 1 5 9 ab cd
cname CNAME host.sub
under.ent NS ns1
)";

class Delegated : public testing::Test {
 protected:
  Message ask(std::string_view name, Type type) const {
    return test::answer(test::make_query(name, type), {&views[0], Transport::udp, false}).message;
  }
  static std::vector<std::string> lines(const std::vector<Record>& section) {
    std::vector<std::string> text;
    for (const Record& record : section)
      text.push_back(record.owner.to_string() + ' ' + to_string(record.type) + ' ' +
                     rdata_to_string(record.type, record.rdata));
    std::ranges::sort(text);
    return text;
  }
  /// With name servers at a wildcard too, which no file may have.
  static std::shared_ptr<const Zone> make_delegating_zone() {
    ZoneRecords records = parse_zone_file("zone", kZone).value();
    const std::string server(as_text(test::name("ns1.blue.example").wire()));
    records.rrsets.push_back({test::name("*.wild.blue.example"), Type::ns, 60, {server}});
    return make_zone(std::move(records));
  }
  std::shared_ptr<const Zone> zone = make_delegating_zone();
  ViewSet views = ViewSet::make({test::view_of({zone})}).value();
};

const std::vector<std::string> kServers{"sub.blue.example. NS ns.green.example.",
                                        "sub.blue.example. NS ns.sub.blue.example.",
                                        "sub.blue.example. NS ns1.blue.example."};
const std::vector<std::string> kGlue{"ns.sub.blue.example. A 192.0.2.50", "ns1.blue.example. A 192.0.2.1"};

TEST_F(Delegated, NamesAtAndBelowACutAreReferred) {
  for (const char* name : {"sub.blue.example", "x.sub.blue.example", "hidden.sub.blue.example", "ns.sub.blue.example",
                           "deep.sub.blue.example", "a.b.deep.sub.blue.example"}) {
    for (const Type type : {Type::a, Type::txt, Type::ns, Type::any}) {
      const Message reply = ask(name, type);
      EXPECT_EQ(reply.rcode(), Rcode::noerror) << name;
      EXPECT_EQ(reply.flags & flag::kAuthoritative, 0) << name;
      EXPECT_TRUE(reply.answers.empty()) << name;
      EXPECT_EQ(lines(reply.authority), kServers) << name;
      EXPECT_EQ(lines(reply.additional), kGlue) << name;
    }
  }
}

TEST_F(Delegated, DsAtTheCutIsOfThisSide) {
  const Message there = ask("secure.blue.example", Type::ds);
  EXPECT_NE(there.flags & flag::kAuthoritative, 0);
  EXPECT_EQ(lines(there.answers), std::vector<std::string>{"secure.blue.example. DS 1 5 9 abcd"});
  const Message absent = ask("sub.blue.example", Type::ds);
  EXPECT_NE(absent.flags & flag::kAuthoritative, 0);
  EXPECT_EQ(absent.rcode(), Rcode::noerror);
  EXPECT_EQ(absent.authority.at(0).type, Type::soa);
  EXPECT_EQ(ask("x.sub.blue.example", Type::ds).authority.at(0).type, Type::ns) << "below the cut it is not";
}

TEST_F(Delegated, DsAtAnApexIsOfTheParentThatIsHereToo) {  // RFC 4035 section 3.1.4.1
  const auto child = [](std::string_view apex) {
    return std::make_shared<const Zone>(test::name(apex), std::vector<RRset>{});
  };
  Config config;
  config.views = {test::view_of({zone, child("secure.blue.example"), child("sub.blue.example"),
                                 child("x.sub.blue.example"), child("plain.blue.example")})};
  views = ViewSet::make(config.views).value();
  EXPECT_EQ(lines(ask("Secure.blue.example", Type::ds).answers),
            std::vector<std::string>{"Secure.blue.example. DS 1 5 9 abcd"});
  const auto owner_of_soa = [&](std::string_view name, Type type) {
    const Message reply = ask(name, type);
    EXPECT_EQ(reply.rcode(), Rcode::noerror) << name;
    EXPECT_NE(reply.flags & flag::kAuthoritative, 0) << name;
    return reply.authority.at(0).owner.to_string();
  };
  EXPECT_EQ(owner_of_soa("sub.blue.example", Type::ds), "blue.example.") << "delegated without";
  EXPECT_EQ(owner_of_soa("x.sub.blue.example", Type::ds), "x.sub.blue.example.") << "that parent says nothing of it";
  EXPECT_EQ(owner_of_soa("plain.blue.example", Type::ds), "plain.blue.example.") << "not delegated";
  EXPECT_EQ(owner_of_soa("secure.blue.example", Type::a), "secure.blue.example.");
  EXPECT_EQ(owner_of_soa("blue.example", Type::ds), "blue.example.") << "without a parent here";
  const auto why = explain(config, test::name("secure.blue.example"), Type::ds, *parse_ip_address("192.0.2.9")).value();
  EXPECT_EQ(why.steps.at(0).zone, "blue.example.");
}

TEST_F(Delegated, AnAliasIntoACutKeepsItsAuthority) {
  const Message reply = ask("cname.blue.example", Type::a);
  EXPECT_NE(reply.flags & flag::kAuthoritative, 0);
  EXPECT_EQ(lines(reply.answers), std::vector<std::string>{"cname.blue.example. CNAME host.sub.blue.example."});
  EXPECT_EQ(lines(reply.authority), kServers);
}

TEST_F(Delegated, TheApexAndWildcardsAreNoCuts) {
  EXPECT_EQ(lines(ask("blue.example", Type::ns).answers),
            std::vector<std::string>{"blue.example. NS ns1.blue.example."});
  EXPECT_EQ(lines(ask("x.wild.blue.example", Type::ns).answers),
            std::vector<std::string>{"x.wild.blue.example. NS ns1.blue.example."});
}

TEST_F(Delegated, ANameAboveACutIsAnEmptyOne) {
  const Message reply = ask("ent.blue.example", Type::a);
  EXPECT_EQ(reply.rcode(), Rcode::noerror);
  EXPECT_EQ(reply.authority.at(0).type, Type::soa);
}

TEST_F(Delegated, ACutOfAnotherCaseIsFound) {
  EXPECT_EQ(ask("X.SUB.bLuE.example", Type::a).authority.size(), 3U);
}

TEST_F(Delegated, ExplainSaysWhichCut) {
  Config config;
  config.views = {test::view_of({zone})};
  const auto why =
      explain(config, test::name("x.deep.sub.blue.example"), Type::a, *parse_ip_address("192.0.2.9")).value();
  ASSERT_EQ(why.steps.size(), 1U);
  EXPECT_EQ(to_string(why.steps[0].rule), "referral");
  EXPECT_EQ(why.steps[0].matched, "sub.blue.example.");
  EXPECT_EQ(why.steps[0].records.size(), 3U);
}

TEST(DelegatedWide, MissingGlueIsToldByTcAndOtherGlueIsLeftOutWhole) {
  std::vector<RRset> rrsets;
  const auto add_server = [&](const std::string& server, int addresses) {
    rrsets.push_back({test::name("sub.blue.example"), Type::ns, 30, {std::string(as_text(test::name(server).wire()))}});
    for (int i = 1; i <= addresses; ++i)
      rrsets.push_back(test::a_record(server, "10.0." + std::to_string(addresses) + '.' + std::to_string(i)));
  };
  const auto ask = [&] {
    const auto views =
        ViewSet::make({test::view_of({std::make_shared<const Zone>(test::name("blue.example"), rrsets)})}).value();
    return test::answer(test::make_query("x.sub.blue.example", Type::a), {&views[0], Transport::udp, false}).message;
  };
  add_server("ns.sub.blue.example", 2);
  add_server("far.blue.example", 60);
  const Message fits = ask();
  EXPECT_EQ(fits.flags & flag::kTruncated, 0);
  EXPECT_EQ(fits.additional.size(), 2U);
  add_server("more.sub.blue.example", 40);
  const Message cut = ask();
  EXPECT_NE(cut.flags & flag::kTruncated, 0);
  EXPECT_EQ(cut.authority.size(), 3U);
}

}  // namespace
}  // namespace hcpnet::dns
