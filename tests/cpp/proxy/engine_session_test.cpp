// SPDX-License-Identifier: Apache-2.0
// From accept to the backend's answer: inspection, choice, endpoints, limits.
#include <gmock/gmock.h>

#include "proxy/proxy_test.hpp"
#include "support/vectors.hpp"

namespace hcpnet::proxy {
namespace {

namespace error = boost::asio::error;
using namespace std::chrono_literals;
using test::Peer;
using test::Server;
using Strings = std::vector<std::string>;

std::string read(const char* file) {
  const auto bytes = test::read_hex(std::string("tls/") + file);
  return {bytes.begin(), bytes.end()};
}

class SessionTest : public test::ProxyTest {
 protected:
  Server server{*this};
};

TEST_F(SessionTest, ABackendThatNothingServesEndsAtOnce) {
  RouteConfig config = test::config_for({{"a.test", {}}});
  config.backends[0].is_unserved = true;
  start(config);
  Peer from = client();
  from.send(hello("a.test"));
  EXPECT_TRUE(from.end());
  EXPECT_EQ(engine->stats().closed.at("no_endpoint"), 1u);
  EXPECT_EQ(engine->stats().backends.at("a.test").connect_failures, 1u);
}

TEST_F(SessionTest, ASilentClientIsClosedAtTheInspectTimeout) {  // PXY-07 (a)
  auto with = options();
  with.inspect_timeout = 3s;
  start(test::config_for({{"a.test", {server.endpoint()}}}), with);
  Peer from = client();
  ASSERT_TRUE(run_until([&] { return engine->stats().active == 1; }));
  clock.advance(2999ms);
  run_ready();
  EXPECT_EQ(engine->stats().active, 1u);
  clock.advance(1ms);
  EXPECT_EQ(from.end(), error::eof);
  EXPECT_EQ(engine->stats().inspect_timeouts, 1u);
  EXPECT_FALSE(server.has_connection());
}

TEST_F(SessionTest, ADrippingClientDoesNotMoveTheDeadline) {  // PXY-07 (b)
  auto with = options();
  with.inspect_timeout = 3s;
  start(test::config_for({{"a.test", {server.endpoint()}}}), with);
  Peer from = client();
  const std::string first = hello("a.test");
  for (std::size_t i = 0; i < 6; ++i) {
    from.send(first.substr(i, 1));
    ASSERT_TRUE(run_until([&] { return engine->stats().active == 1; }));
    run_ready();
    clock.advance(500ms);
  }
  EXPECT_TRUE(from.end());
  EXPECT_EQ(closed("reason"), Strings{"inspect_timeout"});
  EXPECT_EQ(closed("duration_ms"), Strings{"3000"});
  EXPECT_FALSE(server.has_connection());
}

TEST_F(SessionTest, AHelloByteByByteIsRouted) {  // TLS-05
  start({{"a.test", {server.endpoint()}}});
  Peer from = client();
  const std::string first = hello("a.test");
  for (const char byte : first) {
    from.send(std::string(1, byte));
    run_ready();
  }
  EXPECT_EQ(server.accept().receive(first.size()), first);
}

TEST_F(SessionTest, EveryFailureHasItsOwnReasonAndCounter) {  // PXY-21
  const test::ClosedPort refused(*this);
  start({{"api.hcp1.example.com", {refused.endpoint()}}});
  for (const std::string& bytes : {hello("unknown.example.net"), read("TLS-08-nosni.hex"), read("TLS-10-empty-ext.hex"),
                                   std::string(), hello("api.hcp1.example.com"), read("TLS-18-crlf.hex")}) {
    Peer from = client();
    from.send(bytes);
    if (bytes.empty()) {
      ASSERT_TRUE(run_until([&] { return engine->stats().active == 1; }));
      clock.advance(5s);
    }
    EXPECT_TRUE(from.end());
  }
  expect_all_closed();
  EXPECT_EQ(closed("reason"), (Strings{"unknown_name", "no_server_name", "hello_malformed", "inspect_timeout",
                                       "connect_failed", "unusable_name"}));
  EXPECT_EQ(closed("sni"),
            (Strings{"unknown.example.net", "-", "-", "-", "api.hcp1.example.com", "api\\x0d\\x0aX: y.example.com"}));
  EXPECT_EQ(closed("backend"), (Strings{"-", "-", "-", "-", "api.hcp1.example.com", "-"}));
  for (const std::string& client_address : closed("client"))
    EXPECT_THAT(client_address, testing::StartsWith("127.0.0.1:"));
  const EngineStats stats = engine->stats();
  EXPECT_EQ(stats.hello_malformed, 1u);
  EXPECT_EQ(stats.inspect_timeouts, 1u);
  EXPECT_EQ(stats.connect_failures, 1u);
  EXPECT_EQ(stats.decisions.at("no_match"), 2u);
  EXPECT_EQ(stats.decisions.at("unusable_name"), 1u);
  EXPECT_EQ(stats.decisions.at("exact"), 1u);
  for (const std::string& reason : closed("reason")) EXPECT_EQ(stats.closed.at(reason), 1u) << reason;
}

TEST_F(SessionTest, NamesRouteCaseBlindAndBytesStayAsSent) {  // TLS-12
  start({{"api.hcp1.example.com", {server.endpoint()}}});
  const std::string first = read("TLS-12-upper.hex");
  Peer from = client();
  from.send(first);
  EXPECT_EQ(server.accept().receive(first.size()), first);
}

TEST_F(SessionTest, OtherProtocolsGoToTheNotTlsRouteAtOnceOrAreClosed) {  // TLS-25
  RouteConfig config = test::config_for({{"a.test", {server.endpoint()}}});
  start(config);
  Peer closed_one = client();
  closed_one.send(std::string("GET"));
  EXPECT_TRUE(closed_one.end());
  EXPECT_EQ(closed_for("not_tls"), 1u);
  config.routes[0].not_tls = true;
  start(config);
  Peer from = client();
  const std::string request = read("TLS-25-connect.hex");
  from.send(request);
  Peer to = server.accept();
  EXPECT_EQ(to.receive(request.size()), request);
  expect_works(from, to);
}

TEST_F(SessionTest, GarbageAndGiantsAreRefusedAtOnce) {  // TLS-20, TLS-23, TLS-30
  start({{"a.test", {server.endpoint()}}});
  for (const char* file :
       {"TLS-20-sslv2.hex", "TLS-23-hs16m.hex", "TLS-23-rec4001.hex", "TLS-30-a.hex", "TLS-30-b.hex", "TLS-30-c.hex"}) {
    Peer from = client();
    from.send(read(file));
    EXPECT_TRUE(from.end()) << file;
  }
  Peer gone = client();
  gone.send(read("TLS-30-e.hex"));
  gone.finish();
  EXPECT_TRUE(gone.end());
  expect_all_closed();
  EXPECT_EQ(closed("reason"), (Strings{"not_tls", "hello_too_large", "hello_malformed", "hello_malformed",
                                       "hello_malformed", "not_tls", "hello_incomplete"}));
  EXPECT_EQ(engine->stats().closed_before_hello, 1u);
  EXPECT_EQ(engine->stats().hello_too_large, 1u);
}

TEST_F(SessionTest, ARefusedEndpointIsFollowedByTheNext) {
  const test::ClosedPort refused(*this);
  start({{"a.test", {refused.endpoint(), server.endpoint()}}});
  for (int i = 0; i < 4; ++i) {  // whichever the rotation begins with
    auto [from, to] = tunnel("a.test", server);
    expect_works(from, to);
  }
  EXPECT_EQ(engine->stats().endpoint_failures, 2u);
  EXPECT_EQ(engine->stats().connect_failures, 0u);
}

TEST_F(SessionTest, ABackendThatIsDownClosesTheClientAtOnceAndHarmsNobody) {  // PXY-15
  const test::ClosedPort refused(*this);
  start({{"down.test", {refused.endpoint()}}, {"a.test", {server.endpoint()}}});
  auto [from, to] = tunnel("a.test", server);
  Peer unlucky = client();
  unlucky.send(hello("down.test"));
  EXPECT_TRUE(unlucky.end());  // without the clock moving
  expect_works(from, to);
  EXPECT_EQ(closed("sni"), Strings{"down.test"});
  EXPECT_EQ(closed("backend"), Strings{"down.test"});
  EXPECT_EQ(closed("endpoint"), Strings{refused.endpoint().to_string()});
  EXPECT_EQ(closed("reason"), Strings{"connect_failed"});
  EXPECT_EQ(engine->stats().backends.at("down.test").connect_failures, 1u);
  EXPECT_EQ(engine->stats().backends.at("down.test").active, 0u);
}

/// An endpoint that never answers: its queue is full, so the kernel drops every SYN.
class SilentServer {
 public:
  explicit SilentServer(test::EngineFixture& fixture) : server_(fixture, "127.0.0.1", 0) {
    filler_.push_back(Peer::connect(fixture, server_.endpoint()));
  }
  Endpoint endpoint() const { return server_.endpoint(); }

 private:
  Server server_;
  std::vector<Peer> filler_;
};

TEST_F(SessionTest, AnEndpointThatHangsIsGivenUpAtTheConnectTimeout) {
  SilentServer silent(*this);
  RouteConfig config = test::config_for({{"a.test", {silent.endpoint()}}});
  config.backends[0].connect_timeout = 4s;
  start(config);
  Peer from = client();
  from.send(hello("a.test"));
  ASSERT_TRUE(run_until([&] { return engine->stats().decisions.at("exact") == 1; }));
  clock.advance(3999ms);
  run_ready();
  EXPECT_EQ(engine->stats().active, 1u);
  clock.advance(1ms);
  EXPECT_TRUE(from.end());
  EXPECT_EQ(engine->stats().connect_timeouts, 1u);
  EXPECT_EQ(closed("reason"), Strings{"connect_timeout"});
}

TEST_F(SessionTest, AnEndpointThatHangsIsFollowedByTheNext) {
  SilentServer silent(*this);
  RouteConfig config = test::config_for({{"a.test", {server.endpoint(), silent.endpoint()}}});
  config.backends[0].connect_timeout = 4s;
  start(config);
  Peer from = client();  // the first connection begins with the second endpoint
  from.send(hello("a.test"));
  ASSERT_TRUE(run_until([&] { return engine->stats().decisions.at("exact") == 1; }));
  run_ready();
  EXPECT_FALSE(server.has_connection());
  clock.advance(4s);
  Peer to = server.accept();
  EXPECT_EQ(to.receive(hello("a.test").size()).size(), hello("a.test").size());
  expect_works(from, to);
}

TEST_F(SessionTest, AClientThatResetsWhileItsBackendIsDialledIsGoneAtOnce) {
  SilentServer silent(*this);
  start({{"a.test", {silent.endpoint()}}});
  Peer from = client();
  from.send(hello("a.test"));
  ASSERT_TRUE(run_until([&] { return engine->stats().decisions.at("exact") == 1; }));
  run_ready();
  EXPECT_EQ(engine->stats().active, 1u);
  from.reset();
  expect_all_closed();  // without the clock moving
  EXPECT_EQ(closed("reason"), Strings{"client_reset"});
  EXPECT_EQ(engine->stats().downstream_resets, 1u);
  EXPECT_EQ(engine->stats().backends.at("a.test").active, 0u);
  EXPECT_EQ(engine->stats().endpoint_failures, 0u) << "the endpoint has not failed";
}

class LookedUpTest : public SessionTest {
 protected:
  void start_with_name() {
    auto with = options();
    with.resolve = [this](const std::string&, std::uint16_t, Resolved resolved) { answer = std::move(resolved); };
    RouteConfig config = test::config_for({{"a.test", {}}});
    config.backends[0].host = "a.svc";
    config.backends[0].port = 443;
    start(config, with);
  }
  Resolved answer;
};

TEST_F(LookedUpTest, AClientThatResetsWhileItsBackendIsLookedUpIsGoneAtOnce) {
  start_with_name();
  Peer from = client();
  from.send(hello("a.test"));
  ASSERT_TRUE(run_until([&] { return static_cast<bool>(answer); }));
  from.reset();
  expect_all_closed();
  EXPECT_EQ(closed("reason"), Strings{"client_reset"});
  answer(std::vector<Endpoint>{server.endpoint()});
  run_ready();
  EXPECT_FALSE(server.has_connection());
}

TEST_F(LookedUpTest, AClientThatHasSentAllBeforeItsBackendIsThereIsServed) {
  start_with_name();
  Peer from = client();
  const std::string first = hello("a.test");
  from.send(first + "early");
  from.finish();
  ASSERT_TRUE(run_until([&] { return static_cast<bool>(answer); }));
  run_ready();
  EXPECT_EQ(engine->stats().active, 1u);
  answer(std::vector<Endpoint>{server.endpoint()});
  Peer to = server.accept();
  EXPECT_EQ(to.receive_all(), first + "early");
  to.send(std::string("answer"));
  to.close();
  EXPECT_EQ(from.receive_all(), "answer");
  expect_all_closed();
  EXPECT_EQ(closed("reason"), Strings{"finished"});
}

TEST_F(SessionTest, NoMoreEndpointsAreTriedThanAllowed) {
  const test::ClosedPort refused(*this);
  auto with = options();
  with.max_connect_attempts = 2;
  start(test::config_for({{"a.test", std::vector<Endpoint>(5, refused.endpoint())}}), with);
  Peer from = client();
  from.send(hello("a.test"));
  EXPECT_TRUE(from.end());
  EXPECT_EQ(engine->stats().endpoint_failures, 2u);
}

TEST_F(SessionTest, ABackendThatIsTheProxyItselfIsRefused) {
  RouteConfig config = test::config_for({{"a.test", {server.endpoint()}}});
  config.listeners = {{{Ipv4(0, 0, 0, 0), 443}, {}}};
  start(config);
  const std::uint16_t port = listener.port;
  for (const IpAddress& address : {IpAddress(Ipv4(127, 0, 0, 1)), IpAddress(Ipv4(127, 0, 0, 2)),
                                   IpAddress(Ipv4(0, 0, 0, 0)), IpAddress(*parse_ipv6("::ffff:127.0.0.1"))}) {
    config.backends[0].endpoints = {{address, port}};
    engine->replace(RouteTable::build(config).value());
    Peer from = Peer::connect(*this, {Ipv4(127, 0, 0, 1), port});
    from.send(hello("a.test"));
    EXPECT_TRUE(from.end());
  }
  EXPECT_EQ(engine->stats().loops_refused, 4u);
  EXPECT_EQ(engine->stats().accepted, 4u);
  EXPECT_EQ(closed_for("loop"), 4u);
}

TEST_F(SessionTest, ConnectionsBeyondTheLimitAreRefused) {
  auto with = options();
  with.max_connections = 2;
  start(test::config_for({{"a.test", {server.endpoint()}}}), with);
  auto first = tunnel("a.test", server);
  auto second = tunnel("a.test", server);
  Peer third = client();
  EXPECT_TRUE(third.end());
  EXPECT_EQ(engine->stats().limit_refused, 1u);
  expect_works(first.first, first.second);
  second.first.reset();
  ASSERT_TRUE(run_until([&] { return engine->stats().active == 1; }));
  auto fourth = tunnel("a.test", server);
  expect_works(fourth.first, fourth.second);
}

TEST_F(SessionTest, TheSourceDecidesWhereRoutesSaySo) {
  Server red(*this);
  RouteConfig config = test::config_for({{"blue", {server.endpoint()}}, {"red", {red.endpoint()}}});
  for (Route& route : config.routes) {
    route.names.clear();
    route.no_sni = true;
    route.source.cluster = route.backend;
  }
  start(config);
  engine->set_source_clusters({{Ipv4(127, 0, 0, 11), "blue"}, {Ipv4(127, 0, 0, 12), "red"}});
  const std::string first = read("TLS-08-nosni.hex");
  Peer of_blue = Peer::connect(*this, listener, "127.0.0.11");
  of_blue.send(first);
  EXPECT_EQ(server.accept().receive(first.size()), first);
  Peer of_red = Peer::connect(*this, listener, "127.0.0.12");
  of_red.send(first);
  EXPECT_EQ(red.accept().receive(first.size()), first);
  Peer stranger = client();
  stranger.send(first);
  EXPECT_TRUE(stranger.end());
  EXPECT_EQ(engine->stats().decisions.at("source_not_allowed"), 1u);
}

TEST_F(SessionTest, IPv6WorksOnBothSides) {
  Server six(*this, "::1");
  RouteConfig config = test::config_for({{"a.test", {six.endpoint()}}});
  config.listeners = {{{*parse_ipv6("::1"), 443}, {}}};
  start(config);
  auto [from, to] = tunnel("a.test", six);
  expect_works(from, to);
}

}  // namespace
}  // namespace hcpnet::proxy
