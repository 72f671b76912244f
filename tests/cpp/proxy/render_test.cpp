// SPDX-License-Identifier: Apache-2.0
// Configurations for HAProxy and Envoy, as text; tests/command/test_targets.py drives the programs themselves.
#include <gmock/gmock.h>

#include <algorithm>
#include <hcpnet/proxy/render_envoy.hpp>
#include <hcpnet/proxy/render_haproxy.hpp>
#include <map>
#include <nlohmann/json.hpp>

namespace hcpnet::proxy {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Endpoint endpoint(std::uint8_t last, std::uint16_t port) {
  return {Ipv4(192, 0, 2, last), port};
}
Cidr cidr(const char* text) {
  return parse_cidr(text).value();
}

/// One TLS listener with one named route to one backend.
RouteConfig small() {
  RouteConfig config;
  config.listeners = {{endpoint(4, 443)}};
  Backend& backend = config.backends.emplace_back();
  backend.name = "b";
  backend.endpoints = {endpoint(9, 6443)};
  Route& route = config.routes.emplace_back();
  route.port = 443;
  route.names = {"a.example"};
  route.backend = "b";
  return config;
}

std::vector<std::string> codes(const Diagnostics& warnings) {
  std::vector<std::string> all;
  for (const Diagnostic& d : warnings) all.push_back(d.code);
  return all;
}

std::string haproxy(const RouteConfig& config, Diagnostics& warnings, HaproxyOptions options = {}) {
  const auto files = render_haproxy(config, {}, options, warnings);
  EXPECT_EQ(files.front().name, "haproxy.cfg");
  return files.front().text;
}
std::string haproxy(const RouteConfig& config, HaproxyOptions options = {}) {
  Diagnostics warnings;
  const std::string text = haproxy(config, warnings, options);
  EXPECT_THAT(codes(warnings), ElementsAre());
  return text;
}
nlohmann::json envoy(const RouteConfig& config, Diagnostics& warnings) {
  return render_envoy(config, {}, {}, warnings)["static_resources"];
}
nlohmann::json envoy(const RouteConfig& config) {
  Diagnostics warnings;
  auto json = envoy(config, warnings);
  EXPECT_THAT(codes(warnings), ElementsAre());
  return json;
}

TEST(RenderProxy, TheSameInputGivesTheSameBytes) {
  Diagnostics warnings;
  EXPECT_EQ(render_haproxy(small(), {}, {}, warnings), render_haproxy(small(), {}, {}, warnings));
  EXPECT_EQ(render_envoy_files(small(), {}, {}, "/x/", warnings), render_envoy_files(small(), {}, {}, "/x/", warnings));
}

TEST(RenderProxy, EverythingABackendSays) {
  RouteConfig config = small();
  Backend& b = config.backends[0];
  b.balance = Balance::random_of_two;
  b.connect_timeout = std::chrono::milliseconds(1500);
  b.idle_timeout = std::chrono::seconds(7);
  b.max_connections = 12;
  b.health_check = HealthCheck{};
  b.health_check->kind = HealthCheck::Kind::tls;
  b.health_check->server_name = "a.example";
  b.proxy_header = ProxyHeaderVersion::v2;
  b.endpoints.push_back({parse_ip_address("2001:db8::9").value(), 6443});
  config.listeners[0].dial_from = {Ipv4(192, 0, 2, 4)};
  EXPECT_THAT(haproxy(config),
              HasSubstr("\nbackend b\n  mode tcp\n  balance random(2)\n  timeout connect 1500ms\n"
                        "  timeout tunnel 7000ms\n  tcp-request content reject if { be_conn gt 12 }\n"
                        "  server 1 192.0.2.9:6443 check inter 10000ms fall 3 rise 2 check-ssl verify none check-sni "
                        "a.example observe layer4 error-limit 5 on-error mark-down send-proxy-v2 source 192.0.2.4\n"
                        "  server 2 [2001:db8::9]:6443 "));
  const auto json = envoy(config);
  const auto& cluster = json["clusters"][0];
  EXPECT_EQ(cluster["lb_policy"], "LEAST_REQUEST");
  EXPECT_EQ(cluster["connect_timeout"], "1.500s");
  EXPECT_EQ(cluster["circuit_breakers"]["thresholds"][0]["max_connections"], 12);
  EXPECT_EQ(cluster["health_checks"][0]["interval"], "10s");
  EXPECT_EQ(cluster["transport_socket"]["typed_config"]["config"]["version"], "V2");
  EXPECT_EQ(cluster["upstream_bind_config"]["source_address"]["address"], "192.0.2.4");
  EXPECT_EQ(json["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]["idle_timeout"], "7s");
}

TEST(RenderProxy, OurAddressesOfBothFamilies) {
  const IpAddress own = parse_ip_address("2001:db8::4").value();
  RouteConfig config = small();
  config.backends[0].endpoints.push_back({parse_ip_address("2001:db8::9").value(), 6443});
  config.listeners[0].dial_from = {own, Ipv4(192, 0, 2, 4)};
  EXPECT_THAT(haproxy(config), HasSubstr("  server 1 192.0.2.9:6443 source 192.0.2.4\n"
                                         "  server 2 [2001:db8::9]:6443 source [2001:db8::4]\n"));
  const auto address = [](const char* text) { return nlohmann::json{{"address", text}, {"port_value", 0}}; };
  auto binding = envoy(config)["clusters"][0]["upstream_bind_config"];
  EXPECT_EQ(binding["source_address"], address("192.0.2.4"));
  EXPECT_EQ(binding["extra_source_addresses"][0]["address"], address("2001:db8::4"));

  config.listeners[0].dial_from = {own};
  binding = envoy(config)["clusters"][0]["upstream_bind_config"];
  EXPECT_EQ(binding["source_address"], address("0.0.0.0")) << "no IPv6 address for an endpoint of IPv4";
  EXPECT_EQ(binding["extra_source_addresses"][0]["address"], address("2001:db8::4"));

  config.backends[0].endpoints.erase(config.backends[0].endpoints.begin());
  binding = envoy(config)["clusters"][0]["upstream_bind_config"];
  EXPECT_EQ(binding["source_address"], address("2001:db8::4"));
  EXPECT_FALSE(binding.contains("extra_source_addresses"));
}

TEST(RenderProxy, NamesAreResolvedWhenThereAreNoAddresses) {
  RouteConfig config = small();
  config.backends[0].endpoints.clear();
  config.backends[0].host = "b.svc";
  config.backends[0].port = 443;
  EXPECT_THAT(haproxy(config), HasSubstr("  server 1 b.svc:443 resolvers system resolve-prefer ipv4"));
  EXPECT_THAT(haproxy(config), HasSubstr("\nresolvers system\n"));
  EXPECT_THAT(haproxy(small()), Not(HasSubstr("resolvers")));
  EXPECT_EQ(envoy(config)["clusters"][0]["type"], "STRICT_DNS");
}

TEST(RenderProxy, ABackendThatNothingServesHasNoEndpoint) {
  RouteConfig config = small();
  config.backends[0].endpoints.clear();
  config.backends[0].is_unserved = true;
  const std::string text = haproxy(config);
  EXPECT_THAT(text, HasSubstr("\nbackend b\n"));
  EXPECT_THAT(text, Not(HasSubstr("  server ")));
  const auto cluster = envoy(config)["clusters"][0];
  EXPECT_EQ(cluster["type"], "STATIC");
  EXPECT_TRUE(cluster["load_assignment"]["endpoints"][0]["lb_endpoints"].empty());
}

TEST(RenderProxy, WhoMayConnect) {
  RouteConfig config = small();
  config.listeners[0].allow = {cidr("192.0.2.0/24"), cidr("2001:db8::/64")};
  config.listeners[0].deny = {cidr("192.0.2.99/32")};
  const auto filters = envoy(config)["listeners"][0]["filter_chains"][0]["filters"];
  config.listeners[0].max_connections = 5;
  const std::string text = haproxy(config, {.settings = {.max_connections_per_source = 3}});
  EXPECT_THAT(text, HasSubstr("  maxconn 5\n"));
  EXPECT_THAT(text, HasSubstr("session reject if { src 192.0.2.99/32 }\n"));
  EXPECT_THAT(text, HasSubstr("session reject unless { src 192.0.2.0/24 2001:db8::/64 }\n"));
  EXPECT_THAT(text, HasSubstr("session reject if { sc0_conn_cur gt 3 }\n"));
  Diagnostics of_envoy;
  const EngineSettings settings{.max_connections_per_source = 3};
  EXPECT_FALSE(render_envoy(config, {}, {.settings = settings}, of_envoy).empty());
  EXPECT_THAT(codes(of_envoy), ElementsAre("not-expressible", "not-expressible")) << "it has neither limit";
  ASSERT_EQ(filters.size(), 3u);
  EXPECT_EQ(filters[0]["typed_config"]["rules"]["action"], "DENY");
  EXPECT_EQ(filters[1]["typed_config"]["rules"]["action"], "ALLOW");
  EXPECT_EQ(filters[1]["typed_config"]["rules"]["policies"]["clients"]["principals"].size(), 2u);
}

TEST(RenderProxy, AListenerForSomeNamesServesNoOthers) {
  RouteConfig config = small();
  config.routes[0].names = {"a.example", "b.example", "*.apps.example"};
  config.routes[0].no_sni = config.routes[0].other_sni = config.routes[0].not_tls = true;
  config.listeners[0].only_names = {"a.example", "x.apps.example"};
  Diagnostics warnings;
  const auto files = render_haproxy(config, {}, {}, warnings);
  EXPECT_THAT(files.front().text, HasSubstr("  use_backend closed if !is-allowed\n"));
  EXPECT_THAT(files, Contains(RenderedFile{"maps/443-only-1.lst", "a.example\nx.apps.example\n"}));
  const auto chains = envoy(config)["listeners"][0]["filter_chains"];
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0]["filter_chain_match"]["server_names"], (nlohmann::json{"a.example", "x.apps.example"}));
}

TEST(RenderProxy, TheLongestWildcardComesFirst) {
  RouteConfig config = small();
  config.routes[0].names = {"*.example", "*.b.example", "*.a.b.example"};
  Diagnostics warnings;
  EXPECT_THAT(render_haproxy(config, {}, {}, warnings),
              Contains(RenderedFile{"maps/443-wildcard.map",
                                    ".a.b.example *.a.b.example\n.b.example *.b.example\n"
                                    ".example *.example\n"}));
}

TEST(RenderProxy, WhatHasNoCounterpartIsSaid) {
  RouteConfig config = small();
  config.listeners.push_back({endpoint(4, 9000)});
  config.listeners[1].kind = ListenerKind::udp;
  Diagnostics warnings;
  haproxy(config, warnings);
  EXPECT_THAT(codes(warnings), ElementsAre("not-expressible"));

  RouteConfig nested = small();
  nested.routes[0].names = {"x.a.example"};
  nested.routes[0].source.prefixes = {cidr("192.0.2.0/25")};
  nested.routes.push_back(nested.routes[0]);
  nested.routes[1].names = {"*.a.example"};
  nested.routes[1].source.prefixes = {cidr("192.0.2.128/25")};
  Diagnostics of_haproxy;
  haproxy(nested, of_haproxy);
  EXPECT_THAT(codes(of_haproxy), ElementsAre("not-expressible"));

  RouteConfig of_nobody = small();
  of_nobody.routes[0].source.cluster = "c";
  of_nobody.listeners[0].trusted_proxies = {cidr("192.0.2.0/24")};
  of_nobody.listeners[0].interface = "eth0";
  Diagnostics of_envoy, none;
  envoy(of_nobody, of_envoy);
  EXPECT_THAT(codes(of_envoy), ElementsAre("no-sources", "not-expressible", "not-expressible"));
  EXPECT_THAT(haproxy(of_nobody, none), HasSubstr("bind 192.0.2.4:443 interface eth0\n"));
  EXPECT_THAT(codes(none), ElementsAre("no-sources"));
}

TEST(RenderProxy, EverythingThatSettingsSay) {
  const EngineSettings settings{.max_hello_bytes = 20'000,
                                .max_connections = 99,
                                .max_connect_attempts = 5,
                                .keepalive = {std::chrono::seconds(31), std::chrono::seconds(32), 33},
                                .buffers = {kLeastSocketBufferBytes, 2 * kLeastSocketBufferBytes}};
  const std::string text = haproxy(small(), {.settings = settings});
  EXPECT_THAT(text, HasSubstr("  maxconn 99\n  tune.rcvbuf.client 65536\n  tune.rcvbuf.server 65536\n"
                              "  tune.sndbuf.client 196608\n  tune.sndbuf.server 196608\n  tune.bufsize 21024\n"));
  EXPECT_THAT(text, HasSubstr("  retries 4\n  clitcpka-idle 31s\n  clitcpka-intvl 32s\n  clitcpka-cnt 33\n"
                              "  srvtcpka-idle 31s\n  srvtcpka-intvl 32s\n  srvtcpka-cnt 33\n"));
  Diagnostics warnings;
  const auto json = render_envoy(small(), {}, {.settings = settings}, warnings)["static_resources"];
  EXPECT_THAT(codes(warnings), ElementsAre("not-expressible")) << "Envoy reads 16 KiB of a hello at most";
  const auto& listener = json["listeners"][0];
  EXPECT_EQ(listener["socket_options"][0], (nlohmann::json{{"level", 1}, {"name", 8}, {"int_value", 65536}}));
  EXPECT_EQ(listener["socket_options"].size(), 6u);
  EXPECT_EQ(listener["filter_chains"][0]["filters"][0]["typed_config"]["max_connect_attempts"], 5);
  const auto& cluster = json["clusters"][0];
  EXPECT_EQ(cluster["upstream_bind_config"]["socket_options"][1]["int_value"], 196608);
  EXPECT_EQ(cluster["upstream_connection_options"]["tcp_keepalive"]["keepalive_probes"], 33);
}

TEST(RenderProxy, NeitherHasASmallLimitForAHello) {
  const EngineSettings settings{.max_hello_bytes = 2048};
  Diagnostics of_envoy, of_haproxy;
  EXPECT_FALSE(render_envoy(small(), {}, {.settings = settings}, of_envoy).empty());
  EXPECT_THAT(codes(of_envoy), ElementsAre("not-expressible"));
  haproxy(small(), of_haproxy, {.settings = settings});
  EXPECT_THAT(codes(of_haproxy), ElementsAre("not-expressible"));
}

TEST(RenderProxy, HaproxysBufferHoldsTheLargestHello) {
  EXPECT_THAT(haproxy(small()), HasSubstr("  tune.bufsize 17408\n")) << "16 KiB, and what HAProxy keeps free";
}

TEST(RenderProxy, HaproxysLongestTimeIsNotExceeded) {
  RouteConfig config = small();
  config.backends[0].idle_timeout = std::chrono::hours(24 * 30);
  EXPECT_THAT(haproxy(config), HasSubstr("  timeout tunnel 2147483647ms\n"));
  config.listeners[0].kind = ListenerKind::http;
  EXPECT_THAT(haproxy(config), HasSubstr("  timeout server 2147483647ms\n  timeout tunnel 2147483647ms\n"))
      << "of a request, and of what it becomes by Upgrade";
}

TEST(RenderProxy, AnAllowedNameGoesToTheRouteClosestToIt) {
  RouteConfig config = small();
  config.backends.push_back(config.backends[0]);
  config.backends[1].name = "other";
  config.listeners[0].only_names = {"oauth.example"};
  config.routes[0].names = {"*.example"};
  config.routes.push_back(config.routes[0]);
  config.routes[1].names = {"oauth.example"};
  config.routes[1].backend = "other";
  const auto chains = envoy(config)["listeners"][0]["filter_chains"];
  ASSERT_EQ(chains.size(), 1u) << "Envoy refuses two that match alike";
  EXPECT_EQ(chains[0]["filters"].back()["typed_config"]["cluster"], "other");

  config.listeners[0].kind = ListenerKind::http;
  const auto http = envoy(config)["listeners"][0]["filter_chains"][0]["filters"].back()["typed_config"];
  const auto& hosts = http["route_config"]["virtual_hosts"];
  ASSERT_EQ(hosts.size(), 1u);
  EXPECT_EQ(hosts[0]["routes"][0]["route"]["cluster"], "other");

  // For these clients alone: a stranger must not get by the broader route what is closed to him without a list.
  config.listeners[0].kind = ListenerKind::tls;
  config.listeners[0].only_names = {"x.oauth.example"};
  config.routes[1].names = {"*.oauth.example"};
  config.routes[1].source.prefixes = {cidr("192.0.2.0/25")};
  const auto scoped = envoy(config)["listeners"][0]["filter_chains"];
  ASSERT_EQ(scoped.size(), 1u);
  EXPECT_TRUE(scoped[0]["filter_chain_match"].contains("source_prefix_ranges"));
}

TEST(RenderProxy, OverHttpEnvoyHasIdleTimeAndAttemptsToo) {
  RouteConfig config = small();
  config.listeners[0].kind = ListenerKind::http;
  config.backends[0].idle_timeout = std::chrono::seconds(90);
  const auto filter = envoy(config)["listeners"][0]["filter_chains"][0]["filters"].back()["typed_config"];
  const auto& action = filter["route_config"]["virtual_hosts"][0]["routes"][0]["route"];
  EXPECT_EQ(action["idle_timeout"], "90s");
  EXPECT_EQ(action["retry_policy"], (nlohmann::json{{"retry_on", "connect-failure"}, {"num_retries", 2}}));
}

/// The names that Envoy serves by the address that a client came to; "": every other address.
std::map<std::string, nlohmann::json> names_by_address(std::vector<std::string> one, std::vector<std::string> other,
                                                       const Endpoint& where = endpoint(5, 443)) {
  RouteConfig config = small();
  config.listeners[0].only_names = std::move(one);
  config.listeners.push_back({where, std::move(other)});
  Diagnostics warnings;
  const auto listeners = render_envoy(config, {}, {.any_address = true}, warnings)["static_resources"]["listeners"];
  EXPECT_THAT(codes(warnings), IsEmpty());
  std::map<std::string, nlohmann::json> found;
  for (const auto& chain : listeners.at(0).at("filter_chains")) {
    const auto& match = chain.at("filter_chain_match");
    const auto ranges = match.find("prefix_ranges");
    const std::string address = ranges == match.end() ? "" : (*ranges)[0].at("address_prefix").get<std::string>();
    EXPECT_TRUE(found.emplace(address, match.at("server_names")).second);
  }
  return found;
}

/// By the clients of each chain of the only listener, or "": domain to backend, "-" where it is closed.
std::map<std::string, std::map<std::string, std::string>> hosts_by_client(const RouteConfig& config) {
  std::map<std::string, std::map<std::string, std::string>> all;
  const nlohmann::json rendered = envoy(config);
  for (const auto& chain : rendered["listeners"][0]["filter_chains"]) {
    std::map<std::string, std::string> hosts;
    for (const auto& host : chain["filters"].back()["typed_config"]["route_config"]["virtual_hosts"])
      hosts[host["name"].get<std::string>()] =
          host["routes"].empty() ? std::string("-") : host["routes"][0]["route"]["cluster"].get<std::string>();
    const auto& match = chain["filter_chain_match"];
    if (!match.contains("source_prefix_ranges")) all[""] = hosts;
    for (const auto& range : match.value("source_prefix_ranges", nlohmann::json::array())) {
      const auto client = range["address_prefix"].get<std::string>() + '/' + range["prefix_len"].dump();
      EXPECT_TRUE(all.emplace(client, hosts).second) << client << ": Envoy refuses a second chain";
    }
  }
  return all;
}

/// Adds a route to a backend of its own.
void add_route(RouteConfig& config, const std::string& backend, std::vector<std::string> names,
               std::vector<Cidr> clients) {
  config.backends.emplace_back().name = backend;
  config.backends.back().endpoints = {endpoint(9, 80)};
  Route& route = config.routes.emplace_back();
  route.port = config.listeners.front().address.port;
  route.names = std::move(names);
  route.source.prefixes = std::move(clients);
  route.backend = backend;
}

TEST(RenderProxy, OverHttpEnvoyGivesANameForSomeClientsToNobodyElse) {
  RouteConfig config;
  config.listeners = {{endpoint(4, 80)}};
  config.listeners[0].kind = ListenerKind::http;
  add_route(config, "all", {"*.h.example"}, {});
  add_route(config, "wide", {"a.h.example"}, {cidr("10.1.0.0/16"), cidr("10.2.0.0/16")});
  add_route(config, "narrow", {"b.h.example", "*.example"}, {cidr("10.1.0.0/16"), cidr("10.2.3.0/24")});
  add_route(config, "third", {"c.h.example"}, {cidr("10.3.0.0/16")});
  using Hosts = std::map<std::string, std::string>;
  const Hosts both = {{"*.example", "narrow"},
                      {"*.h.example", "all"},
                      {"a.h.example", "wide"},
                      {"b.h.example", "narrow"},
                      {"c.h.example", "narrow"}};
  const auto with = [](Hosts changed) {
    changed.merge(Hosts{
        {"*.example", "-"}, {"*.h.example", "all"}, {"a.h.example", "-"}, {"b.h.example", "-"}, {"c.h.example", "-"}});
    return changed;
  };
  const std::map<std::string, Hosts> expected = {{"", with({})},
                                                 {"10.1.0.0/16", both},
                                                 {"10.2.0.0/16", with({{"a.h.example", "wide"}})},
                                                 {"10.2.3.0/24", both},
                                                 {"10.3.0.0/16", with({{"c.h.example", "third"}})}};
  EXPECT_EQ(hosts_by_client(config), expected);
}

TEST(RenderProxy, EnvoyDoesNotGoOnToABroaderClaimForOtherClients) {
  RouteConfig config;
  config.listeners = {{endpoint(4, 443)}};
  add_route(config, "one", {"a.h.example"}, {cidr("10.1.0.0/16")});
  add_route(config, "two", {"*.h.example"}, {cidr("10.2.0.0/16")});
  Diagnostics warnings;
  (void)envoy(config, warnings);
  EXPECT_THAT(codes(warnings), ElementsAre("not-expressible"));
  config.routes[1].source = config.routes[0].source;
  (void)envoy(config);
}

TEST(RenderProxy, OnEveryAddressEnvoyGoesByTheOneThatAClientCameTo) {
  using Names = std::map<std::string, nlohmann::json>;
  const std::string one = endpoint(4, 443).address.to_string(), other = endpoint(5, 443).address.to_string();
  const auto json = [](const char* name) { return nlohmann::json::array({name}); };
  EXPECT_EQ(names_by_address({"a.example"}, {"*.example"}),
            (Names{{"", json("a.example")}, {one, json("a.example")}, {other, json("a.example")}}));
  EXPECT_EQ(names_by_address({"a.example"}, {"b.example"}), (Names{{one, json("a.example")}}))
      << "nothing, not everything";
  EXPECT_EQ(names_by_address({"a.example"}, {"a.example"}), (Names{{"", json("a.example")}}))
      << "no difference, no need";
  EXPECT_EQ(names_by_address({"b.example"}, {"a.example"}, {Ipv4{}, 443}), (Names{{"", json("a.example")}}))
      << "the unspecified address is every other one";
}

TEST(RenderProxy, AListenerThatLeadsNowhereIsNotThereForEnvoy) {
  RouteConfig config = small();
  config.listeners.push_back({endpoint(4, 6443)});
  config.listeners.push_back({endpoint(5, 443), {"b.example"}});
  const auto listeners = envoy(config)["listeners"];
  ASSERT_EQ(listeners.size(), 1u) << "it does not start with one that has no chain";
  EXPECT_EQ(listeners[0]["name"], "192.0.2.4-443");
}

TEST(RenderProxy, OnEveryAddressOfHaproxyOnlyWhatAllOfThemAllow) {
  const auto merged = [](std::vector<std::string> one, std::vector<std::string> other) {
    RouteConfig config = small();
    config.listeners[0].only_names = std::move(one);
    config.listeners.push_back({endpoint(5, 443), std::move(other)});
    Diagnostics warnings;
    std::string text = haproxy(config, warnings, {.any_address = true});
    EXPECT_THAT(codes(warnings), ElementsAre("not-expressible"));
    return text;
  };
  EXPECT_THAT(merged({"a.example"}, {"*.example"}), HasSubstr("is-allowed"));
  EXPECT_THAT(merged({}, {"a.example"}), HasSubstr("use_backend closed if !is-allowed"));
  EXPECT_THAT(merged({"a.example"}, {"b.example"}), Not(HasSubstr("bind :443"))) << "nothing, not everything";
}

/// A listener of kind TCP.
RouteConfig blind() {
  RouteConfig config = small();
  config.listeners[0].kind = ListenerKind::tcp;
  config.routes[0].names.clear();
  config.routes[0].not_tls = true;
  return config;
}

/// The clients of each chain of a listener, by the chain's name.
std::map<std::string, std::vector<std::string>> clients_by_chain(const RouteConfig& config) {
  std::map<std::string, std::vector<std::string>> found;
  const auto listeners = envoy(config)["listeners"];
  for (const auto& chain : listeners.at(0).at("filter_chains")) {
    EXPECT_EQ(chain.at("filters").size(), 1u) << "none that would judge clients by what they say";
    std::vector<std::string>& clients = found[chain.at("name").get<std::string>()];
    const auto& match = chain.at("filter_chain_match");
    if (!match.contains("source_prefix_ranges")) continue;
    for (const auto& range : match["source_prefix_ranges"])
      clients.push_back(range.at("address_prefix").get<std::string>() + '/' +
                        std::to_string(range.at("prefix_len").get<int>()));
  }
  return found;
}

TEST(RenderProxy, WhereTheServerSpeaksFirstEnvoyKnowsClientsByTheirChain) {
  using Chains = std::map<std::string, std::vector<std::string>>;
  RouteConfig config = blind();
  EXPECT_EQ(clients_by_chain(config), (Chains{{"b-0", {}}}));
  config.listeners[0].deny = {cidr("192.0.2.99/32")};
  EXPECT_EQ(clients_by_chain(config), (Chains{{"b-0", {"0.0.0.0/0", "::/0"}}, {"denied", {"192.0.2.99/32"}}}));
  config.listeners[0].allow = {cidr("192.0.2.0/24"), cidr("192.0.2.99/32")};
  EXPECT_EQ(clients_by_chain(config), (Chains{{"b-0", {"192.0.2.0/24"}}, {"denied", {"192.0.2.99/32"}}}))
      << "who is denied is so whatever else allows him";

  config.routes.push_back(config.routes[0]);
  config.backends.push_back(config.backends[0]);
  config.routes[1].backend = config.backends[1].name = "own";
  config.routes[1].source.prefixes = {cidr("192.0.0.0/16"), cidr("203.0.113.0/24")};
  config.listeners[0].allow.push_back(cidr("198.51.100.0/24"));
  EXPECT_EQ(clients_by_chain(config),
            (Chains{{"own-0", {"192.0.2.0/24"}}, {"b-1", {"198.51.100.0/24"}}, {"denied", {"192.0.2.99/32"}}}))
      << "Envoy takes no two chains for the same clients, and the narrower claim counts";

  config.listeners[0].deny = {cidr("192.0.0.0/8"), cidr("198.51.100.0/24")};
  EXPECT_TRUE(envoy(config)["listeners"].empty()) << "nobody is left";
}

TEST(RenderProxy, DatagramsThatSomeMayNotSendAreNotForwardedByEnvoy) {
  RouteConfig config = blind();
  config.listeners[0].kind = ListenerKind::udp;
  config.listeners[0].deny = {cidr("192.0.2.99/32")};
  config.routes[0].protocol = Protocol::udp;
  Diagnostics warnings;
  const auto listeners = envoy(config, warnings)["listeners"];
  EXPECT_THAT(codes(warnings), ElementsAre("not-expressible"));
  EXPECT_TRUE(listeners.at(0).at("listener_filters").empty());
}

TEST(RenderProxy, UdpAndBlindTcpForEnvoy) {
  RouteConfig config = blind();
  config.listeners.push_back({endpoint(4, 443)});
  config.listeners[1].kind = ListenerKind::udp;
  config.routes.push_back(config.routes[0]);
  config.routes[1].protocol = Protocol::udp;
  const auto listeners = envoy(config)["listeners"];
  ASSERT_EQ(listeners.size(), 2u);
  EXPECT_FALSE(listeners[0].contains("listener_filters"));
  EXPECT_EQ(listeners[0]["filter_chains"].size(), 1u);
  EXPECT_EQ(listeners[1]["address"]["socket_address"]["protocol"], "UDP");
  const auto& filter = listeners[1]["listener_filters"][0];
  EXPECT_EQ(filter["name"], "envoy.filters.udp_listener.udp_proxy");
  EXPECT_EQ(filter["typed_config"]["idle_timeout"], "60s");
}

}  // namespace
}  // namespace hcpnet::proxy
