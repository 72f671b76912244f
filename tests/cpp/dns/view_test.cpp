// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/dns/error.hpp>
#include <hcpnet/dns/view.hpp>
#include <random>

#include "dns/dns_support.hpp"

namespace hcpnet::dns {
namespace {

using test::cidr;
using test::name;

std::shared_ptr<const Zone> zone_of(std::string_view apex) {
  return std::make_shared<const Zone>(name(apex), std::vector<RRset>{});
}

View view_for(std::vector<std::string_view> prefixes) {
  View view;
  for (const auto prefix : prefixes) view.clients.push_back(cidr(prefix));
  return view;
}

std::optional<std::size_t> find(const ViewSet& views, std::string_view client) {
  return views.find(*parse_ip_address(client));
}

TEST(DnsViewSet, TheLongestPrefixDecides) {
  const auto views = ViewSet::make({view_for({"0.0.0.0/0"}), view_for({"192.0.2.0/24", "2001:db8::/32"}),
                                    view_for({"192.0.2.128/25", "192.0.2.7/32"})})
                         .value();
  EXPECT_EQ(find(views, "198.51.100.1"), 0U);
  EXPECT_EQ(find(views, "192.0.2.1"), 1U);
  EXPECT_EQ(find(views, "192.0.2.7"), 2U);
  EXPECT_EQ(find(views, "192.0.2.8"), 1U);
  EXPECT_EQ(find(views, "192.0.2.127"), 1U);
  EXPECT_EQ(find(views, "192.0.2.128"), 2U);
  EXPECT_EQ(find(views, "192.0.2.255"), 2U);
  EXPECT_EQ(find(views, "192.0.3.0"), 0U);
  EXPECT_EQ(find(views, "255.255.255.255"), 0U);
  EXPECT_EQ(find(views, "2001:db8:ffff::1"), 1U);
  EXPECT_EQ(find(views, "2001:db9::"), std::nullopt);
  EXPECT_EQ(find(views, "::ffff:192.0.2.1"), std::nullopt) << "an IPv4-mapped address is IPv6";
}

TEST(DnsViewSet, AClientOfNoViewIsNobodys) {
  EXPECT_EQ(find(ViewSet::make({}).value(), "192.0.2.1"), std::nullopt);
  const auto views = ViewSet::make({view_for({"192.0.2.0/24"}), view_for({"ffff::/16"})}).value();
  EXPECT_EQ(find(views, "192.0.1.255"), std::nullopt);
  EXPECT_EQ(find(views, "192.0.3.0"), std::nullopt);
  EXPECT_EQ(find(views, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), 1U);
}

TEST(DnsViewSet, EqualPrefixesAreAnError) {
  EXPECT_EQ(ViewSet::make({view_for({"192.0.2.0/24"}), view_for({"10.0.0.0/8", "192.0.2.0/24"})}).error(),
            Errc::duplicate_prefix);
  EXPECT_EQ(ViewSet::make({view_for({"::/0", "::/0"})}).error(), Errc::duplicate_prefix);
  EXPECT_TRUE(ViewSet::make({view_for({"0.0.0.0/0"}), view_for({"::/0"})}));
}

TEST(DnsViewSet, AgreesWithASearchThroughAllPrefixes) {
  std::mt19937 random(7);
  std::vector<View> views(12);
  std::vector<std::pair<Cidr, std::size_t>> all;
  for (std::size_t i = 0; i < 60; ++i) {
    // Few distinct bits, so that prefixes nest and touch.
    const Cidr candidate(Ipv4(random() & 0xC0C00003U), static_cast<unsigned>(random() % 33));
    if (std::ranges::find(all, candidate, &std::pair<Cidr, std::size_t>::first) != all.end()) continue;
    all.emplace_back(candidate, i % views.size());
    views[i % views.size()].clients.push_back(candidate);
  }
  const auto made = ViewSet::make(views).value();
  for (int i = 0; i < 20'000; ++i) {
    const Ipv4 client(static_cast<std::uint32_t>(random()) & (i % 2 == 0 ? 0xFFFFFFFFU : 0xC0C00007U));
    std::optional<std::size_t> expected;
    unsigned longest = 0;
    for (const auto& [prefix, view] : all)
      if (prefix.contains(client) && (!expected || prefix.prefix_length() >= longest)) {
        expected = view;
        longest = prefix.prefix_length();
      }
    ASSERT_EQ(made.find(client), expected) << client.to_string();
  }
}

TEST(DnsViewZones, TheLongestApexOwnsAName) {
  View view = view_for({"0.0.0.0/0"});
  view.zones = {zone_of("example.com"), zone_of("Apps.blue.example.com"), zone_of("oauth.mgmt.test")};
  const auto zones = ViewZones::make(view).value();
  EXPECT_EQ(zones.find(name("x.apps.BLUE.example.com")), view.zones[1].get());
  EXPECT_EQ(zones.find(name("apps.blue.example.com")), view.zones[1].get());
  EXPECT_EQ(zones.find(name("blue.example.com")), view.zones[0].get());
  EXPECT_EQ(zones.find(name("example.com")), view.zones[0].get());
  EXPECT_EQ(zones.find(name("com")), nullptr);
  EXPECT_EQ(zones.find(name("xexample.com")), nullptr);
  EXPECT_EQ(zones.find(name("mgmt.test")), nullptr);
  EXPECT_EQ(zones.find(Name()), nullptr);
}

TEST(DnsViewZones, ARootZoneOwnsEverything) {
  View view = view_for({"0.0.0.0/0"});
  view.zones = {zone_of(".")};
  const auto zones = ViewZones::make(view).value();
  EXPECT_EQ(zones.find(name("a.b")), view.zones[0].get());
  EXPECT_EQ(zones.find(Name()), view.zones[0].get());
}

TEST(DnsViewZones, TwoZonesOfOneApexAreAnError) {
  View view = view_for({"0.0.0.0/0"});
  view.zones = {zone_of("example.com"), zone_of("EXAMPLE.com")};
  EXPECT_EQ(ViewZones::make(view).error(), Errc::duplicate_zone);
  EXPECT_EQ(ViewSet::make({view}).error(), Errc::duplicate_zone);
}

// Field case DNS-26, "self".
TEST(DnsConfig, AnUpstreamThatIsOneOfTheListenersIsAnError) {
  Config config;
  config.listeners = {*parse_endpoint("192.168.100.3:53")};
  config.forwarding.upstreams = {*parse_endpoint("192.168.100.3", 53)};
  EXPECT_EQ(check_config(config).error(), Errc::upstream_is_self);
  config.forwarding.upstreams = {*parse_endpoint("192.168.100.3:5353"), *parse_endpoint("192.168.100.4", 53)};
  EXPECT_TRUE(check_config(config));
}

}  // namespace
}  // namespace hcpnet::dns
