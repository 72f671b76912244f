// SPDX-License-Identifier: Apache-2.0
// Listeners that inspect otherwise or not at all, headers of the PROXY protocol, and listeners and routes that come and
// go.
#include <gmock/gmock.h>

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/ip/v6_only.hpp>

#include <algorithm>
#include <array>
#include <hcpnet/proxy/proxy_header.hpp>
#include <stdexcept>
#include <utility>

#include "proxy/engine_sockets.hpp"
#include "proxy/proxy_test.hpp"
#include "proxy/sockets.hpp"

namespace hcpnet::proxy {
namespace {

namespace error = boost::asio::error;
using namespace std::chrono_literals;
using boost::asio::ip::tcp;
using boost::asio::ip::udp;
using test::Peer;
using test::Server;
using Strings = std::vector<std::string>;

class ListenersTest : public test::ProxyTest {
 protected:
  RouteConfig config(ListenerKind kind) {
    RouteConfig config = test::config_for({{"a.test", {server.endpoint()}}});
    config.listeners[0].kind = kind;
    return config;
  }
  RouteConfig blind(ListenerKind kind) {
    RouteConfig config = this->config(kind);
    config.routes[0].names.clear();
    config.routes[0].not_tls = true;
    config.routes[0].protocol = protocol_of(kind);
    return config;
  }
  Server server{*this};
};

TEST_F(ListenersTest, HttpGoesByTheHostOfTheFirstRequest) {
  Server other(*this);
  RouteConfig http = test::config_for({{"*.apps.a.test", {server.endpoint()}}, {"*.apps.b.test", {other.endpoint()}}});
  http.listeners[0].kind = ListenerKind::http;
  start(http);
  Peer from = client();
  const std::string request = "GET / HTTP/1.1\r\nHost: x.apps.b.test:80\r\n\r\n";
  from.send(request.substr(0, 20));
  run_ready();
  from.send(request.substr(20));
  Peer to = other.accept();
  EXPECT_EQ(to.receive(request.size()), request) << "nothing is changed";
  expect_works(from, to);
  for (const char* bad :
       {"GET / HTTP/1.1\r\nHost: c.test\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01", "GET /\r\n"}) {
    Peer refused = client();
    refused.send(std::string(bad));
    EXPECT_TRUE(refused.end()) << bad;
  }
  EXPECT_EQ(closed("reason"), (Strings{"unknown_name", "hello_malformed", "not_tls", "not_tls"}));
}

TEST_F(ListenersTest, TcpDialsAtOnceSoThatAServerMaySpeakFirst) {  // PXY-09
  start(blind(ListenerKind::tcp));
  Peer from = client();
  Peer to = server.accept();
  to.send(std::string("SSH-2.0-x"));
  EXPECT_EQ(from.receive(9), "SSH-2.0-x");
  expect_works(from, to);
  from.close();
  to.close();
  expect_all_closed();
  EXPECT_EQ(closed("rule"), Strings{"not_tls"});
}

TEST_F(ListenersTest, ATrustedProxySaysWhoTheClientIs) {
  RouteConfig trusting = config(ListenerKind::tls);
  trusting.listeners[0].trusted_proxies = {*parse_cidr("127.0.0.9/32")};
  trusting.listeners[0].deny = {*parse_cidr("192.0.2.66/32")};
  start(trusting);
  const std::string first = hello("a.test");
  {
    Peer from = Peer::connect(*this, listener, "127.0.0.9");
    from.send("PROXY TCP4 192.0.2.7 192.0.2.1 1111 443\r\n" + first);
    Peer to = server.accept();
    EXPECT_EQ(to.receive(first.size()), first) << "the header is not for the backend";
  }
  {
    Peer denied = Peer::connect(*this, listener, "127.0.0.9");
    denied.send(std::string("PROXY TCP4 192.0.2.66 192.0.2.1 1111 443\r\n"));
    EXPECT_TRUE(denied.end());
  }
  {
    Peer without = Peer::connect(*this, listener, "127.0.0.9");
    without.send(first);
    EXPECT_TRUE(without.end());
  }
  {
    Peer liar = client();  // nobody trusts it: what it sends is no TLS
    liar.send("PROXY TCP4 192.0.2.7 192.0.2.1 1111 443\r\n" + first);
    EXPECT_TRUE(liar.end());
  }
  expect_all_closed();
  EXPECT_THAT(closed("reason"), testing::UnorderedElementsAre("finished", "source_denied", "proxy_header", "not_tls"));
  EXPECT_THAT(closed("client"), testing::Contains("192.0.2.7:1111"));
  EXPECT_EQ(engine->stats().proxy_header_refused, 1u);
}

/// Two records: the first ends one byte before the limit, the second has no length yet.
std::string hello_that_fills_the_limit(std::size_t more) {
  std::string bytes("\x16\x03\x01\x3f\xfa\x01\x00\x3f\xf7", 9);
  bytes.resize(5 + 16'378, 'h');
  std::string rest("\x16\x03\x01\x00\x01", 5);
  rest.resize(1 + std::max<std::size_t>(more, 4), 'A');
  return bytes + rest.substr(0, 1 + more);
}

TEST_F(ListenersTest, AGreetingOfTheLargestSizeHasNoRoomLeftWithOrWithoutAHeader) {
  RouteConfig trusting = config(ListenerKind::tls);
  trusting.listeners[0].trusted_proxies = {*parse_cidr("127.0.0.9/32")};
  start(trusting);
  const std::string header = "PROXY TCP4 192.0.2.7 192.0.2.1 1111 443\r\n";
  for (const std::size_t more : {0UL, 1UL, 3UL, 5UL, 400'000UL}) {
    Peer behind = Peer::connect(*this, listener, "127.0.0.9");
    behind.send_some(header + hello_that_fills_the_limit(more));
    EXPECT_TRUE(behind.end()) << more;
    Peer plain = client();
    plain.send_some(hello_that_fills_the_limit(more));
    EXPECT_TRUE(plain.end()) << more;
  }
  EXPECT_EQ(engine->stats().hello_too_large, 10u) << "at once: no deadline has passed";
}

TEST_F(ListenersTest, AnIpv4MappedAddressIsTheIpv4Address) {
  RouteConfig trusting = config(ListenerKind::tls);
  trusting.listeners[0].trusted_proxies = {*parse_cidr("127.0.0.9/32")};
  trusting.listeners[0].deny = {*parse_cidr("192.0.2.66/32")};
  start(trusting);
  const ProxyHeader::Addresses mapped{{*parse_ipv6("::ffff:192.0.2.66"), 1111}, {*parse_ipv6("::ffff:192.0.2.1"), 443}};
  for (const auto version : {ProxyHeaderVersion::v1, ProxyHeaderVersion::v2}) {
    const auto header = encode_proxy_header(version, mapped);
    Peer denied = Peer::connect(*this, listener, "127.0.0.9");
    denied.send(std::string(header.begin(), header.end()) + hello("a.test"));
    EXPECT_TRUE(denied.end());
  }
  EXPECT_EQ(closed("reason"), (Strings{"source_denied", "source_denied"}));
  EXPECT_EQ(closed("client"), (Strings{"192.0.2.66:1111", "192.0.2.66:1111"}));
}

TEST_F(ListenersTest, ATrustedProxyMayPrecedeAPlainListener) {
  RouteConfig trusting = blind(ListenerKind::tcp);
  trusting.listeners[0].trusted_proxies = {*parse_cidr("127.0.0.0/8")};
  start(trusting);
  Peer from = client();
  run_ready();
  EXPECT_FALSE(server.has_connection()) << "not before the header";
  from.send(std::string("PROXY UNKNOWN\r\nx"));
  Peer to = server.accept();
  EXPECT_EQ(to.receive(1), "x");
  Peer late = client();
  ASSERT_TRUE(run_until([&] { return engine->stats().accepted == 2; }));
  clock.advance(5s);
  EXPECT_TRUE(late.end());
  EXPECT_EQ(engine->stats().inspect_timeouts, 1u);
}

TEST_F(ListenersTest, ABackendIsToldWhoTheClientIs) {
  for (const ProxyHeaderVersion version : {ProxyHeaderVersion::v1, ProxyHeaderVersion::v2}) {
    RouteConfig telling = config(ListenerKind::tls);
    telling.backends[0].proxy_header = version;
    start(telling);
    Peer from = Peer::connect(*this, listener, "127.0.0.8");
    const std::string first = hello("a.test");
    from.send(first);
    Peer to = server.accept();
    const Endpoint source{Ipv4(127, 0, 0, 8), from.socket().local_endpoint().port()};
    const auto expected = encode_proxy_header(version, {source, listener});
    const std::string received = to.receive(expected.size() + first.size());
    EXPECT_EQ(received, std::string(expected.begin(), expected.end()) + first);
    EXPECT_EQ(engine->stats().bytes_to_backend, first.size()) << "the header is not the client's";
  }
}

TEST_F(ListenersTest, OneHeaderComesFirstOnEveryPath) {  // PXY-20
  RouteConfig telling = config(ListenerKind::tls);
  telling.backends[0].proxy_header = ProxyHeaderVersion::v2;
  telling.routes[0].other_sni = telling.routes[0].no_sni = telling.routes[0].not_tls = true;
  telling.listeners.push_back({{*parse_ipv6("::1"), 443}});
  telling.listeners.push_back({{Ipv4(127, 0, 0, 1), 6443}, {}, ListenerKind::tcp});
  telling.routes.push_back({.port = 6443, .not_tls = true, .backend = "a.test"});
  start(telling);
  const std::string signature("\r\n\r\n\0\r\nQUIT\n", 12);
  for (std::size_t i = 0; i < 3; ++i) {
    listener = engine->listeners().at(i).bound;
    for (const std::string& payload : {hello("a.test"), hello("other.test"), std::string("plain")}) {
      Peer from = client();
      from.send(payload);
      Peer to = server.accept();
      const bool is_v4 = listener.address.is_v4();
      const std::string received = to.receive((is_v4 ? 28 : 52) + payload.size());
      EXPECT_EQ(received.substr(0, 14), signature + (is_v4 ? "\x21\x11" : "\x21\x21"));
      EXPECT_EQ(received.substr(16, 4), is_v4 ? std::string("\x7f\0\0\x01", 4) : std::string(4, '\0'));
      EXPECT_EQ(received.substr(is_v4 ? 28 : 52), payload);
    }
  }
}

/// A socket of both families, such as a service manager opens: our own IPv6 ones take no IPv4.
TEST_F(ListenersTest, AnIpv4ClientOfAnIpv6SocketHasAnIpv4Address) {  // PXY-20
  RouteConfig telling = config(ListenerKind::tls);
  telling.backends[0].proxy_header = ProxyHeaderVersion::v2;
  telling.listeners[0].address = {*parse_ipv6("::"), 443};
  tcp::acceptor both(outside);
  both.open(tcp::v6());
  both.set_option(boost::asio::ip::v6_only(false));
  both.bind({tcp::v6(), 0});
  both.listen();
  auto with = options();
  with.inherited = std::make_shared<InheritedSockets>();
  with.inherited->add(SocketKind::stream, telling.listeners[0].address, FileDescriptor::copy_of(both.native_handle()));
  start(telling, with);
  const std::string first = hello("a.test");
  for (const char* address : {"127.0.0.1", "::1"}) {
    listener = {*parse_ip_address(address), both.local_endpoint().port()};
    const bool is_v4 = listener.address.is_v4();
    Peer from = client();
    from.send(first);
    const std::string received = server.accept().receive((is_v4 ? 28 : 52) + first.size());
    EXPECT_EQ(received.substr(12, 2), is_v4 ? "\x21\x11" : "\x21\x21");
    EXPECT_EQ(received.substr(16, 4), is_v4 ? std::string("\x7f\0\0\x01", 4) : std::string(4, '\0'));
    EXPECT_EQ(received.substr(is_v4 ? 28 : 52), first) << "one header";
  }
}

TEST_F(ListenersTest, Ipv6FromEndToEnd) {
  Server v6(*this, "::1");
  RouteConfig config = test::config_for({{"a.test", {v6.endpoint()}}});
  config.listeners[0].address = {*parse_ipv6("::1"), 443};
  config.backends[0].proxy_header = ProxyHeaderVersion::v1;
  start(config);
  Peer from = client();
  from.send(hello("a.test"));
  Peer to = v6.accept();
  EXPECT_EQ(to.receive(17), "PROXY TCP6 ::1 ::");
  EXPECT_THAT(engine->stats().listeners, testing::Contains(testing::Key(config.listeners[0].address)));
}

class UdpTest : public ListenersTest {
 protected:
  UdpTest() {
    backend.non_blocking(true);
    config_ = blind(ListenerKind::udp);
    config_.backends[0].endpoints = {{Ipv4(127, 0, 0, 1), backend.local_endpoint().port()}};
  }
  udp::socket client_socket() {
    udp::socket socket(outside, udp::endpoint(boost::asio::ip::make_address("127.0.0.1"), 0));
    socket.non_blocking(true);
    return socket;
  }
  udp::endpoint proxy() const { return {boost::asio::ip::make_address("127.0.0.1"), listener.port}; }
  std::string receive(udp::socket& socket) {
    std::string text(70'000, '\0');
    std::size_t count = 0;
    EXPECT_TRUE(run_until([&] {
      boost::system::error_code ec;
      count = socket.receive_from(boost::asio::buffer(text), last_sender, 0, ec);
      return !ec;
    }));
    return text.substr(0, count);
  }
  RouteConfig config_;
  udp::endpoint last_sender;
  udp::socket backend{outside, udp::endpoint(boost::asio::ip::make_address("127.0.0.1"), 0)};
};

TEST_F(UdpTest, EachClientHasASocketOfItsOwn) {
  start(config_);
  udp::socket one = client_socket(), two = client_socket();
  one.send_to(boost::asio::buffer(std::string("one")), proxy());
  EXPECT_EQ(receive(backend), "one");
  const udp::endpoint as_one = last_sender;
  two.send_to(boost::asio::buffer(std::string("two")), proxy());
  EXPECT_EQ(receive(backend), "two");
  EXPECT_NE(last_sender, as_one);
  backend.send_to(boost::asio::buffer(std::string("to one")), as_one);
  EXPECT_EQ(receive(one), "to one");
  EXPECT_EQ(last_sender, proxy()) << "answers come from where the question went";
  const std::string large(60'000, 'x');
  one.send_to(boost::asio::buffer(large), proxy());
  EXPECT_EQ(receive(backend), large);
  one.send_to(boost::asio::buffer(std::string()), proxy());
  EXPECT_EQ(receive(backend), "") << "an empty datagram is one";
  EXPECT_EQ(engine->stats().active, 2u);
  EXPECT_EQ(engine->stats().udp_datagrams, 5u);
  clock.advance(60s);
  expect_all_closed();
  EXPECT_EQ(closed("reason"), (Strings{"finished", "finished"}));
}

TEST_F(UdpTest, WhatWouldComeBackIsRefused) {
  start(config_);
  config_.backends[0].endpoints = {listener};
  engine->replace(RouteTable::build(config_).value());
  udp::socket client = client_socket();
  client.send_to(boost::asio::buffer(std::string("x")), proxy());
  ASSERT_TRUE(run_until([&] { return closed_for("loop") == 1; }));
  const EngineStats stats = engine->stats();
  EXPECT_EQ(stats.loops_refused, 1u);
  EXPECT_EQ(stats.connect_failures, 1u);
  EXPECT_EQ(stats.udp_dropped, 1u);
  EXPECT_EQ(stats.active, 0u);
}

TEST_F(UdpTest, LimitsHoldHereToo) {
  config_.listeners[0].max_connections = 1;
  config_.listeners[0].deny = {*parse_cidr("127.0.0.3/32")};
  start(config_);
  udp::socket one = client_socket(), two = client_socket();
  udp::socket denied(outside, udp::endpoint(boost::asio::ip::make_address("127.0.0.3"), 0));
  one.send_to(boost::asio::buffer(std::string("one")), proxy());
  EXPECT_EQ(receive(backend), "one");
  two.send_to(boost::asio::buffer(std::string("two")), proxy());
  denied.send_to(boost::asio::buffer(std::string("no")), proxy());
  ASSERT_TRUE(run_until([&] { return engine->stats().udp_dropped == 2; }));
  EXPECT_EQ(engine->stats().source_denied, 1u);
  EXPECT_EQ(engine->stats().listener_limit_refused, 1u);
}

/// Anybody can send them in anybody's name.
TEST_F(UdpTest, RefusedDatagramsAreCountedByTheirReasonAndFillNoLog) {
  Strings lines;
  auto with = options();
  with.access_log = [&](std::string line) { lines.push_back(std::move(line)); };
  config_.routes[0].source.prefixes = {*parse_cidr("10.0.0.0/8")};
  start(config_, with);
  std::vector<udp::socket> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(client_socket());
    clients.back().send_to(boost::asio::buffer(std::string("x")), proxy());
  }
  ASSERT_TRUE(run_until([&] { return engine->stats().udp_dropped == 5; }));
  EXPECT_EQ(closed_for("source_not_allowed"), 5u);
  EXPECT_EQ(engine->stats().decisions.at("source_not_allowed"), 5u);
  config_.routes.clear();
  engine->replace(RouteTable::build(config_).value());
  clients[0].send_to(boost::asio::buffer(std::string("x")), proxy());
  ASSERT_TRUE(run_until([&] { return closed_for("not_tls") == 1; }));
  EXPECT_EQ(engine->stats().active, 0u);
  EXPECT_TRUE(lines.empty());
  EXPECT_EQ(std::ranges::count_if(records, [](const LogRecord& r) { return r.message == "datagram refused"; }), 1)
      << "in this second";
}

TEST_F(UdpTest, FlowsLeaveHalfOfTheRoomToConnections) {
  auto with = options();
  with.max_connections = 4;
  start(config_, with);
  std::vector<udp::socket> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(client_socket());
    clients.back().send_to(boost::asio::buffer(std::string("x")), proxy());
  }
  ASSERT_TRUE(run_until([&] { return engine->stats().udp_dropped == 1; }));
  EXPECT_EQ(engine->stats().active, 2u);
  clock.advance(60s);
  expect_all_closed();
  clients[2].send_to(boost::asio::buffer(std::string("x")), proxy());
  EXPECT_EQ(receive(backend), "x");
}

TEST_F(UdpTest, ANameIsLookedUpWhileTheFirstDatagramWaits) {
  Resolved answer;
  auto with = options();
  with.resolve = [&](const std::string&, std::uint16_t, Resolved resolved) { answer = std::move(resolved); };
  const Endpoint endpoint = config_.backends[0].endpoints[0];
  config_.backends[0].endpoints.clear();
  config_.backends[0].host = "a.svc";
  config_.backends[0].port = 53;
  start(config_, with);
  udp::socket one = client_socket();
  one.send_to(boost::asio::buffer(std::string("first")), proxy());
  ASSERT_TRUE(run_until([&] { return static_cast<bool>(answer); }));
  answer(std::vector<Endpoint>{endpoint});
  EXPECT_EQ(receive(backend), "first");
}

TEST_F(UdpTest, OurAddressTowardsBackendsCanBeGiven) {
  config_.listeners[0].dial_from = {*parse_ipv6("::1"), Ipv4(127, 0, 0, 77)};
  start(config_);
  udp::socket one = client_socket();
  one.send_to(boost::asio::buffer(std::string("x")), proxy());
  EXPECT_EQ(receive(backend), "x");
  EXPECT_EQ(last_sender.address().to_string(), "127.0.0.77");
}

TEST_F(UdpTest, TheLimitOfAListenerIsNotThatOfItsNeighbourOverTcp) {
  config_.listeners[0].max_connections = 1;
  config_.listeners.push_back(config_.listeners[0]);
  config_.listeners[1].kind = ListenerKind::tcp;
  config_.backends.push_back(config_.backends[0]);
  config_.backends[1].name = "over-tcp";
  config_.backends[1].endpoints = {server.endpoint()};
  config_.routes.push_back(config_.routes[0]);
  config_.routes[1].protocol = Protocol::tcp;
  config_.routes[1].backend = "over-tcp";
  start(config_);
  udp::socket one = client_socket();
  one.send_to(boost::asio::buffer(std::string("x")), proxy());
  EXPECT_EQ(receive(backend), "x");
  listener = engine->listeners().at(1).bound;
  Peer from = client();
  Peer to = server.accept();
  expect_works(from, to);
  const EngineStats stats = engine->stats();
  EXPECT_EQ(stats.listener_limit_refused, 0u);
  EXPECT_EQ(stats.listeners.at(config_.listeners[0].address).active, 2u);
}

TEST_F(UdpTest, AListenerGoesOnWhenTheEmbeddersAccessLogHasFailed) {
  auto with = options();
  with.access_log = [has_failed = false](const std::string&) mutable {
    if (!std::exchange(has_failed, true)) throw std::runtime_error("no room for a log");
  };
  start(config_, with);
  RouteConfig circle = config_;
  circle.backends[0].endpoints = {listener};
  engine->replace(RouteTable::build(circle).value());
  udp::socket one = client_socket();
  one.send_to(boost::asio::buffer(std::string("x")), proxy());
  EXPECT_THROW(run_until([] { return false; }), std::runtime_error);
  EXPECT_EQ(engine->stats().active, 0u);
  engine->replace(RouteTable::build(config_).value());
  one.send_to(boost::asio::buffer(std::string("y")), proxy());
  EXPECT_EQ(receive(backend), "y");
}

TEST_F(UdpTest, AFlowWhoseEndpointIsGoneBeginsAnewAtAnother) {
  udp::socket other(outside, udp::endpoint(boost::asio::ip::make_address("127.0.0.1"), 0));
  other.non_blocking(true);
  const Endpoint first = config_.backends[0].endpoints[0];
  const Endpoint second{Ipv4(127, 0, 0, 1), other.local_endpoint().port()};
  config_.backends[0].target = "hcp-blue/dns:53";
  start(config_);
  udp::socket one = client_socket();
  one.send_to(boost::asio::buffer(std::string("1")), proxy());
  EXPECT_EQ(receive(backend), "1");
  config_.backends[0].endpoints = {first, second};
  engine->replace(RouteTable::build(config_).value());
  one.send_to(boost::asio::buffer(std::string("2")), proxy());
  EXPECT_EQ(receive(backend), "2") << "it is still there";
  config_.backends[0].endpoints = {second};
  engine->replace(RouteTable::build(config_).value());
  run_ready();
  EXPECT_EQ(closed("reason"), Strings{"finished"});
  one.send_to(boost::asio::buffer(std::string("3")), proxy());
  EXPECT_EQ(receive(other), "3");
  config_.backends[0].endpoints.clear();
  config_.backends[0].is_unserved = true;
  engine->replace(RouteTable::build(config_).value());
  run_ready();
  EXPECT_EQ(closed("reason"), (Strings{"finished", "finished"}));
  EXPECT_EQ(engine->stats().routes_removed, 0u);
}

TEST_F(UdpTest, FlowsEndWithTheirListener) {  // nothing would reach their clients
  start(config_);
  udp::socket one = client_socket();
  one.send_to(boost::asio::buffer(std::string("x")), proxy());
  EXPECT_EQ(receive(backend), "x");
  bool is_stopped = false;
  engine->stop([&] { is_stopped = true; });
  EXPECT_TRUE(run_until([&] { return is_stopped; })) << "no deadline has passed";
  EXPECT_EQ(closed("reason"), Strings{"stopped"});
}

TEST_F(UdpTest, AnAccessLogThatFailsKeepsNoFlow) {
  auto with = options();
  with.access_log = [](const std::string&) { throw std::runtime_error("no room for a log"); };
  start(config_, with);
  udp::socket one = client_socket(), two = client_socket();
  const auto open_two = [&] {
    for (udp::socket* from : {&one, &two}) {
      from->send_to(boost::asio::buffer(std::string("x")), proxy());
      EXPECT_EQ(receive(backend), "x");
    }
    EXPECT_EQ(engine->stats().active, 2u);
  };
  open_two();
  RouteConfig elsewhere = config_;
  elsewhere.backends[0].endpoints = {server.endpoint()};
  engine->replace(RouteTable::build(elsewhere).value());
  EXPECT_THROW(run_until([] { return false; }), std::runtime_error) << "not replace(), which has more to do";
  EXPECT_EQ(engine->stats().active, 0u);
  engine->replace(RouteTable::build(config_).value());
  open_two();
  engine->stop({});
  EXPECT_THROW(run_until([] { return false; }), std::runtime_error);
  EXPECT_EQ(engine->stats().active, 0u);
}

class ReloadTest : public ListenersTest {};

TEST_F(ReloadTest, ListenersComeAndGo) {
  RouteConfig now = config(ListenerKind::tls);
  start(now);
  auto old = tunnel("a.test", server);
  const Endpoint old_listener = listener;
  RouteConfig then = now;
  then.listeners[0].address.address = Ipv4(127, 0, 0, 3);
  engine->replace(RouteTable::build(then).value());
  run_ready();
  ASSERT_EQ(engine->listeners().size(), 1u);
  listener = engine->listeners()[0].bound;
  EXPECT_EQ(listener.address, IpAddress(Ipv4(127, 0, 0, 3)));
  auto fresh = tunnel("a.test", server);
  expect_works(old.first, old.second);
  tcp::socket late(outside);
  boost::system::error_code ec;
  late.connect({boost::asio::ip::make_address("127.0.0.1"), old_listener.port}, ec);
  EXPECT_EQ(ec, error::connection_refused);
}

TEST_F(ReloadTest, AListenerMayBecomeOfAnotherKind) {
  start(config(ListenerKind::tls));
  auto old = tunnel("a.test", server);
  engine->replace(RouteTable::build(blind(ListenerKind::tcp)).value());
  EXPECT_EQ(engine->listeners().at(0).bound, listener) << "the same socket";
  Peer from = client();
  Peer to = server.accept();
  expect_works(from, to);
  expect_works(old.first, old.second);
  engine->replace(RouteTable::build(config(ListenerKind::tls)).value());
  auto again = tunnel("a.test", server);
}

TEST_F(ReloadTest, AListenerMovesToAnotherInterface) {
  RouteConfig now = config(ListenerKind::tls);
  start(now);
  now.listeners[0].interface = "nonesuch0";
  EXPECT_THROW(engine->replace(RouteTable::build(now).value()), boost::system::system_error);
  auto works = tunnel("a.test", server);
  now.listeners[0].interface = "lo";
  engine->replace(RouteTable::build(now).value());
  auto still = tunnel("a.test", server);
  std::array<char, 16> bound{};
  socklen_t size = bound.size();
  ASSERT_EQ(::getsockopt(engine->sockets().at(0).descriptor, SOL_SOCKET, SO_BINDTODEVICE, bound.data(), &size), 0);
  EXPECT_STREQ(bound.data(), "lo");
  now.listeners[0].interface.clear();
  engine->replace(RouteTable::build(now).value());
  size = bound.size();
  ASSERT_EQ(::getsockopt(engine->sockets().at(0).descriptor, SOL_SOCKET, SO_BINDTODEVICE, bound.data(), &size), 0);
  EXPECT_EQ(size, 0U);
}

TEST_F(ReloadTest, ASocketOfAnotherProcessIsLeftAloneUntilItIsServed) {
  RouteConfig now = config(ListenerKind::tls);
  start(now);
  const int socket = engine->sockets().at(0).descriptor;
  auto with = options();
  with.keepalive.idle = 77s;
  with.inherited = std::make_shared<InheritedSockets>();
  with.inherited->add(SocketKind::stream, now.listeners[0].address, FileDescriptor::copy_of(socket));
  now.listeners[0].interface = "lo";
  const auto table = RouteTable::build(now).value();
  Engine later(io.get_executor(), with);
  later.prepare(table);
  EXPECT_EQ(interface_of(socket), "");
  EXPECT_EQ(test::int_option(socket, IPPROTO_TCP, TCP_KEEPIDLE), 60);
  later.start(table);
  EXPECT_EQ(interface_of(socket), "lo");
  EXPECT_EQ(test::int_option(socket, IPPROTO_TCP, TCP_KEEPIDLE), 77);
}

TEST_F(ReloadTest, AListenerThatCannotBeOpenedChangesNothing) {
  RouteConfig now = config(ListenerKind::tls);
  start(now);
  RouteConfig then = test::config_for({{"b.test", {server.endpoint()}}});
  then.listeners.push_back({server.endpoint()});
  EXPECT_THROW(engine->replace(RouteTable::build(then).value()), boost::system::system_error);
  EXPECT_EQ(engine->listeners().size(), 1u);
  auto works = tunnel("a.test", server);
}

TEST_F(ReloadTest, ARemovedRouteEndsAfterItsTime) {
  auto with = options();
  with.removed_route_timeout = 10s;
  RouteConfig both = test::config_for(
      {{"*.a.test", {server.endpoint()}}, {"b.test", {server.endpoint()}}, {"c.test", {server.endpoint()}}});
  start(both, with);
  auto wildcard = tunnel("X.a.test", server);
  auto exact = tunnel("b.test", server);
  auto stays = tunnel("c.test", server);
  RouteConfig less = both;
  less.routes.erase(less.routes.begin(), less.routes.begin() + 2);
  engine->replace(RouteTable::build(less).value());
  clock.advance(9999ms);
  expect_works(wildcard.first, wildcard.second);
  less.routes.push_back(both.routes[1]);  // b.test is back
  engine->replace(RouteTable::build(less).value());
  clock.advance(1ms);
  EXPECT_TRUE(wildcard.first.end());
  EXPECT_TRUE(wildcard.second.end());
  expect_works(exact.first, exact.second);
  clock.advance(1h);
  expect_works(stays.first, stays.second);
  EXPECT_EQ(engine->stats().routes_removed, 1u);
  EXPECT_EQ(closed("reason"), Strings{"route_removed"});
}

TEST_F(ReloadTest, AnAccessLogThatFailsKeepsNoTunnelOfARemovedRoute) {
  auto with = options();
  with.removed_route_timeout = 10s;
  with.access_log = [has_failed = false](const std::string&) mutable {
    if (!std::exchange(has_failed, true)) throw std::runtime_error("no room for a log");
  };
  RouteConfig now = config(ListenerKind::tls);
  start(now, with);
  auto one = tunnel("a.test", server);
  auto two = tunnel("a.test", server);
  now.routes.clear();
  engine->replace(RouteTable::build(now).value());
  EXPECT_THROW(clock.advance(10s), std::runtime_error);
  EXPECT_EQ(engine->stats().active, 0u);
  EXPECT_TRUE(one.first.end());
  EXPECT_TRUE(two.first.end());
}

TEST_F(ReloadTest, ARouteWithoutTimeEndsAfterTheReload) {  // which has more to do
  auto with = options();
  with.removed_route_timeout = 0ms;
  with.access_log = [](const std::string&) { throw std::runtime_error("no room for a log"); };
  RouteConfig now = config(ListenerKind::tls);
  start(now, with);
  auto old = tunnel("a.test", server);
  now.routes.clear();
  EXPECT_NO_THROW(engine->replace(RouteTable::build(now).value()));
  EXPECT_THROW(clock.advance(1ms), std::runtime_error);
  EXPECT_TRUE(old.first.end());
  EXPECT_TRUE(old.second.end());
}

TEST_F(ReloadTest, ANameThatMovedToAnotherBackendIsARouteThatWasRemoved) {
  auto with = options();
  with.removed_route_timeout = 10s;
  start(config(ListenerKind::tls), with);
  auto old = tunnel("a.test", server);
  RouteConfig moved = config(ListenerKind::tls);
  moved.backends[0].name = moved.routes[0].backend = "elsewhere";
  engine->replace(RouteTable::build(moved).value());
  clock.advance(10s);
  EXPECT_TRUE(old.first.end());
}

/// A tunnel that asked for a.test, after a reload and removed_route_timeout.
class AskedAnewTest : public ReloadTest {
 protected:
  AskedAnewTest() {
    now_ = test::config_for({{"a.test", {server.endpoint()}}, {"b.test", {other_.endpoint()}}});
    now_.routes[0].names = {"x.a.test", "*.a.test"};
  }
  void begin() {
    auto with = options();
    with.removed_route_timeout = 10s;
    start(now_, with);
    tunnel_.emplace(tunnel("X.a.test", server));
  }
  void reload() { engine->replace(RouteTable::build(now_).value()); }
  void expect_stays() {
    reload();
    clock.advance(1h);
    expect_works(tunnel_->first, tunnel_->second);
    EXPECT_EQ(engine->stats().routes_removed, 0u);
  }
  void expect_ends() {
    reload();
    clock.advance(9999ms);
    expect_works(tunnel_->first, tunnel_->second);
    clock.advance(1ms);
    EXPECT_TRUE(tunnel_->first.end());
    EXPECT_TRUE(tunnel_->second.end());
    EXPECT_EQ(closed("reason"), Strings{"route_removed"});
  }
  Server other_{*this};
  RouteConfig now_;
  std::optional<std::pair<Peer, Peer>> tunnel_;
};

TEST_F(AskedAnewTest, AnotherClaimOfItsBackendIsEnough) {
  begin();
  now_.routes[0].names = {"*.a.test"};
  reload();
  now_.routes[0].names = {"*.test"};
  reload();
  now_.routes[0].names.clear();
  now_.routes[0].other_sni = true;
  reload();
  now_.routes[0].names = {"x.a.test"};
  expect_stays();
}

TEST_F(AskedAnewTest, ANarrowerClaimOfAnotherBackendEndsIt) {
  now_.routes[0].names = {"*.a.test"};
  begin();
  now_.routes[1].names.push_back("x.a.test");
  expect_ends();
}

TEST_F(AskedAnewTest, ARouteThatIsForOthersNowEndsIt) {
  now_.routes[0].source.prefixes = {*parse_cidr("127.0.0.0/24")};
  begin();
  now_.routes[0].source.prefixes = {*parse_cidr("127.0.1.0/24")};
  expect_ends();
}

TEST_F(AskedAnewTest, ANameThatIsNotAllowedAnyMoreEndsIt) {
  now_.listeners[0].only_names = {"*.a.test", "b.test"};
  begin();
  now_.listeners[0].only_names = {"b.test"};
  expect_ends();
}

TEST_F(AskedAnewTest, ASourceThatIsNotAllowedAnyMoreEndsIt) {
  begin();
  now_.listeners[0].deny = {*parse_cidr("127.0.0.1/32")};
  reload();
  now_.listeners[0].deny.clear();
  now_.listeners[0].allow = {*parse_cidr("127.0.0.2/32")};
  expect_ends();
}

TEST_F(AskedAnewTest, ItsListenerMayGo) {
  begin();
  now_.listeners[0].address.address = Ipv4(127, 0, 0, 3);
  expect_stays();
}

TEST_F(AskedAnewTest, AnotherTargetIsAnotherBackend) {
  now_.backends[0].target = "hcp-blue/kube-apiserver:6443";
  begin();
  now_.backends[0].target = "hcp-blue/kube-apiserver:6444";
  expect_ends();
}

TEST_F(AskedAnewTest, AnotherHostIsAnotherBackend) {
  now_.backends[0].host = "a.svc";
  now_.backends[0].port = 443;
  begin();
  now_.backends[0].port = 444;
  expect_ends();
}

TEST_F(AskedAnewTest, EndpointsOfOneTargetComeAndGo) {
  now_.backends[0].target = "hcp-blue/kube-apiserver:6443";
  now_.backends[0].host = "kube-apiserver.hcp-blue";
  now_.backends[0].port = 6443;
  begin();
  now_.backends[0].endpoints = {other_.endpoint()};
  reload();
  now_.backends[0].endpoints.clear();
  reload();
  now_.backends[0].host.clear();
  now_.backends[0].is_unserved = true;
  expect_stays();
}

TEST_F(AskedAnewTest, WhatIsKnownOfItsClientCountsWhenTheTableIsReplaced) {
  now_.routes[0].source.cluster = "blue";
  auto with = options();
  with.removed_route_timeout = 10s;
  start(now_, with);
  engine->set_source_clusters({{Ipv4(127, 0, 0, 1), "blue"}});
  tunnel_.emplace(tunnel("x.a.test", server));
  engine->set_source_clusters({});
  clock.advance(1h);
  expect_works(tunnel_->first, tunnel_->second);
  reload();
  clock.advance(9s);
  engine->set_source_clusters({{Ipv4(127, 0, 0, 1), "blue"}});
  clock.advance(1h);
  expect_works(tunnel_->first, tunnel_->second);
  engine->set_source_clusters({{Ipv4(127, 0, 0, 1), "red"}});
  expect_ends();
}

TEST_F(ReloadTest, DrainingTakesNothingNewAndEndsNothing) {
  start(config(ListenerKind::tls));
  auto open = tunnel("a.test", server);
  engine->drain();
  EXPECT_TRUE(engine->is_draining());
  EXPECT_TRUE(engine->listeners().empty());
  tcp::socket late(outside);
  boost::system::error_code ec;
  late.connect({boost::asio::ip::make_address("127.0.0.1"), listener.port}, ec);
  EXPECT_EQ(ec, error::connection_refused);
  engine->replace(engine->table());
  EXPECT_TRUE(engine->listeners().empty()) << "a reload does not open what is closed for good";
  clock.advance(1h);
  expect_works(open.first, open.second);
  bool is_stopped = false;
  engine->stop([&] { is_stopped = true; });
  clock.advance(5s);
  EXPECT_TRUE(run_until([&] { return is_stopped; }));
}

TEST_F(ReloadTest, DrainingResetsNobodyWhoHasConnected) {
  start(config(ListenerKind::tls));
  std::vector<Peer> waiting;
  for (int i = 0; i < 20; ++i) {
    waiting.push_back(client());
    waiting.back().send(hello("a.test"));
  }
  engine->drain();
  const std::size_t bytes = hello("a.test").size();
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    Peer to = server.accept();
    EXPECT_EQ(to.receive(bytes).size(), bytes);
    to.send(std::string("x"));
    to.close();
  }
  for (Peer& from : waiting) EXPECT_EQ(from.receive_all(), "x");
}

TEST_F(ReloadTest, AnAccessLogGetsItsLines) {
  std::vector<std::string> lines;
  auto with = options();
  with.access_log = [&](std::string line) { lines.push_back(std::move(line)); };
  with.access_log_format = *AccessLogFormat::text("%{sni} %{reason}");
  start(config(ListenerKind::tls), with);
  {
    auto open = tunnel("a.test", server);
  }
  expect_all_closed();
  EXPECT_EQ(lines, Strings{"a.test finished"});
  EXPECT_TRUE(closed("reason").empty()) << "not in the log as well";
}

}  // namespace
}  // namespace hcpnet::proxy
