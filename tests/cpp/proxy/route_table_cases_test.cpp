// SPDX-License-Identifier: Apache-2.0
// Field cases RTE-01 to RTE-07, from tests/cpp/data/proxy, and the worked example of two clusters on one VLAN.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hcpnet/proxy/route_table.hpp>

#include "support/vectors.hpp"

namespace hcpnet::proxy {
namespace {

using nlohmann::json;

/// A case's table; "*" there is our other_sni, mode "plain" takes every connection.
RouteConfig config_of(const json& table) {
  RouteConfig config;
  for (const json& row : table) {
    Backend backend;
    backend.name = row["name"];
    backend.endpoints = {{Ipv4(10, 0, 0, 1), 443}};
    config.backends.push_back(backend);
    Route route;
    route.backend = backend.name;
    route.port = row.value("port", std::uint16_t{443});
    for (const json& host : row.value("hosts", json::array({row.value("host", json())}))) {
      if (host == "*") route.other_sni = true;
      if (host.is_string() && host != "*") route.names.push_back(host);
    }
    if (row.value("mode", "") == "plain") route.no_sni = route.other_sni = route.not_tls = true;
    config.routes.push_back(std::move(route));
  }
  return config;
}

class RouteCase : public testing::TestWithParam<const char*> {};

TEST_P(RouteCase, AsExpected) {
  for (const json& vector : test::read_json(std::string("proxy/") + GetParam() + ".json")["vectors"]) {
    const auto result = RouteTable::build(config_of(vector["table"]));
    for (const json& query : vector["queries"]) {
      SCOPED_TRACE(query.dump());
      if (query[0] == "<config>") {
        ASSERT_FALSE(result);
        const std::string text = result.error().to_string();
        for (const json& row : vector["table"])
          EXPECT_THAT(text, testing::HasSubstr("backend \"" + row["name"].get<std::string>() + '"'));
        continue;
      }
      ASSERT_TRUE(result);
      const std::string name = query[0];
      const Decision decision =
          (*result)->find({Ipv4(192, 0, 2, 4), 443}, greeting_of(name), name, Ipv4(192, 0, 2, 9), {});
      EXPECT_EQ(decision.backend == nullptr ? json() : json(decision.backend->name), query[1]);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Field, RouteCase, testing::Values("RTE-01", "RTE-03", "RTE-05", "RTE-07"),
                         [](const auto& test_case) {
                           std::string name = test_case.param;
                           std::erase(name, '-');
                           return name;
                         });

/// Clusters blue (workers .101 .102) and red (.111) share 192.0.2.4; blue's oauth has a public address of its own.
class TwoClusters : public testing::Test {
 protected:
  static constexpr const char* kAliases[] = {"kubernetes", "kubernetes.default", "kubernetes.default.svc",
                                             "kubernetes.default.svc.cluster.local"};

  static std::shared_ptr<const RouteTable> make(const std::vector<std::string>& clusters) {
    RouteConfig config;
    config.listeners = {{{Ipv4(192, 0, 2, 4), 6443}, {}},
                        {{Ipv4(192, 0, 2, 4), 443}, {}},
                        {{Ipv4(203, 0, 113, 20), 443}, {"oauth.blue.hc.example.com"}}};
    const bool is_shared = clusters.size() > 1;
    for (const std::string& x : clusters) {
      const std::string domain = x + ".hc.example.com";
      const std::string cluster = "hcp/" + x;
      const auto add = [&](std::uint16_t port, const std::string& service, std::vector<std::string> names) -> Route& {
        Route& route = config.routes.emplace_back();
        route.port = port;
        route.names = std::move(names);
        route.backend = x + '-' + service;
        return route;
      };
      for (const char* service :
           {"kube-apiserver", "oauth-openshift", "ignition-server", "konnectivity-server", "apps"}) {
        Backend& backend = config.backends.emplace_back();
        backend.name = x + '-' + service;
        backend.cluster = cluster;
        backend.endpoints = {{Ipv4(10, 0, 0, 1), 6443}};
      }
      add(6443, "kube-apiserver", {"api." + domain, "api-int." + domain});
      Route& rest = add(6443, "kube-apiserver", {});
      rest.no_sni = rest.other_sni = true;
      if (is_shared) rest.source.cluster = cluster;
      add(443, "oauth-openshift", {"oauth." + domain});
      add(443, "ignition-server", {"ignition." + domain});
      add(443, "konnectivity-server", {"konnectivity." + domain});
      add(443, "apps", {"*.apps." + domain});
      Route& aliases = add(443, "kube-apiserver", {std::begin(kAliases), std::end(kAliases)});
      if (is_shared) aliases.source.cluster = cluster;
    }
    return RouteTable::build(std::move(config)).value();
  }

  static std::string find(const RouteTable& table, std::uint16_t port, const char* name, Ipv4 source,
                          Ipv4 listener = Ipv4(192, 0, 2, 4)) {
    static const SourceClusters kClusters{
        {Ipv4(192, 0, 2, 101), "hcp/blue"}, {Ipv4(192, 0, 2, 102), "hcp/blue"}, {Ipv4(192, 0, 2, 111), "hcp/red"}};
    const auto server_name = name == nullptr ? std::nullopt : std::optional<std::string_view>(name);
    const Decision decision =
        table.find({listener, port}, greeting_of(server_name), server_name.value_or(""), source, kClusters);
    return decision.backend == nullptr ? "close" : decision.backend->name;
  }
};

const Ipv4 kBlue1(192, 0, 2, 101), kBlue2(192, 0, 2, 102), kRed(192, 0, 2, 111), kStranger(192, 0, 2, 150);

TEST_F(TwoClusters, ListenerTable) {
  const auto table = make({"blue", "red"});
  // 6443, own names: from anywhere.
  for (const Ipv4 source : {kBlue1, kRed, kStranger}) {
    EXPECT_EQ(find(*table, 6443, "api.blue.hc.example.com", source), "blue-kube-apiserver");
    EXPECT_EQ(find(*table, 6443, "api-int.red.hc.example.com", source), "red-kube-apiserver");
  }
  // 6443, no or another name: by source.
  for (const char* name :
       {static_cast<const char*>(nullptr), "kubernetes.default.svc", "unknown.example.net", "172.20.0.1"}) {
    SCOPED_TRACE(name == nullptr ? "no name" : name);
    EXPECT_EQ(find(*table, 6443, name, kBlue1), "blue-kube-apiserver");
    EXPECT_EQ(find(*table, 6443, name, kBlue2), "blue-kube-apiserver");
    EXPECT_EQ(find(*table, 6443, name, kRed), "red-kube-apiserver");
    EXPECT_EQ(find(*table, 6443, name, kStranger), "close");
  }
  // 443.
  for (const Ipv4 source : {kBlue1, kRed, kStranger}) {
    EXPECT_EQ(find(*table, 443, "oauth.blue.hc.example.com", source), "blue-oauth-openshift");
    EXPECT_EQ(find(*table, 443, "ignition.red.hc.example.com", source), "red-ignition-server");
    EXPECT_EQ(find(*table, 443, "konnectivity.blue.hc.example.com", source), "blue-konnectivity-server");
    EXPECT_EQ(find(*table, 443, "console.apps.red.hc.example.com", source), "red-apps");
    EXPECT_EQ(find(*table, 443, "a.b.apps.blue.hc.example.com", source), "blue-apps");
    EXPECT_EQ(find(*table, 443, "apps.blue.hc.example.com", source), "close");
    EXPECT_EQ(find(*table, 443, nullptr, source), "close");
    EXPECT_EQ(find(*table, 443, "192.0.2.4", source), "close");
    EXPECT_EQ(find(*table, 443, "unknown.example.net", source), "close");
  }
  for (const char* alias : kAliases) {
    EXPECT_EQ(find(*table, 443, alias, kBlue2), "blue-kube-apiserver");
    EXPECT_EQ(find(*table, 443, alias, kRed), "red-kube-apiserver");
    EXPECT_EQ(find(*table, 443, alias, kStranger), "close");
  }
  // The public address of blue's oauth.
  const Ipv4 vip(203, 0, 113, 20);
  EXPECT_EQ(find(*table, 443, "oauth.blue.hc.example.com", kStranger, vip), "blue-oauth-openshift");
  for (const char* name :
       {"oauth.red.hc.example.com", "ignition.blue.hc.example.com", "kubernetes", "x.apps.blue.hc.example.com"}) {
    EXPECT_EQ(find(*table, 443, name, kBlue1, vip), "close") << name;
  }
  EXPECT_EQ(find(*table, 443, nullptr, kBlue1, vip), "close");
}

TEST_F(TwoClusters, WithOneClusterEverySourceIsItsOwn) {
  const auto table = make({"blue"});
  EXPECT_EQ(find(*table, 6443, nullptr, kStranger), "blue-kube-apiserver");
  EXPECT_EQ(find(*table, 6443, "unknown.example.net", kStranger), "blue-kube-apiserver");
  EXPECT_EQ(find(*table, 443, "kubernetes.default.svc", kStranger), "blue-kube-apiserver");
  EXPECT_EQ(find(*table, 443, nullptr, kStranger), "close");
}

}  // namespace
}  // namespace hcpnet::proxy
