// SPDX-License-Identifier: Apache-2.0
// Who may connect, how often, and to which endpoint of a backend.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <algorithm>
#include <hcpnet/proxy/proxy_header.hpp>
#include <hcpnet/tls/client_hello.hpp>
#include <stdexcept>

#include "proxy/proxy_test.hpp"

namespace hcpnet::proxy {
namespace {

namespace error = boost::asio::error;
using namespace std::chrono_literals;
using boost::asio::ip::tcp;
using test::ClosedPort;
using test::Peer;
using test::Server;
using Strings = std::vector<std::string>;

class LimitsTest : public test::ProxyTest {
 protected:
  RouteConfig config() { return test::config_for({{"a.test", {server.endpoint()}}}); }
  /// A connection that is refused as soon as it is accepted.
  void expect_refused(const char* from = nullptr) {
    Peer refused = Peer::connect(*this, listener, from);
    EXPECT_TRUE(refused.end());
  }
  Server server{*this};
};

TEST_F(LimitsTest, AListenerHasALimitOfItsOwn) {
  RouteConfig two = config();
  two.listeners[0].max_connections = 1;
  two.listeners.push_back({{Ipv4(127, 0, 0, 2), 443}});
  start(two);
  auto first = tunnel("a.test", server);
  expect_refused();
  listener = engine->listeners().at(1).bound;
  auto other = tunnel("a.test", server);
  const EngineStats stats = engine->stats();
  EXPECT_EQ(stats.listener_limit_refused, 1u);
  EXPECT_EQ(stats.limit_refused, 0u);
  const auto& counted = stats.listeners.at(two.listeners[0].address);
  EXPECT_EQ(counted.total, 1u);
  EXPECT_EQ(counted.active, 1u);
  EXPECT_EQ(counted.limit_refused, 1u);
  first.first.close();
  first.second.close();
  ASSERT_TRUE(run_until([&] { return engine->stats().active == 1; }));
  listener = engine->listeners().at(0).bound;
  auto again = tunnel("a.test", server);
}

TEST_F(LimitsTest, AListenerGoesOnWhenTheEmbeddersLogHasFailed) {
  auto with = options();
  with.max_connections = 1;
  with.log = Logger(
      [](const LogRecord& record) {
        if (record.message == "connection limit reached") throw std::runtime_error("no room for a log");
      },
      "proxy");
  start(config(), with);
  {
    auto first = tunnel("a.test", server);
    Peer second = client();
    EXPECT_THROW(run_until([] { return false; }), std::runtime_error);
    EXPECT_EQ(engine->stats().limit_refused, 1u);
  }
  expect_all_closed();
  auto again = tunnel("a.test", server);
  expect_works(again.first, again.second);
}

TEST_F(LimitsTest, ASourceHasALimitOverAllListeners) {
  auto with = options();
  with.max_connections_per_source = 2;
  start(config(), with);
  auto first = tunnel("a.test", server);
  auto second = tunnel("a.test", server);
  expect_refused();
  Peer other = Peer::connect(*this, listener, "127.0.0.9");
  other.send(hello("a.test"));
  Peer to = server.accept();
  EXPECT_EQ(engine->stats().source_limit_refused, 1u);
  EXPECT_EQ(closed("reason"), Strings{"source_limit"});
  first.first.close();
  first.second.close();
  ASSERT_TRUE(run_until([&] { return engine->stats().active == 2; }));
  auto again = tunnel("a.test", server);
}

TEST_F(LimitsTest, ABackendHasALimit) {
  RouteConfig limited = config();
  limited.backends[0].max_connections = 1;
  start(limited);
  auto first = tunnel("a.test", server);
  Peer refused = client();
  refused.send(hello("a.test"));
  EXPECT_TRUE(refused.end());
  EXPECT_EQ(engine->stats().backend_limit_refused, 1u);
  EXPECT_EQ(engine->stats().backends.at("a.test").limit_refused, 1u);
  EXPECT_EQ(engine->stats().backends.at("a.test").active, 1u);
  EXPECT_EQ(closed("reason"), Strings{"backend_limit"});
}

TEST_F(LimitsTest, AllowAndDenyJudgeTheSource) {
  RouteConfig guarded = config();
  guarded.listeners[0].allow = {*parse_cidr("127.0.0.0/28")};
  guarded.listeners[0].deny = {*parse_cidr("127.0.0.5/32")};
  start(guarded);
  auto allowed = tunnel("a.test", server);
  expect_refused("127.0.0.5");
  expect_refused("127.0.1.1");
  EXPECT_EQ(engine->stats().source_denied, 2u);
  EXPECT_EQ(closed("reason"), (Strings{"source_denied", "source_denied"}));
  guarded.listeners[0].deny.clear();
  engine->replace(RouteTable::build(guarded).value());
  Peer now = Peer::connect(*this, listener, "127.0.0.5");
  now.send(hello("a.test"));
  Peer to = server.accept();
  expect_works(allowed.first, allowed.second);
}

TEST_F(LimitsTest, OurAddressTowardsBackendsCanBeGiven) {
  RouteConfig from = config();
  from.listeners[0].dial_from = {Ipv4(127, 0, 0, 77), *parse_ipv6("::1")};
  start(from);
  auto [client, backend] = tunnel("a.test", server);
  EXPECT_EQ(backend.socket().remote_endpoint().address().to_string(), "127.0.0.77");
}

TEST_F(LimitsTest, AnInterfaceThatDoesNotExistIsAnError) {
  RouteConfig on = config();
  on.listeners[0].interface = "nosuch0";
  engine = std::make_unique<Engine>(io.get_executor(), options());
  EXPECT_THROW(engine->start(RouteTable::build(on).value()), boost::system::system_error);
  on.listeners[0].interface = "lo";
  start(on);
  auto works = tunnel("a.test", server);
}

TEST_F(LimitsTest, AnEndpointThatRefusesIsEjected) {
  ClosedPort closed_port(*this);
  RouteConfig both = test::config_for({{"a.test", {closed_port.endpoint(), server.endpoint()}}});
  both.backends[0].ejection = {2, 10s};
  start(both);
  for (int i = 0; i < 6; ++i) auto works = tunnel("a.test", server);
  ASSERT_TRUE(run_until([&] { return engine->stats().active == 0; }));
  const auto backend = engine->stats().backends.at("a.test");
  EXPECT_EQ(backend.ejections, 1u);
  EXPECT_TRUE(backend.endpoints.at(closed_port.endpoint()).is_ejected);
  EXPECT_EQ(backend.endpoints.at(closed_port.endpoint()).failures, 2u) << "not asked any more";
  EXPECT_EQ(backend.endpoints.at(server.endpoint()).total, 6u);
  clock.advance(10s);
  EXPECT_FALSE(engine->stats().backends.at("a.test").endpoints.at(closed_port.endpoint()).is_ejected);
}

TEST_F(LimitsTest, AClientWaitsNoLongerForAFamilyThatDoesNotAnswer) {  // RFC 8305
  Server v6(*this, "::1", 0);
  // A full queue answers no SYN: the way in which a broken family looks from here.
  tcp::socket one(outside), two(outside);
  const tcp::endpoint hanging(boost::asio::ip::make_address("::1"), v6.endpoint().port);
  one.connect(hanging);
  two.open(tcp::v6());
  two.native_non_blocking(true);
  ::connect(two.native_handle(), hanging.data(), static_cast<socklen_t>(hanging.size()));  // Asio's would wait
  RouteConfig both = test::config_for({{"a.test", {v6.endpoint(), server.endpoint()}}});
  both.backends[0].endpoints = {server.endpoint(), v6.endpoint()};  // the first one has the odd turn
  start(both);
  Peer from = client();
  const std::string sent = hello("a.test");
  from.send(sent);
  ASSERT_TRUE(run_until([&] { return engine->stats().backends.at("a.test").active == 1; }));
  run_ready();
  EXPECT_FALSE(server.has_connection());
  clock.advance(249ms);
  run_ready();
  EXPECT_FALSE(server.has_connection());
  clock.advance(1ms);
  Peer to = server.accept();
  EXPECT_EQ(to.receive(sent.size()), sent);
  expect_works(from, to);
  EXPECT_EQ(engine->stats().endpoint_failures, 0u) << "who was overtaken has not failed";
}

class NamesTest : public LimitsTest {
 protected:
  EngineOptions resolving() {
    auto with = options();
    with.resolve = [this](const std::string&, std::uint16_t, Resolved resolved) {
      asked.push_back(std::move(resolved));
    };
    return with;
  }
  RouteConfig by_name() {
    RouteConfig named = test::config_for({{"a.test", {}}});
    named.backends[0].host = "a.svc";
    named.backends[0].port = 443;
    return named;
  }
  Peer ask() {
    Peer from = client();
    from.send(hello("a.test"));
    run_ready();
    return from;
  }
  std::vector<Resolved> asked;
};

TEST_F(NamesTest, AnAnswerIsUsedForItsTimeToLive) {
  start(by_name(), resolving());
  Peer first = ask();
  ASSERT_TRUE(run_until([&] { return asked.size() == 1; }));
  asked[0](Resolution({server.endpoint()}, 7s));
  Peer to = server.accept();
  clock.advance(6999ms);
  Peer second = ask();
  Peer to_second = server.accept();
  EXPECT_EQ(asked.size(), 1u);
  clock.advance(1ms);
  Peer third = ask();
  ASSERT_TRUE(run_until([&] { return asked.size() == 2; }));
}

TEST_F(NamesTest, AnOldAnswerServesWhileTheNewOneIsLong) {  // RFC 8767
  start(by_name(), resolving());
  Peer first = ask();
  ASSERT_TRUE(run_until([&] { return asked.size() == 1; }));
  asked[0](Resolution({server.endpoint()}, 5s));
  Peer to = server.accept();
  clock.advance(5s);
  Peer second = ask();
  ASSERT_TRUE(run_until([&] { return asked.size() == 2; }));
  EXPECT_FALSE(server.has_connection());
  clock.advance(1800ms);
  Peer to_second = server.accept();
  Peer third = ask();
  Peer to_third = server.accept();
  EXPECT_EQ(asked.size(), 2u) << "the look-up still runs";
  asked[1](error_code(error::host_not_found_try_again));
  EXPECT_EQ(engine->stats().stale_answers, 2u);
  EXPECT_EQ(engine->stats().resolve_failures, 1u);
}

class HealthTest : public LimitsTest {
 protected:
  RouteConfig checked(const std::vector<Endpoint>& endpoints, HealthCheck check) {
    RouteConfig config = test::config_for({{"a.test", endpoints}});
    config.backends[0].health_check = check;
    return config;
  }
  std::uint64_t checks() { return engine->stats().backends.at("a.test").health_checks; }
  bool is_healthy(const Endpoint& endpoint) {
    return engine->stats().backends.at("a.test").endpoints.at(endpoint).is_healthy;
  }
};

TEST_F(HealthTest, ConnectingIsEnoughForATcpCheck) {
  ClosedPort closed_port(*this);
  start(checked({closed_port.endpoint(), server.endpoint()}, {.interval = 10s}));
  ASSERT_TRUE(run_until([&] { return checks() == 2; }));
  EXPECT_TRUE(is_healthy(server.endpoint()));
  EXPECT_FALSE(is_healthy(closed_port.endpoint()));
  EXPECT_EQ(engine->stats().backends.at("a.test").health_check_failures, 1u);
  for (int i = 0; i < 3; ++i) {
    Peer from = client();
    from.send(hello("a.test"));
  }
  ASSERT_TRUE(
      run_until([&] { return engine->stats().backends.at("a.test").endpoints.at(server.endpoint()).total == 3; }));
  EXPECT_EQ(engine->stats().endpoint_failures, 0u) << "the unhealthy one is not asked";
  clock.advance(10s);
  ASSERT_TRUE(run_until([&] { return checks() == 4; }));
}

TEST_F(HealthTest, ATlsCheckWantsAServerHello) {
  Server mute(*this);
  start(checked({mute.endpoint(), server.endpoint()},
                {.kind = HealthCheck::Kind::tls, .timeout = 2s, .server_name = "a.test"}));
  Peer probe = server.accept();
  const std::string hello = probe.receive(5);
  ASSERT_EQ(hello.size(), 5u);
  const auto rest = probe.receive(static_cast<std::size_t>(static_cast<unsigned char>(hello[3])) << 8 |
                                  static_cast<unsigned char>(hello[4]));
  const std::string whole = hello + rest;
  const auto parsed = tls::parse_client_hello(as_bytes(whole));
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message();
  EXPECT_EQ(parsed->server_name, "a.test");
  EXPECT_EQ(parsed->consumed_bytes, whole.size());
  probe.send(std::string("\x16\x03\x03\x00\x40\x02", 6));
  ASSERT_TRUE(run_until([&] { return checks() == 1; }));
  EXPECT_TRUE(is_healthy(server.endpoint()));
  clock.advance(2s);
  ASSERT_TRUE(run_until([&] { return checks() == 2; }));
  EXPECT_FALSE(is_healthy(mute.endpoint()));
  clock.advance(8s);
  Peer again = server.accept();
  again.send(std::string("\x15\x03\x03\x00\x02\x02\x28", 7));  // an alert
  ASSERT_TRUE(run_until([&] { return checks() == 3; }));
  EXPECT_EQ(engine->stats().backends.at("a.test").health_check_failures, 2u);
}

TEST_F(HealthTest, AQuestionComesAsAConnectionOfAClientWould) {
  RouteConfig config = checked({server.endpoint()}, {.kind = HealthCheck::Kind::tls});
  config.backends[0].proxy_header = ProxyHeaderVersion::v2;
  config.listeners[0].dial_from = {Ipv4(127, 0, 0, 77)};
  start(config);
  Peer probe = server.accept();
  EXPECT_EQ(probe.socket().remote_endpoint().address().to_string(), "127.0.0.77");
  const std::string first = probe.receive(16);
  const auto header = parse_proxy_header(as_bytes(first));
  ASSERT_TRUE(header.has_value()) << header.error().message();
  EXPECT_EQ(header->consumed_bytes, first.size());
  EXPECT_FALSE(header->addresses.has_value()) << "it is the proxy's own";
  EXPECT_EQ(probe.receive(1), "\x16") << "and then the hello";
  probe.send(std::string("\x16\x03\x03\x00\x40\x02", 6));
  ASSERT_TRUE(run_until([&] { return checks() == 1; }));
  EXPECT_TRUE(is_healthy(server.endpoint()));
}

TEST_F(HealthTest, NothingIsAskedOnceTheEngineStops) {
  auto with = options();
  with.clock = &system_clock();
  start(checked({server.endpoint()}, {.interval = 1h}), with);
  ASSERT_TRUE(run_until([&] { return checks() == 1; }));
  bool is_stopped = false;
  engine->stop([&] { is_stopped = true; });
  engine->replace(engine->table());
  io.restart();
  const auto begin = std::chrono::steady_clock::now();
  io.run_for(10s);
  EXPECT_TRUE(is_stopped);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 9s) << "the event loop has come to its end";
}

TEST_F(HealthTest, AnAnswerThatComesTooLateSaysNothing) {
  Server mute(*this);
  RouteConfig config = checked({mute.endpoint()}, {.kind = HealthCheck::Kind::tls, .interval = 10s, .timeout = 2s});
  start(config);
  Peer probe = mute.accept();
  config.backends[0].health_check.reset();
  engine->replace(RouteTable::build(config).value());
  clock.advance(2s);
  run_ready();
  EXPECT_TRUE(probe.end());
  EXPECT_TRUE(is_healthy(mute.endpoint()));
  EXPECT_EQ(checks(), 0u);
}

TEST_F(HealthTest, ManyBackendsWaitForTheirTurn) {
  constexpr std::size_t kBackends = 300;  // more than are asked at a time
  Server all(*this, "127.0.0.1", 512);
  RouteConfig config;
  config.listeners = {{{Ipv4(127, 0, 0, 1), 443}, {}}};
  for (std::size_t i = 0; i < kBackends; ++i) {
    Backend& backend = config.backends.emplace_back();
    backend.name = "backend" + std::to_string(i);
    backend.endpoints = {all.endpoint()};
    backend.health_check = HealthCheck{.interval = 10s};
  }
  start(config);
  const auto all_checked = [&](std::uint64_t times) {
    const auto stats = engine->stats();
    return std::ranges::all_of(stats.backends, [&](const auto& b) { return b.second.health_checks == times; });
  };
  ASSERT_TRUE(run_until([&] { return all_checked(1); }));
  while (all.has_connection()) {
  }
  clock.advance(10s);
  ASSERT_TRUE(run_until([&] { return all_checked(2); }));
  for (const auto& [name, backend] : engine->stats().backends) {
    EXPECT_EQ(backend.health_checks_left_out, 0u) << name;
    EXPECT_EQ(backend.health_check_failures, 0u) << name;
  }
}

TEST_F(HealthTest, ARoundIsLeftOutWhileTheOneBeforeWaits) {
  Server mute(*this, "0.0.0.0", 1024);
  std::vector<Endpoint> endpoints;
  for (std::uint32_t i = 1; i <= 255; ++i) endpoints.push_back({Ipv4(0x7f000000 + i), mute.endpoint().port});
  RouteConfig config = checked(endpoints, {.kind = HealthCheck::Kind::tls, .interval = 1s, .timeout = 5s});
  config.backends.push_back(config.backends[0]);
  config.backends[1].name = "b.test";
  start(config);
  const auto of = [&](const char* name) { return engine->stats().backends.at(name); };
  clock.advance(1s);  // nobody has answered: 254 of b.test still wait for their turn
  run_ready();
  EXPECT_EQ(of("b.test").health_checks_left_out, 255u);
  EXPECT_EQ(of("b.test").health_checks, 0u);
}

TEST_F(HealthTest, AnEndpointThatIsGoneIsNotCounted) {  // a pod that was replaced: unhealthy first, then gone
  ClosedPort replaced(*this);
  RouteConfig config = checked({replaced.endpoint(), server.endpoint()}, {.interval = 10s});
  start(config);
  ASSERT_TRUE(run_until([&] { return checks() == 2; }));
  EXPECT_FALSE(is_healthy(replaced.endpoint()));
  config.backends[0].endpoints = {server.endpoint()};
  engine->replace(RouteTable::build(config).value());
  EXPECT_EQ(engine->stats().backends.at("a.test").endpoints.size(), 1u);
  EXPECT_TRUE(is_healthy(server.endpoint()));
}

TEST_F(HealthTest, AnAddressThatANameHasNoMoreIsNotCounted) {
  ClosedPort replaced(*this);
  RouteConfig config = checked({}, {.interval = 10s});
  config.backends[0].host = "svc.test";
  config.backends[0].port = 443;
  std::vector<Endpoint> addresses{replaced.endpoint(), server.endpoint()};
  auto with = options();
  with.resolve = [&](const std::string&, std::uint16_t, const Resolved& resolved) {
    resolved(Resolution(addresses, 1s));
  };
  start(config, with);
  ASSERT_TRUE(run_until([&] { return checks() == 2; }));
  EXPECT_FALSE(is_healthy(replaced.endpoint()));
  addresses = {server.endpoint()};
  clock.advance(10s);
  ASSERT_TRUE(run_until([&] { return checks() == 3; }));
  EXPECT_EQ(engine->stats().backends.at("a.test").endpoints.size(), 1u);
}

TEST_F(HealthTest, AResolverThatThrowsStopsNoReload) {
  RouteConfig config = checked({}, {.interval = 10s});
  config.backends[0].host = "svc.test";
  config.backends[0].port = 443;
  auto with = options();
  with.resolve = [](const std::string&, std::uint16_t, const Resolved&) { throw std::runtime_error("of a user"); };
  EXPECT_NO_THROW(start(config, with));
  EXPECT_THROW(run_until([] { return false; }), std::runtime_error);
  clock.advance(10s);
  EXPECT_THROW(run_until([] { return false; }), std::runtime_error) << "and it is asked again";
}

TEST_F(HealthTest, WhatIsNotCheckedAnyMoreIsNotBadAnyMore) {
  ClosedPort closed_port(*this);
  RouteConfig config = checked({closed_port.endpoint()}, {});
  start(config);
  ASSERT_TRUE(run_until([&] { return checks() == 1; }));
  EXPECT_FALSE(is_healthy(closed_port.endpoint()));
  config.backends[0].health_check.reset();
  engine->replace(RouteTable::build(config).value());
  EXPECT_TRUE(is_healthy(closed_port.endpoint()));
}

}  // namespace
}  // namespace hcpnet::proxy
