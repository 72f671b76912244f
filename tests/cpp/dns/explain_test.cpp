// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/dns/explain.hpp>

#include "dns/render_support.hpp"

namespace hcpnet::dns {
namespace {

using test::name;

Explanation explained(const Config& config, std::string_view asked, Type type, std::string_view client) {
  return explain(config, name(asked), type, *parse_ip_address(client)).value();
}

TEST(Explain, SaysWhichViewZoneAndRuleAnswer) {
  const Config config = test::two_clusters();
  const Explanation vlan = explained(config, "x.y.apps.blue.hc.example.com", Type::a, "127.90.1.9");
  EXPECT_EQ(vlan.view, "vlan");
  EXPECT_EQ(vlan.prefix, test::cidr("127.90.1.0/24"));
  ASSERT_EQ(vlan.steps.size(), 1U);
  EXPECT_EQ(vlan.steps[0].zone, "blue.hc.example.com.");
  EXPECT_EQ(vlan.steps[0].rule, AnswerRule::wildcard);
  EXPECT_EQ(vlan.steps[0].matched, "*.apps.blue.hc.example.com.");
  EXPECT_EQ(vlan.steps[0].records, std::vector<std::string>{"x.y.apps.blue.hc.example.com. 30 IN A 192.0.2.200"});

  EXPECT_EQ(explained(config, "x.y.apps.blue.hc.example.com", Type::a, "::ffff:127.90.1.9").view, "vlan");
  EXPECT_EQ(explained(config, "api.red.hc.example.com", Type::a, "2001:db8::9").steps[0].records,
            std::vector<std::string>{"api.red.hc.example.com. 30 IN A 172.30.9.4"});
  EXPECT_EQ(explained(config, "api.red.hc.example.com", Type::aaaa, "10.0.0.1").steps[0].rule, AnswerRule::nodata);
  EXPECT_EQ(explained(config, "apps.red.hc.example.com", Type::a, "10.0.0.1").steps[0].rule, AnswerRule::nodata);
  EXPECT_EQ(explained(config, "nope.red.hc.example.com", Type::a, "10.0.0.1").steps[0].rule, AnswerRule::nxdomain);
  EXPECT_EQ(explained(config, "other.test", Type::a, "10.0.0.1").steps[0].rule, AnswerRule::refused);
}

TEST(Explain, FollowsAliasesAndStopsInALoop) {
  const Config config = test::hard_zones();
  const Explanation alias = explained(config, "in.hcp1.example.com", Type::a, "127.90.3.1");
  ASSERT_EQ(alias.steps.size(), 2U);
  EXPECT_EQ(alias.steps[0].rule, AnswerRule::alias);
  EXPECT_EQ(alias.steps[1].rule, AnswerRule::exact);
  EXPECT_EQ(explained(config, "loop1.hcp1.example.com", Type::a, "127.90.3.1").steps.size(), 2U);
  EXPECT_EQ(explained(config, "x.unknown.test", Type::a, "127.90.4.1").steps[0].rule, AnswerRule::unavailable);
  EXPECT_EQ(explained(config, "x.unknown.test", Type::a, "127.90.5.1").steps[0].rule, AnswerRule::no_view);
}

TEST(Explain, SaysWhichViewIsNotForTheClient) {
  Config config = test::two_clusters();
  for (View& view : config.views)
    if (view.name == "vlan") view.allowed = {test::cidr("127.90.1.0/28")};
  EXPECT_EQ(explained(config, "api.blue.hc.example.com", Type::a, "127.90.1.9").steps[0].rule, AnswerRule::exact);
  const Explanation refused = explained(config, "api.blue.hc.example.com", Type::a, "127.90.1.200");
  EXPECT_EQ(refused.view, "vlan");
  EXPECT_EQ(refused.prefix, test::cidr("127.90.1.0/24"));
  ASSERT_EQ(refused.steps.size(), 1U);
  EXPECT_EQ(refused.steps[0].rule, AnswerRule::not_allowed);
}

TEST(Explain, NamesTheUpstreams) {
  Config config = test::two_clusters();
  config.forwarding.upstreams = {{test::ipv4("198.51.100.53"), 53}};
  config.forwarding.resolv_conf = true;
  const Explanation forwarded = explained(config, "other.test", Type::a, "10.0.0.1");
  EXPECT_EQ(forwarded.steps[0].rule, AnswerRule::forwarded);
  EXPECT_EQ(forwarded.upstreams, (std::vector<std::string>{"198.51.100.53:53", "resolv.conf"}));
}

TEST(Explain, NamesTheUpstreamsOfTheZoneAndOnlyToWhoMayBeForwarded) {
  Config config = test::two_clusters();
  config.forwarding.zones = {{name("corp.test"), {{test::ipv4("198.51.100.9"), 53}}},
                             {name("lab.corp.test"), {{test::ipv4("198.51.100.8"), 5353}}}};
  const auto upstreams = [&](std::string_view asked, std::string_view client) {
    const auto simulated = simulate_query(config, test::make_query(asked, Type::a), *parse_ip_address(client)).value();
    const Explanation why = explained(config, asked, Type::a, client);
    EXPECT_EQ(why.upstreams, simulated.upstreams);
    EXPECT_EQ(simulated.is_forwarded, !simulated.upstreams.empty());
    EXPECT_EQ(why.steps.at(0).rule, simulated.is_forwarded ? AnswerRule::forwarded : AnswerRule::refused);
    if (!simulated.is_forwarded) {
      EXPECT_EQ(simulated.reply.value().rcode(), Rcode::refused);
    }
    return simulated.upstreams;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(upstreams("a.corp.test", "10.0.0.1"), Texts{"198.51.100.9:53"});
  EXPECT_EQ(upstreams("lab.CORP.test", "10.0.0.1"), Texts{"198.51.100.8:5353"});
  EXPECT_EQ(upstreams("other.test", "10.0.0.1"), Texts{}) << "of no zone, and nobody else is asked";
  config.forwarding.upstreams = {{test::ipv4("198.51.100.53"), 53}};
  EXPECT_EQ(upstreams("other.test", "10.0.0.1"), Texts{"198.51.100.53:53"});
  EXPECT_EQ(upstreams("a.corp.test", "10.0.0.1"), Texts{"198.51.100.9:53"});
  for (View& view : config.views)
    if (view.name == "pod") view.forwarding_allowed = {test::cidr("10.9.0.0/16")};
  EXPECT_EQ(upstreams("other.test", "10.0.0.1"), Texts{});
  EXPECT_EQ(upstreams("other.test", "10.9.0.1"), Texts{"198.51.100.53:53"});
}

TEST(SimulateQuery, AnswersAsTheServerWould) {
  Config config = test::two_clusters();
  const auto query = test::make_query("api.blue.hc.example.com", Type::a);
  const auto vlan = simulate_query(config, query, *parse_ip_address("127.90.1.7")).value();
  EXPECT_EQ(vlan.view, "vlan");
  ASSERT_TRUE(vlan.reply);
  EXPECT_EQ(test::addresses(*vlan.reply), std::vector<std::string>{"192.0.2.4"});
  const auto other =
      simulate_query(config, test::make_query("other.test", Type::a), *parse_ip_address("127.90.1.7")).value();
  EXPECT_EQ(other.reply.value().rcode(), Rcode::refused);
  config.forwarding.resolv_conf = true;
  EXPECT_TRUE(simulate_query(config, test::make_query("other.test", Type::a), *parse_ip_address("127.90.1.7"))
                  .value()
                  .is_forwarded);
  config.views.push_back(config.views[0]);
  EXPECT_EQ(simulate_query(config, query, IpAddress{}).error(), Errc::duplicate_prefix);
}

TEST(SimulateQuery, OfEachViewIsForAClientThatMayWhatAnyMay) {
  Config config = test::guarded_clusters();
  const auto own = simulate_query_of_each_view(config, test::make_query("api.blue.hc.example.com", Type::a)).value();
  ASSERT_EQ(own.size(), 2U);
  EXPECT_EQ(own[0].view, "pod");
  EXPECT_EQ(test::addresses(own[0].reply.value()), std::vector<std::string>{"172.30.9.4"});
  EXPECT_EQ(own[1].view, "vlan");
  EXPECT_EQ(test::addresses(own[1].reply.value()), std::vector<std::string>{"192.0.2.4"});
  const auto other = simulate_query_of_each_view(config, test::make_query("other.test", Type::a)).value();
  EXPECT_EQ(other[0].reply.value().rcode(), Rcode::refused) << "nothing is forwarded for any pod";
  EXPECT_TRUE(other[1].is_forwarded);
}

}  // namespace
}  // namespace hcpnet::dns
