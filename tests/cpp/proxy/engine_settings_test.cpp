// SPDX-License-Identifier: Apache-2.0
// What may change while an engine runs, and what its sockets are set to.
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <csignal>

#include "proxy/engine_sockets.hpp"
#include "proxy/proxy_test.hpp"
#include "proxy/relay.hpp"

namespace hcpnet::proxy {
namespace {

using namespace std::chrono_literals;
using test::ClosedPort;
using test::Peer;
using test::Server;
using Strings = std::vector<std::string>;

constexpr std::size_t kSmall = kLeastSocketBufferBytes;

class SettingsTest : public test::ProxyTest {
 protected:
  RouteConfig config() { return test::config_for({{"a.test", {server.endpoint()}}}); }
  /// The settings of before, changed by `change`.
  template <class Change>
  void configure(Change change) {
    EngineSettings settings = engine->settings();
    change(settings);
    engine->configure(settings);
  }
  void expect_refused(const std::string& greeting = {}) {
    Peer refused = client();
    if (!greeting.empty()) refused.send(greeting);
    EXPECT_TRUE(refused.end());
  }
  /// Sends from one end until the engine is stalled and the kernel takes no more; whatever was sent.
  std::string fill(Peer& sender, std::size_t piece) {
    sender.socket().set_option(boost::asio::ip::tcp::no_delay(true));
    const std::string chunk(piece, 'x');
    std::string sent;
    int refusals = 0;
    EXPECT_TRUE(run_until([&] {
      const std::size_t before = sent.size();
      for (std::size_t count = 1; count > 0 && sent.size() - before < 65'536;)
        sent.append(count = sender.send_some(chunk), 'x');
      refusals = sent.size() == before ? refusals + 1 : 0;
      return refusals >= 20 && engine->stats().buffers_in_use > 0;
    }));
    return sent;
  }
  /// A tunnel that has carried some.
  std::pair<Peer, Peer> busy_tunnel() {
    auto open = tunnel("a.test", server);
    const std::string bytes(100'000, 'x');
    open.second.send(bytes);
    EXPECT_EQ(open.first.receive(bytes.size()).size(), bytes.size());
    return open;
  }
  Server server{*this};
};

TEST_F(SettingsTest, ALimitOfConnectionsHoldsFromNowOn) {
  start(config());
  auto first = tunnel("a.test", server);
  configure([](EngineSettings& s) { s.max_connections = 1; });
  expect_refused();
  expect_works(first.first, first.second);
  configure([](EngineSettings& s) { s.max_connections = 2; });
  auto second = tunnel("a.test", server);
  EXPECT_EQ(engine->stats().limit_refused, 1u);
  EXPECT_EQ(engine->settings().max_connections, 2u);
}

TEST_F(SettingsTest, ALimitOfASourceCountsWhatComesFromNowOn) {
  start(config());
  auto before = tunnel("a.test", server);
  configure([](EngineSettings& s) { s.max_connections_per_source = 1; });
  auto counted = tunnel("a.test", server);
  expect_refused();
  configure([](EngineSettings& s) { s.max_connections_per_source = 0; });
  auto free = tunnel("a.test", server);
  counted.first.close();
  counted.second.close();
  ASSERT_TRUE(run_until([&] { return engine->stats().active == 2; }));
  configure([](EngineSettings& s) { s.max_connections_per_source = 1; });
  auto again = tunnel("a.test", server);
}

TEST_F(SettingsTest, AHelloIsReadUpToTheLimitThatHeldWhenItCame) {
  start(config());
  const std::string first = hello("a.test");
  Peer slow = client();
  slow.send(first.substr(0, first.size() - 1));
  ASSERT_TRUE(run_until([&] { return engine->stats().active == 1; }));
  run_ready();
  configure([](EngineSettings& s) { s.max_hello_bytes = 100; });
  slow.send(first.substr(first.size() - 1));
  Peer to = server.accept();
  EXPECT_EQ(to.receive(first.size()), first);
  expect_refused(first);
  EXPECT_EQ(closed("reason"), Strings{"hello_too_large"});
}

TEST_F(SettingsTest, TimeoutsHoldForConnectionsThatCome) {
  start(config());
  Peer before = client();
  ASSERT_TRUE(run_until([&] { return engine->stats().active == 1; }));
  configure([](EngineSettings& s) { s.inspect_timeout = 1s; });
  Peer after = client();
  ASSERT_TRUE(run_until([&] { return engine->stats().active == 2; }));
  clock.advance(1s);
  EXPECT_TRUE(after.end());
  EXPECT_EQ(engine->stats().active, 1u);
  clock.advance(4s);
  EXPECT_TRUE(before.end());
  EXPECT_EQ(engine->stats().inspect_timeouts, 2u);
}

TEST_F(SettingsTest, AnOpenTunnelFollowsInWhatIsStillAheadOfIt) {
  RouteConfig with_route = config();
  start(with_route);
  auto [from, to] = tunnel("a.test", server);
  configure([](EngineSettings& s) { s.removed_route_timeout = 5s; });
  with_route.routes.clear();
  engine->replace(RouteTable::build(with_route).value());
  clock.advance(5s);
  EXPECT_TRUE(from.end());
  EXPECT_EQ(closed_for("route_removed"), 1u);
}

TEST_F(SettingsTest, AttemptsToConnectAreLimitedAnew) {
  const ClosedPort refused(*this);
  start(test::config_for({{"a.test", std::vector<Endpoint>(5, refused.endpoint())}}));
  configure([](EngineSettings& s) { s.max_connect_attempts = 1; });
  expect_refused(hello("a.test"));
  EXPECT_EQ(engine->stats().endpoint_failures, 1u);
}

TEST_F(SettingsTest, TheAccessLogTakesItsNewForm) {
  Strings lines;
  auto with = options();
  with.access_log = [&](std::string line) { lines.push_back(std::move(line)); };
  with.access_log_format = *AccessLogFormat::text("old %{reason}");
  start(config(), with);
  auto open = tunnel("a.test", server);
  configure([](EngineSettings& s) { s.access_log_format = *AccessLogFormat::text("new %{reason}"); });
  open.first.close();
  open.second.close();
  expect_all_closed();
  EXPECT_EQ(lines, Strings{"new finished"});
}

TEST_F(SettingsTest, WorkersAreToldToo) {
  auto with = options();
  with.clock = &system_clock();
  with.workers = 3;
  start(config(), with);
  configure([](EngineSettings& s) { s.max_hello_bytes = 100; });
  for (int i = 0; i < 12; ++i) expect_refused(hello("a.test"));
  EXPECT_EQ(engine->stats().hello_too_large, 12u);
}

void expect_keepalive(int socket, int idle, int interval, int probes) {
  ASSERT_GE(socket, 0);
  EXPECT_EQ(test::int_option(socket, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(test::int_option(socket, IPPROTO_TCP, TCP_KEEPIDLE), idle);
  EXPECT_EQ(test::int_option(socket, IPPROTO_TCP, TCP_KEEPINTVL), interval);
  EXPECT_EQ(test::int_option(socket, IPPROTO_TCP, TCP_KEEPCNT), probes);
}

TEST_F(SettingsTest, BothSidesOfATunnelAreKeptAlive) {
  start(config());
  auto usual = tunnel("a.test", server);
  const int towards_backend = test::other_end(usual.second.socket());
  EXPECT_EQ(test::int_option(towards_backend, SOL_SOCKET, SO_KEEPALIVE), 0) << "most tunnels have no use of it";
  clock.advance(999ms);
  EXPECT_EQ(test::int_option(towards_backend, SOL_SOCKET, SO_KEEPALIVE), 0);
  clock.advance(1ms);
  for (const Peer* peer : {&usual.first, &usual.second}) expect_keepalive(test::other_end(peer->socket()), 60, 15, 4);
  configure([](EngineSettings& s) { s.keepalive = {7s, 3s, 2}; });
  auto other = tunnel("a.test", server);
  clock.advance(500ms);
  auto third = tunnel("a.test", server);
  {
    const auto brief = tunnel("a.test", server);  // one that ends before its time comes takes nothing from the others
  }
  ASSERT_TRUE(run_until([&] { return engine->stats().active == 3; }));
  clock.advance(500ms);
  for (const Peer* peer : {&other.first, &other.second, &third.first})
    expect_keepalive(test::other_end(peer->socket()), 7, 3, 2);
  const int younger = test::other_end(third.second.socket());
  EXPECT_EQ(test::int_option(younger, SOL_SOCKET, SO_KEEPALIVE), 0);
  clock.advance(500ms);
  expect_keepalive(younger, 7, 3, 2);
}

TEST_F(SettingsTest, AListenerThatWasPreparedBeforeFollowsThem) {
  RouteConfig two = config();
  start(two);
  two.listeners.push_back({{Ipv4(127, 0, 0, 2), 443}});
  const auto table = RouteTable::build(two).value();
  engine->prepare(table);
  configure([](EngineSettings& s) { s.keepalive.idle = 7s; });
  engine->replace(table);
  listener = engine->listeners().at(1).bound;
  const auto open = tunnel("a.test", server);
  expect_keepalive(test::other_end(open.first.socket()), 7, 15, 4);
}

/// SO_RCVBUF and SO_SNDBUF of the engine's sockets towards client and backend, as the kernel has them; -1: it chooses
/// for itself.
std::vector<int> buffers_of(const std::pair<Peer, Peer>& tunnel) {
  std::vector<int> all;
  for (const Peer* peer : {&tunnel.first, &tunnel.second}) {
    const int socket = test::other_end(peer->socket());
    const int locks = test::int_option(socket, SOL_SOCKET, SO_BUF_LOCK);
    all.push_back((locks & 2) != 0 ? test::int_option(socket, SOL_SOCKET, SO_RCVBUF) : -1);
    all.push_back((locks & 1) != 0 ? test::int_option(socket, SOL_SOCKET, SO_SNDBUF) : -1);
  }
  return all;
}

TEST_F(SettingsTest, SocketBuffersOfBothSidesAreBoundedAndLeftAlone) {
  start(config());
  configure([](EngineSettings& s) { s.buffers = {kSmall, 2 * kSmall}; });
  EXPECT_EQ(buffers_of(tunnel("a.test", server))[2], -1) << "a connection that carries little costs no system call";
  const int receive = 2 * socket_buffer_option(kSmall), send = 2 * socket_buffer_option(2 * kSmall);
  EXPECT_EQ(buffers_of(busy_tunnel()), (std::vector{receive, send, receive, send}));
  configure([](EngineSettings& s) { s.buffers = {0, 2 * kSmall}; });
  EXPECT_EQ(buffers_of(busy_tunnel()), (std::vector{-1, send, -1, send}));
  configure([](EngineSettings& s) { s.buffers = {0, 0}; });
  EXPECT_EQ(buffers_of(busy_tunnel()), (std::vector{-1, -1, -1, -1}));
}

TEST_F(SettingsTest, TheUsualBoundHoldsWhereTheKernelAllowsItInFull) {
  start(config());
  const FileDescriptor probe(::socket(AF_INET, SOCK_STREAM, 0));
  const int wanted = 1 << 30;
  std::vector<int> expected;
  for (const int name : {SO_RCVBUF, SO_SNDBUF}) {
    ASSERT_EQ(::setsockopt(probe.get(), SOL_SOCKET, name, &wanted, sizeof wanted), 0);
    const int usual = 2 * socket_buffer_option(kDefaultSocketBufferBytes);
    expected.push_back(test::int_option(probe.get(), SOL_SOCKET, name) >= usual ? usual : -1);
  }
  expected.insert(expected.end(), {expected[0], expected[1]});
  EXPECT_EQ(buffers_of(busy_tunnel()), expected);
}

TEST_F(SettingsTest, ABoundThatTheKernelDoesNotAllowIsSaidOnce) {
  const auto times_said = [&] {
    return std::ranges::count_if(records, [](const LogRecord& record) {
      return record.level == LogLevel::warning &&
             record.message == "the kernel allows less than is configured for a socket buffer";
    });
  };
  auto with = options();
  with.buffers = {std::size_t{1} << 30, kSmall};
  start(config(), with);
  EXPECT_EQ(times_said(), 1);
  configure([](EngineSettings& s) { s.max_hello_bytes = 1024; });
  EXPECT_EQ(times_said(), 1) << "nothing of it is new";
  configure([](EngineSettings& s) { s.buffers.receive_bytes = 0; });
  configure([](EngineSettings& s) { s.buffers.receive_bytes = std::size_t{1} << 30; });
  EXPECT_EQ(times_said(), 2);
}

TEST_F(SettingsTest, WhatTheKernelAllowsIsShown) {
  auto with = options();
  with.buffers = {std::size_t{1} << 30, kSmall};
  start(config(), with);
  const SocketBuffers granted = engine->granted_buffers();
  EXPECT_LT(granted.receive_bytes, std::size_t{1} << 30);
  EXPECT_EQ(granted.send_bytes, kSmall);
  const auto buffers = buffers_of(busy_tunnel());
  EXPECT_EQ(buffers[0], 2 * socket_buffer_option(*granted.receive_bytes)) << "sockets are bounded by that";
  configure([](EngineSettings& s) { s.buffers = {0, 0}; });
  EXPECT_EQ(engine->granted_buffers(), (SocketBuffers{0, 0}));
}

/// Who stops reading, and in what pieces the other one sends.
struct Stop {
  const char* name;
  bool is_client;
  std::size_t piece;
};
void PrintTo(const Stop& stop, std::ostream* out) {
  *out << stop.name;
}
class StoppedReaderTest : public SettingsTest, public testing::WithParamInterface<Stop> {};

TEST_P(StoppedReaderTest, CostsNoMoreThanIsConfiguredInUserAndKernelMemory) {
  auto with = options();
  with.buffers = {kSmall, kSmall};
  start(config(), with);
  auto [client, backend] = tunnel("a.test", server);
  Peer& reader = GetParam().is_client ? client : backend;
  Peer& sender = GetParam().is_client ? backend : client;
  const std::string sent = fill(sender, GetParam().piece);
  const std::size_t received = test::kernel_bytes(test::other_end(sender.socket()));
  const std::size_t unsent = test::kernel_bytes(test::other_end(reader.socket()));
  EXPECT_EQ(engine->stats().buffers_in_use, 1u);
  EXPECT_LE(received, kSmall);
  EXPECT_LE(unsent, kSmall);
  EXPECT_GT(received + unsent, kSmall / 2) << "the reader has stopped the sender";
  std::string got;
  ASSERT_TRUE(run_until([&] {
    reader.receive_some(got);
    return got.size() >= sent.size();
  }));
  EXPECT_TRUE(got == sent);
  EXPECT_EQ(engine->stats().buffers_in_use, 0u);
  expect_works(client, backend);
}

INSTANTIATE_TEST_SUITE_P(Stops, StoppedReaderTest,
                         testing::Values(Stop{"Client", true, 1 << 20}, Stop{"Backend", false, 1 << 20},
                                         Stop{"ClientOfSmallPieces", true, 100}),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST_F(SettingsTest, ManyStoppedReadersOfSplicedStreamsCostNoMore) {
  constexpr std::size_t kReceive = 512 * 1024;
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  auto with = options();
  with.buffers = {kReceive, kSmall};
  start(config(), with);
  std::vector<std::pair<Peer, Peer>> tunnels;
  for (std::uint32_t i = 0; i < kSpliceFromStreams + 8; ++i) tunnels.push_back(tunnel("a.test", server));
  const std::string chunk(1 << 20, 'x');
  // Busy at the same time, and then nobody reads.
  for (int round = 0; round < 200; ++round) {
    for (auto& [client, backend] : tunnels) {
      std::string ignored;
      backend.send_some(chunk);
      if (round < 100) client.receive_some(ignored);
    }
    run_ready();
  }
  const std::vector<std::size_t> pipes = test::pipe_bytes();
  EXPECT_FALSE(pipes.empty()) << "some of them are spliced";
  for (const std::size_t held : pipes) EXPECT_LE(held, kReceive);
  EXPECT_LE(engine->stats().buffers_in_use, tunnels.size()) << "one buffer or pipe each";
  for (const auto& [client, backend] : tunnels) {
    EXPECT_LE(test::kernel_bytes(test::other_end(backend.socket())), kReceive);
    EXPECT_LE(test::kernel_bytes(test::other_end(client.socket())), kSmall);
  }
  std::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace hcpnet::proxy
