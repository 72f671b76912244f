// SPDX-License-Identifier: Apache-2.0
// An engine with threads of its own: the same behaviour, shared limits, callbacks on the embedder's thread.
#include <gmock/gmock.h>

#include <array>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "proxy/proxy_test.hpp"
#include "proxy/relay.hpp"

namespace hcpnet::proxy {
namespace {

using namespace std::chrono_literals;
using test::Peer;
using test::Server;

class WorkersTest : public test::ProxyTest {
 protected:
  EngineOptions threads(std::size_t count) {
    auto with = options();
    with.clock = &system_clock();
    with.workers = count;
    return with;
  }
  Server server{*this};
};

TEST_F(WorkersTest, ShareConnectionsOutAndCountThemTogether) {
  start(test::config_for({{"a.test", {server.endpoint()}}}), threads(3));
  std::vector<std::pair<Peer, Peer>> open;
  for (int i = 0; i < 30; ++i) open.push_back(tunnel("a.test", server));
  for (auto& [from, to] : open) expect_works(from, to);
  EngineStats stats = engine->stats();
  EXPECT_EQ(stats.accepted, 30u);
  EXPECT_EQ(stats.active, 30u);
  EXPECT_EQ(stats.backends.at("a.test").active, 30u);
  EXPECT_EQ(stats.decisions.at("exact"), 30u);
  open.clear();
  expect_all_closed();
  EXPECT_EQ(engine->stats().closed.at("finished"), 30u);
  ASSERT_TRUE(run_until([&] { return closed("reason").size() == 30; })) << "log records come to the embedder's thread";
}

TEST_F(WorkersTest, AnotherEngineDoesNotShareTheirPort) {
  RouteConfig config = test::config_for({{"a.test", {server.endpoint()}}});
  config.listeners.push_back({{Ipv4(127, 0, 0, 1), 500}, {}});
  config.listeners.back().kind = ListenerKind::udp;
  Route& datagrams = config.routes.emplace_back();
  datagrams.port = 500;
  datagrams.protocol = Protocol::udp;
  datagrams.not_tls = true;
  datagrams.backend = "a.test";
  auto with = threads(2);
  with.port_map[500] = 0;
  start(config, with);
  for (const BoundListener& taken : engine->listeners()) {
    auto other_options = threads(2);
    other_options.port_map = {{443, 0}, {500, 0}};
    other_options.port_map[taken.configured.port] = taken.bound.port;
    Engine other(io.get_executor(), other_options);
    try {
      other.start(RouteTable::build(config).value());
      ADD_FAILURE() << "two engines on " << taken.bound.to_string();
    } catch (const boost::system::system_error& e) {
      EXPECT_EQ(e.code(), boost::asio::error::address_in_use) << e.what();
    }
  }
}

TEST_F(WorkersTest, ReloadsAndReadersDisturbNobody) {
  RouteConfig config = test::config_for({{"a.test", {server.endpoint()}}});
  start(config, threads(2));
  auto open = tunnel("a.test", server);
  for (int i = 0; i < 50; ++i) {
    engine->replace(RouteTable::build(config).value());
    engine->set_source_clusters({{Ipv4(127, 0, 0, 1), "c"}});
    EXPECT_TRUE(run_until([&] { return engine->stats().backends.at("a.test").active == 1; }))
        << "the last one has gone";
    auto another = tunnel("a.test", server);
    expect_works(another.first, another.second);
  }
  expect_works(open.first, open.second);
}

TEST_F(WorkersTest, LimitsHoldOverAllOfThem) {
  RouteConfig config = test::config_for({{"a.test", {server.endpoint()}}});
  auto with = threads(2);
  with.max_connections_per_source = 5;
  start(config, with);
  std::vector<std::pair<Peer, Peer>> open;
  for (int i = 0; i < 5; ++i) open.push_back(tunnel("a.test", server));
  for (int i = 0; i < 5; ++i) {
    Peer refused = client();
    EXPECT_TRUE(refused.end());
  }
  EXPECT_EQ(engine->stats().source_limit_refused, 5u);
}

TEST_F(WorkersTest, AskTheEmbeddersResolverOnItsThread) {
  RouteConfig config = test::config_for({{"a.test", {}}});
  config.backends[0].host = "a.svc";
  config.backends[0].port = 443;
  auto with = threads(2);
  std::thread::id asked_on;
  with.resolve = [&](const std::string&, std::uint16_t, Resolved resolved) {
    asked_on = std::this_thread::get_id();
    resolved(std::vector<Endpoint>{server.endpoint()});
  };
  start(config, with);
  auto open = tunnel("a.test", server);
  expect_works(open.first, open.second);
  EXPECT_EQ(asked_on, std::this_thread::get_id());
}

TEST_F(WorkersTest, AResolverThatThrowsHasFailed) {
  RouteConfig config = test::config_for({{"a.test", {}}});
  config.backends[0].host = "a.svc";
  config.backends[0].port = 443;
  auto with = threads(2);
  with.resolve = [](const std::string&, std::uint16_t, const Resolved&) { throw std::runtime_error("of a user"); };
  start(config, with);
  Peer from = client();
  from.send(hello("a.test"));
  EXPECT_THROW(run_until([] { return false; }), std::runtime_error);
  EXPECT_TRUE(from.end());
  ASSERT_TRUE(run_until([&] { return closed("reason").size() == 1; }));
  EXPECT_EQ(closed("reason").front(), "resolve_failed");
}

/// A backend whose name the embedder is asked for; he has not answered yet.
class WorkersByNameTest : public WorkersTest {
 protected:
  void start_by_name() {
    RouteConfig config = test::config_for({{"a.test", {}}});
    config.backends[0].host = "a.svc";
    config.backends[0].port = 443;
    auto with = threads(2);
    with.resolve = [this](const std::string&, std::uint16_t, Resolved resolved) {
      asked.push_back(std::move(resolved));
    };
    start(config, with);
  }
  std::vector<Resolved> asked;
};

TEST_F(WorkersByNameTest, AnAnswerMayComeWhenTheyAreGone) {
  start_by_name();
  Peer from = client();
  from.send(hello("a.test"));
  ASSERT_TRUE(run_until([&] { return asked.size() == 1; }));
  engine.reset();
  asked[0](std::vector<Endpoint>{server.endpoint()});
  run_ready();
  EXPECT_TRUE(from.end());
  EXPECT_FALSE(server.has_connection());
}

TEST_F(WorkersByNameTest, NobodyIsAskedForThemOnceTheyAreGone) {
  start_by_name();
  Peer from = client();
  from.send(hello("a.test"));
  // Their threads work without us: what they ask waits for this one, which does not run its context.
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (engine->stats().backends.at("a.test").total == 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_EQ(engine->stats().backends.at("a.test").total, 1u);
  engine.reset();
  run_ready();
  EXPECT_TRUE(asked.empty());
}

TEST_F(WorkersTest, StopWaitsForTheTunnelsOfEach) {
  start(test::config_for({{"a.test", {server.endpoint()}}}), threads(2));
  std::vector<std::pair<Peer, Peer>> open;
  for (int i = 0; i < 8; ++i) open.push_back(tunnel("a.test", server));
  bool is_stopped = false;
  engine->stop([&] { is_stopped = true; });
  for (auto& [from, to] : open) expect_works(from, to);
  EXPECT_FALSE(is_stopped);
  open.clear();
  EXPECT_TRUE(run_until([&] { return is_stopped; }));
}

TEST_F(WorkersTest, TheEndOfTheEngineIsTheEndOfItsThreads) {
  start(test::config_for({{"a.test", {server.endpoint()}}}), threads(2));
  auto open = tunnel("a.test", server);
  engine.reset();
  EXPECT_TRUE(open.first.end());
  EXPECT_TRUE(open.second.end());
}

/// Bytes that depend on their place in a stream of their own, so that any loss, repetition or mix-up shows.
std::string pattern(std::size_t stream, std::size_t begin, std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t x = (begin + i + 1) * 0x9E3779B97F4A7C15 + stream * 0xBF58476D1CE4E5B9;
    bytes[i] = static_cast<char>(x >> 56);
  }
  return bytes;
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

TEST_F(WorkersTest, ManyBusyStreamsLoseNothing) {  // more than are copied: these are spliced
  constexpr std::size_t kStreams = 3 * kSpliceFromStreams, kBytes = 256 * 1024;
  start(test::config_for({{"a.test", {server.endpoint()}}}), threads(2));
  const std::size_t before = open_descriptors();
  std::vector<std::pair<Peer, Peer>> open;
  for (std::size_t i = 0; i < kStreams; ++i) open.push_back(tunnel("a.test", server));
  std::vector<std::string> sent(kStreams), received(kStreams);
  std::vector<std::size_t> done(kStreams);
  for (std::size_t i = 0; i < kStreams; ++i) sent[i] = pattern(i, 0, kBytes);
  ASSERT_TRUE(run_until([&] {
    bool is_all = true;
    for (std::size_t i = 0; i < kStreams; ++i) {
      done[i] += open[i].second.send_some(std::string_view(sent[i]).substr(done[i]));
      // Readers that are now fast, now slow, fill the pipes.
      if ((done[i] >> 16) % 3 != i % 3 || done[i] == kBytes) open[i].first.receive_some(received[i]);
      is_all = is_all && received[i].size() == kBytes;
    }
    return is_all;
  }));
  for (std::size_t i = 0; i < kStreams; ++i) EXPECT_TRUE(received[i] == sent[i]) << i;
  for (auto& [from, to] : open) expect_works(from, to);
  EXPECT_EQ(engine->stats().buffers_in_use, 0u);
  open.clear();
  expect_all_closed();
  EXPECT_TRUE(run_until([&] { return open_descriptors() == before; })) << "pipes stay open, and nobody needs them";
}

TEST_F(WorkersTest, NeedTheSystemsClock) {
  auto with = threads(2);
  with.clock = &clock;
  EXPECT_THROW(Engine(io.get_executor(), with), std::invalid_argument);
}

}  // namespace
}  // namespace hcpnet::proxy
