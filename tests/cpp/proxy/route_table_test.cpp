// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hcpnet/proxy/route_table.hpp>

#include "support/allocations.hpp"

namespace hcpnet::proxy {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const Endpoint kListener{Ipv4(192, 0, 2, 4), 443};
const IpAddress kAnyone = Ipv4(198, 51, 100, 9);

Backend backend(std::string name) {
  Backend b;
  b.name = std::move(name);
  b.endpoints = {{Ipv4(10, 0, 0, 1), 6443}};
  return b;
}
Route route(std::string to, std::vector<std::string> names, SourceMatch source = {}) {
  Route r;
  r.port = 443;
  r.names = std::move(names);
  r.source = std::move(source);
  r.backend = std::move(to);
  return r;
}
SourceMatch from(const char* prefix) {
  return {{parse_cidr(prefix).value()}, {}};
}
SourceMatch of_cluster(std::string cluster) {
  return {{}, std::move(cluster)};
}

/// Backends a to f, one listener.
RouteConfig config_with(std::vector<Route> routes) {
  RouteConfig config;
  config.listeners = {{kListener, {}}};
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) config.backends.push_back(backend(name));
  config.routes = std::move(routes);
  return config;
}

class Table {
 public:
  explicit Table(RouteConfig config) : table_(RouteTable::build(std::move(config)).value()) {}
  Decision find(std::string_view name, const IpAddress& source = kAnyone) const {
    return table_->find(kListener, greeting_of(name), name, source, clusters);
  }
  Decision find(Greeting greeting, const IpAddress& source = kAnyone) const {
    return table_->find(kListener, greeting, "", source, clusters);
  }
  const RouteTable& operator*() const { return *table_; }
  SourceClusters clusters;

 private:
  std::shared_ptr<const RouteTable> table_;
};
std::string to(const Decision& decision) {
  return decision.backend == nullptr ? "-" : decision.backend->name;
}

std::string all_problems(RouteConfig config) {
  const auto result = RouteTable::build(std::move(config));
  return result ? "" : result.error().to_string();
}

TEST(RouteTable, ExactBeatsWildcardsWhateverTheOrder) {
  Route other = route("a", {});
  other.other_sni = true;
  const Table table(config_with(
      {other, route("b", {"*.example.com"}), route("c", {"*.apps.example.com"}), route("d", {"x.apps.example.com"})}));
  EXPECT_EQ(to(table.find("x.apps.example.com")), "d");
  EXPECT_EQ(table.find("x.apps.example.com").rule, Rule::exact);
  EXPECT_EQ(to(table.find("y.apps.example.com")), "c");
  EXPECT_EQ(to(table.find("deep.y.apps.example.com")), "c");
  EXPECT_EQ(table.find("y.apps.example.com").matched, "*.apps.example.com");
  EXPECT_EQ(to(table.find("apps.example.com")), "b") << "a wildcard does not match the name that it hangs below";
  EXPECT_EQ(to(table.find("example.com")), "a");
  EXPECT_EQ(table.find("example.com").rule, Rule::other_sni);
  EXPECT_EQ(to(table.find("notexample.com")), "a") << "suffixes begin at a label";
}

TEST(RouteTable, CaseDoesNotMatterAnywhere) {  // TLS-12
  const Table table(config_with({route("a", {"API.Example.COM"}), route("b", {"*.APPS.example.com"})}));
  EXPECT_EQ(to(table.find("api.eXample.com")), "a");
  EXPECT_EQ(table.find("api.eXample.com").matched, "api.example.com");
  EXPECT_EQ(to(table.find("X.apps.EXAMPLE.com")), "b");
}

TEST(RouteTable, PortsAreSeparate) {
  Route on_6443 = route("b", {"api.example.com"});
  on_6443.port = 6443;
  const Table table(config_with({route("a", {"api.example.com"}), on_6443}));
  const auto find = [&](std::uint16_t port) {
    return to((*table).find({Ipv4(192, 0, 2, 4), port}, Greeting::name, "api.example.com", kAnyone, {}));
  };
  EXPECT_EQ(find(443), "a");
  EXPECT_EQ(find(6443), "b");
  EXPECT_EQ(find(8443), "-");
}

TEST(RouteTable, NamelessConnectionsNeedTheirOwnRoute) {
  Route no_sni = route("a", {});
  no_sni.no_sni = true;
  Route not_tls = route("b", {});
  not_tls.not_tls = true;
  const Table bare(config_with({route("c", {"*.example.com"})}));
  EXPECT_EQ(to(bare.find(Greeting::no_name)), "-");
  EXPECT_EQ(bare.find(Greeting::no_name).rule, Rule::no_match);
  EXPECT_EQ(to(bare.find(Greeting::not_tls)), "-");
  const Table table(config_with({no_sni, not_tls, route("c", {"*.example.com"})}));
  EXPECT_EQ(to(table.find(Greeting::no_name)), "a");
  EXPECT_EQ(table.find(Greeting::no_name).rule, Rule::no_sni);
  EXPECT_EQ(to(table.find(Greeting::not_tls)), "b");
  EXPECT_EQ(to(table.find("192.0.2.10")), "a") << "TLS-14: an address counts as no name";
  EXPECT_EQ(to(table.find("[2001:db8::10]")), "a");
}

TEST(RouteTable, UnusableNamesMatchNothing) {  // TLS-10, TLS-18
  Route any = route("a", {"*.example.com"});
  any.no_sni = any.other_sni = any.not_tls = true;
  const Table table(config_with({any}));
  for (const std::string& name :
       {std::string(), std::string("a..example.com"), std::string("a.example.com\0.evil.test", 24),
        std::string("a\r\n.example.com"), std::string(300, 'a') + ".example.com", std::string("a.example.com."),
        std::string("b\xc3\xbc.example.com"), std::string(64, 'a') + ".example.com"}) {
    EXPECT_EQ(table.find(name).backend, nullptr) << name;
    EXPECT_EQ(table.find(name).rule, Rule::unusable_name) << name;
    // Also when a caller did not classify it.
    EXPECT_EQ((*table).find(kListener, Greeting::name, name, kAnyone, {}).rule, Rule::unusable_name) << name;
  }
}

TEST(RouteTable, ARouteForTheSourceBeatsOneForEveryone) {
  Table table(config_with({route("a", {"k.example.com"}), route("b", {"k.example.com"}, from("192.0.2.0/24")),
                           route("c", {"k.example.com"}, of_cluster("hcp/blue"))}));
  table.clusters.emplace(Ipv4(192, 0, 2, 7), "hcp/blue");
  EXPECT_EQ(to(table.find("k.example.com")), "a");
  EXPECT_EQ(to(table.find("k.example.com", Ipv4(192, 0, 2, 8))), "b");
  EXPECT_EQ(to(table.find("k.example.com", Ipv4(192, 0, 2, 7))), "c")
      << "a cluster is known for one address, a prefix for many";
}

TEST(RouteTable, ANameClaimedForOthersIsNotHandedToARouteForEveryone) {
  Route everyone = route("c", {"*.example.com"});
  everyone.other_sni = true;
  const Table table(config_with({route("a", {"k.example.com"}, from("192.0.2.0/24")), everyone}));
  EXPECT_EQ(to(table.find("k.example.com", Ipv4(192, 0, 2, 1))), "a");
  EXPECT_EQ(to(table.find("k.example.com")), "-");
  EXPECT_EQ(table.find("k.example.com").rule, Rule::source_not_allowed);
  EXPECT_EQ(to(table.find("other.example.com")), "c");
}

TEST(RouteTable, ANameClaimedForOthersStillFollowsARouteForThisSource) {
  Route rest = route("b", {}, from("198.51.100.0/24"));
  rest.other_sni = true;
  const Table table(config_with({route("a", {"kubernetes"}, from("192.0.2.0/24")), rest}));
  EXPECT_EQ(to(table.find("kubernetes", Ipv4(192, 0, 2, 1))), "a");
  EXPECT_EQ(to(table.find("kubernetes", Ipv4(198, 51, 100, 1))), "b");
  EXPECT_EQ(to(table.find("kubernetes", Ipv4(203, 0, 113, 1))), "-");
}

TEST(RouteTable, PrefixesOfBothFamiliesAndManyOfThem) {
  SourceMatch even, odd;
  for (unsigned i = 0; i < 256; ++i)
    (i % 2 == 0 ? even : odd).prefixes.emplace_back(Ipv4(10, 1, static_cast<std::uint8_t>(i), 0), 24);
  even.prefixes.push_back(parse_cidr("2001:db8::/64").value());
  const Table table(config_with({route("a", {"x.test"}, even), route("b", {"x.test"}, odd)}));
  for (unsigned i = 0; i < 256; ++i) {
    EXPECT_EQ(to(table.find("x.test", Ipv4(10, 1, static_cast<std::uint8_t>(i), 200))), i % 2 == 0 ? "a" : "b");
  }
  EXPECT_EQ(to(table.find("x.test", Ipv4(10, 0, 255, 255))), "-");
  EXPECT_EQ(to(table.find("x.test", Ipv4(10, 2, 0, 0))), "-");
  EXPECT_EQ(to(table.find("x.test", *parse_ipv6("2001:db8::1"))), "a");
  EXPECT_EQ(to(table.find("x.test", *parse_ipv6("2001:db8:0:1::1"))), "-");
}

TEST(RouteTable, AListenersAllowListAdmitsOnlyItsNames) {  // a public address serves one name of many
  const Endpoint vip{Ipv4(203, 0, 113, 20), 443};
  Route everything = route("c", {});
  everything.no_sni = everything.other_sni = everything.not_tls = true;
  RouteConfig config =
      config_with({route("a", {"oauth.blue.test"}), route("b", {"api.blue.test", "*.apps.blue.test"}), everything});
  config.listeners.push_back({vip, {"OAuth.blue.test", "*.apps.blue.test"}});
  const Table table(std::move(config));
  const auto at_vip = [&](Greeting greeting, std::string_view name) {
    return (*table).find(vip, greeting, name, kAnyone, {});
  };
  EXPECT_EQ(to(at_vip(Greeting::name, "oauth.blue.test")), "a");
  EXPECT_EQ(to(at_vip(Greeting::name, "x.y.apps.blue.test")), "b");
  EXPECT_EQ(to(at_vip(Greeting::name, "api.blue.test")), "-");
  for (const Greeting greeting : {Greeting::no_name, Greeting::not_tls})
    EXPECT_EQ(at_vip(greeting, "").rule, Rule::name_not_allowed);
  EXPECT_EQ(at_vip(Greeting::name, "api.blue.test").rule, Rule::name_not_allowed);
  EXPECT_EQ(to(table.find("api.blue.test")), "b") << "the other listener has no list";
}

TEST(RouteTable, DuplicateClaimsNameBothRoutes) {
  EXPECT_THAT(all_problems(config_with({route("a", {"x.test"}), route("b", {"X.test"})})),
              AllOf(HasSubstr("route 0 (backend \"a\")"), HasSubstr("route 1 (backend \"b\")"),
                    HasSubstr("\"x.test\" on port 443"), HasSubstr("[duplicate-route]")));
  EXPECT_THAT(
      all_problems(config_with({route("a", {"*.x.test"}, of_cluster("k")), route("b", {"*.x.test"}, of_cluster("k"))})),
      HasSubstr("clients of cluster k"));
  EXPECT_THAT(all_problems(config_with(
                  {route("a", {"x.test"}, from("10.0.0.0/8")), route("b", {"x.test"}, from("10.1.0.0/16"))})),
              HasSubstr("clients in 10.1.0.0/16"));
  EXPECT_EQ(all_problems(config_with({route("a", {"x.test", "x.test"}), route("b", {"*.x.test"})})), "");
  EXPECT_EQ(all_problems(config_with(
                {route("a", {"x.test"}, from("10.0.0.0/16")), route("b", {"x.test"}, from("10.1.0.0/16"))})),
            "");
}

TEST(RouteTable, EveryProblemIsReportedWithItsPlace) {
  Route empty = route("a", {});
  RouteConfig config = config_with(
      {route("nowhere", {"x.test"}), empty, route("b", {"ok.test", "*", "a.*.test", "192.0.2.1", "dot.", "*.*.x"})});
  config.backends.push_back(backend("a"));
  config.backends.emplace_back().name = "g";
  config.listeners.push_back({kListener, {"bad name"}});
  config.listeners.push_back({kListener, {"a.test"}, ListenerKind::udp});
  const std::string problems = all_problems(std::move(config));
  for (const char* expected :
       {"/routes/0/backend", "[unknown-backend]", "/routes/1:", "[empty-route]", "/routes/2/names/1",
        "/routes/2/names/2", "/routes/2/names/3", "/routes/2/names/4", "/routes/2/names/5", "[bad-host-name]",
        "/backends/6/name", "[duplicate-backend]", "/backends/7", "[empty-backend]", "/listeners/1/address",
        "[duplicate-listener]", "/listeners/1/only_names/0", "/listeners/2/only_names", "[names-without-tls]"}) {
    EXPECT_THAT(problems, HasSubstr(expected));
  }
  EXPECT_THAT(problems, testing::Not(HasSubstr("/routes/2/names/0")));
}

TEST(RouteTable, FindAllocatesNothing) {
  Table table(config_with({route("a", {"a.example.com"}), route("b", {"*.example.com"}, of_cluster("hcp/blue"))}));
  table.clusters.emplace(kAnyone, "hcp/blue");
  const std::size_t before = test::allocation_count();
  const Decision exact = (*table).find(kListener, Greeting::name, "A.example.com", kAnyone, table.clusters);
  const Decision wildcard =
      (*table).find(kListener, Greeting::name, "some.long.name.below.example.com", kAnyone, table.clusters);
  const Decision none = (*table).find(kListener, Greeting::name, "some.other.name", kAnyone, table.clusters);
  const std::size_t after = test::allocation_count();
  EXPECT_EQ(to(exact) + to(wildcard) + to(none), "ab-");
  EXPECT_EQ(after, before);
}

TEST(RouteTable, AHundredThousandNamesAreAllFound) {
  RouteConfig config = config_with({});
  for (int i = 0; i < 100'000; ++i) {
    const std::string cluster = "c" + std::to_string(i / 5) + ".example.com";
    config.routes.push_back(route(std::string(1, static_cast<char>('a' + i % 6)),
                                  {i % 5 == 0 ? "*.apps." + cluster : "s" + std::to_string(i % 5) + "." + cluster}));
  }
  const Table table(std::move(config));
  for (int i = 0; i < 100'000; ++i) {
    const std::string cluster = "c" + std::to_string(i / 5) + ".example.com";
    ASSERT_EQ(to(table.find(i % 5 == 0 ? "console.apps." + cluster : "s" + std::to_string(i % 5) + "." + cluster)),
              std::string(1, static_cast<char>('a' + i % 6)));
  }
  EXPECT_EQ(to(table.find("s9.c1.example.com")), "-");
}

}  // namespace
}  // namespace hcpnet::proxy
