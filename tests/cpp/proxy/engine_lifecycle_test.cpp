// SPDX-License-Identifier: Apache-2.0
// Start, reload, stop, and what happens when the system runs short.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>

#include "proxy/proxy_test.hpp"

namespace hcpnet::proxy {
namespace {

namespace error = boost::asio::error;
using namespace std::chrono_literals;
using test::Peer;
using test::Server;
using Strings = std::vector<std::string>;

class LifecycleTest : public test::ProxyTest {
 protected:
  Server server{*this};
};

TEST_F(LifecycleTest, StartBindsAllOrNothingAndNamesTheAddress) {
  RouteConfig config = test::config_for({{"a.test", {server.endpoint()}}});
  const Endpoint taken = server.endpoint();
  config.listeners.push_back({taken, {}});
  engine = std::make_unique<Engine>(io.get_executor(), options());
  try {
    engine->start(RouteTable::build(config).value());
    FAIL() << "bound an address that is taken";
  } catch (const boost::system::system_error& e) {
    EXPECT_EQ(e.code(), error::address_in_use);
    EXPECT_THAT(e.what(), testing::HasSubstr(taken.to_string()));
  }
  EXPECT_TRUE(engine->listeners().empty());
  config.listeners.pop_back();
  engine->start(RouteTable::build(config).value());
  ASSERT_EQ(engine->listeners().size(), 1u);
  EXPECT_EQ(engine->listeners()[0].configured.port, 443);
  EXPECT_NE(engine->listeners()[0].bound.port, 443);
}

TEST_F(LifecycleTest, AReloadRoutesNewConnectionsAndLeavesTunnelsAlone) {  // PXY-11
  Server ignition(*this), new_oauth(*this), console(*this);
  start({{"api.test", {server.endpoint()}},
         {"oauth.test", {server.endpoint()}},
         {"ignition.test", {ignition.endpoint()}}});
  auto api = tunnel("api.test", server);
  auto oauth = tunnel("oauth.test", server);
  auto ignite = tunnel("ignition.test", ignition);
  const std::weak_ptr<const RouteTable> old = engine->table();
  engine->replace(RouteTable::build(test::config_for({{"api.test", {server.endpoint()}},
                                                      {"oauth.test", {new_oauth.endpoint()}},
                                                      {"console.test", {console.endpoint()}}}))
                      .value());
  for (auto* pair : {&api, &oauth, &ignite}) expect_works(pair->first, pair->second);
  auto oauth2 = tunnel("oauth.test", new_oauth);
  auto console1 = tunnel("console.test", console);
  expect_works(oauth2.first, oauth2.second);
  expect_works(console1.first, console1.second);
  Peer refused = client();
  refused.send(hello("ignition.test"));
  EXPECT_TRUE(refused.end());
  for (auto* pair : {&api, &oauth, &ignite}) expect_works(pair->first, pair->second);
  EXPECT_TRUE(old.expired()) << "tunnels must not keep old tables in memory";
  EXPECT_EQ(engine->stats().backends.at("ignition.test").active, 1u);
  ignite.first.close();
  ignite.second.close();
  ASSERT_TRUE(run_until([&] { return engine->stats().backends.at("ignition.test").active == 0; }));
  engine->replace(engine->table());
  EXPECT_FALSE(engine->stats().backends.contains("ignition.test")) << "counters of what is gone and unused go too";
  EXPECT_EQ(engine->stats().backends.at("oauth.test").total, 2u) << "and the others stay";
}

TEST_F(LifecycleTest, AReloadWhileConnectingKeepsTheDecision) {
  Resolved answer;
  auto with = options();
  with.resolve = [&](const std::string&, std::uint16_t, Resolved resolved) { answer = std::move(resolved); };
  RouteConfig config = test::config_for({{"a.test", {}}});
  config.backends[0].host = "a.svc";
  config.backends[0].port = 443;
  start(config, with);
  Peer from = client();
  const std::string first = hello("a.test");
  from.send(first);
  ASSERT_TRUE(run_until([&] { return static_cast<bool>(answer); }));
  engine->replace(RouteTable::build(test::config_for({{"b.test", {server.endpoint()}}})).value());
  answer(std::vector<Endpoint>{server.endpoint()});
  EXPECT_EQ(server.accept().receive(first.size()), first);
}

TEST_F(LifecycleTest, StopLetsTunnelsFinish) {
  start({{"a.test", {server.endpoint()}}});
  auto [from, to] = tunnel("a.test", server);
  bool is_stopped = false;
  engine->stop([&] { is_stopped = true; });
  boost::asio::ip::tcp::socket late(outside);
  boost::system::error_code ec;
  late.connect({boost::asio::ip::make_address("127.0.0.1"), listener.port}, ec);
  EXPECT_EQ(ec, error::connection_refused);
  expect_works(from, to);
  EXPECT_FALSE(is_stopped);
  from.close();
  to.close();
  EXPECT_TRUE(run_until([&] { return is_stopped; }));
  EXPECT_EQ(closed("reason"), Strings{"finished"});
}

TEST_F(LifecycleTest, StopClosesWhatIsLeftAfterTheDrainTimeout) {
  auto with = options();
  with.drain_timeout = 5s;
  start(test::config_for({{"a.test", {server.endpoint()}}}), with);
  auto [from, to] = tunnel("a.test", server);
  Peer silent = client();
  ASSERT_TRUE(run_until([&] { return engine->stats().active == 2; }));
  int stopped = 0;
  engine->stop([&] { ++stopped; });
  engine->stop([&] { ++stopped; });
  clock.advance(4999ms);
  expect_works(from, to);
  clock.advance(1ms);
  EXPECT_EQ(from.end(), error::eof);
  EXPECT_EQ(to.end(), error::eof);
  EXPECT_TRUE(silent.end());
  EXPECT_TRUE(run_until([&] { return stopped == 2; }));
  EXPECT_EQ(engine->stats().active, 0u);
  EXPECT_EQ(closed_for("stopped"), 1u);  // the silent one met its inspect timeout at the same moment
}

TEST_F(LifecycleTest, StopOfAnIdleEngineIsReportedFromTheEventLoop) {
  start({{"a.test", {server.endpoint()}}});
  bool is_stopped = false;
  engine->stop([&] { is_stopped = true; });
  EXPECT_FALSE(is_stopped);
  EXPECT_TRUE(run_until([&] { return is_stopped; }));
}

TEST_F(LifecycleTest, TheEngineMayEndInAnyStateOfItsConnections) {
  start({{"a.test", {server.endpoint()}}});
  auto [from, to] = tunnel("a.test", server);
  auto [stalled, unread] = tunnel("a.test", server);
  const std::string chunk(1 << 20, 'x');
  ASSERT_TRUE(run_until([&] {
    stalled.send_some(chunk);
    return engine->stats().buffers_in_use == 1;
  }));
  Peer silent = client();
  Peer half = client();
  half.send(std::string("\x16\x03"));
  ASSERT_TRUE(run_until([&] { return engine->stats().active == 4; }));
  engine.reset();
  EXPECT_TRUE(from.end());
  EXPECT_TRUE(to.end());
  EXPECT_TRUE(silent.end());
  run_ready();
}

TEST_F(LifecycleTest, TheEngineMayEndWhereTheAccessLogFails) {
  auto with = options();
  with.access_log = [](const std::string&) { throw std::runtime_error("no room for a log"); };
  start(test::config_for({{"a.test", {server.endpoint()}}}), with);
  auto open = tunnel("a.test", server);
  engine.reset();
  EXPECT_TRUE(open.first.end());
  EXPECT_TRUE(open.second.end());
}

TEST_F(LifecycleTest, NamesAreLookedUpOnceAndCached) {  // PXY-13
  std::vector<Resolved> asked;
  auto with = options();
  with.resolve = [&](const std::string& host, std::uint16_t port, Resolved resolved) {
    EXPECT_EQ(host, "svc.test");
    EXPECT_EQ(port, 6443);
    asked.push_back(std::move(resolved));
  };
  RouteConfig config = test::config_for({{"a.test", {}}});
  config.backends[0].host = "svc.test";
  config.backends[0].port = 6443;
  start(config, with);
  const std::string first = hello("a.test");

  Peer one = client(), two = client();
  one.send(first);
  two.send(first);
  ASSERT_TRUE(run_until([&] { return engine->stats().decisions.at("exact") == 2; }));
  ASSERT_EQ(asked.size(), 1u) << "look-ups in flight are shared";
  asked[0](std::vector<Endpoint>{server.endpoint()});
  EXPECT_EQ(server.accept().receive(first.size()), first);
  EXPECT_EQ(server.accept().receive(first.size()), first);
  Peer three = client();
  three.send(first);
  EXPECT_EQ(server.accept().receive(first.size()), first);
  EXPECT_EQ(asked.size(), 1u) << "and answers are kept";

  clock.advance(30s);
  Server moved(*this);
  Peer four = client();
  four.send(first);
  ASSERT_TRUE(run_until([&] { return asked.size() == 2; }));
  asked[1](std::vector<Endpoint>{moved.endpoint()});
  EXPECT_EQ(moved.accept().receive(first.size()), first);

  clock.advance(30s);
  Peer five = client();
  five.send(first);
  ASSERT_TRUE(run_until([&] { return asked.size() == 3; }));
  asked[2](error_code(error::host_not_found_try_again));
  EXPECT_EQ(moved.accept().receive(first.size()), first) << "the last good answer serves while the name server is down";
  EXPECT_EQ(engine->stats().resolve_failures, 1u);
  EXPECT_EQ(engine->stats().connect_failures, 0u);
}

TEST_F(LifecycleTest, ANameThatIsNotAnsweredIsGivenUpAtTheConnectTimeout) {
  Resolved answer;
  auto with = options();
  with.resolve = [&](const std::string&, std::uint16_t, Resolved resolved) { answer = std::move(resolved); };
  RouteConfig config = test::config_for({{"a.test", {}}});
  config.backends[0].host = "svc.test";
  config.backends[0].port = 6443;
  config.backends[0].connect_timeout = 2s;
  start(config, with);
  Peer from = client();
  from.send(hello("a.test"));
  ASSERT_TRUE(run_until([&] { return static_cast<bool>(answer); }));
  clock.advance(2s);
  EXPECT_TRUE(from.end());
  EXPECT_EQ(closed("reason"), Strings{"resolve_failed"});
  answer(error_code(error::host_not_found));  // too late for anybody
  run_ready();
  Peer again = client();
  again.send(hello("a.test"));
  ASSERT_TRUE(run_until([&] { return engine->stats().active == 1; }));
  run_ready();
  answer(error_code(error::host_not_found));
  EXPECT_TRUE(again.end());
  EXPECT_EQ(engine->stats().connect_failures, 2u);
}

TEST_F(LifecycleTest, TheSystemsResolverKnowsLocalhost) {
  RouteConfig config = test::config_for({{"a.test", {}}});
  config.backends[0].host = "localhost";
  config.backends[0].port = server.endpoint().port;
  start(config);
  Peer from = client();
  const std::string first = hello("a.test");
  from.send(first);
  EXPECT_EQ(server.accept().receive(first.size()), first);
}

/// Runs in a child process, whose limits may be changed. The child reports what went wrong on standard error.
template <class Body>
void in_child(Body&& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    body();
    std::fflush(nullptr);
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int next_descriptor() {
  const int descriptor = ::dup(0);
  ::close(descriptor);
  return descriptor;
}
/// Descriptors numbered `limit` and above can't be had.
void limit_descriptors(int limit) {
  rlimit now{};
  ::getrlimit(RLIMIT_NOFILE, &now);
  now.rlim_cur = static_cast<rlim_t>(limit);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &now), 0);
}

TEST_F(LifecycleTest, WithoutDescriptorsItWaitsInsteadOfSpinningAndThenGoesOn) {  // PXY-17
  in_child([this] {
    start({{"a.test", {server.endpoint()}}});
    auto [from, to] = tunnel("a.test", server);
    std::vector<Peer> waiting;
    for (int i = 0; i < 8; ++i) waiting.push_back(client());
    limit_descriptors(next_descriptor());
    ASSERT_TRUE(run_until([&] { return engine->stats().accept_backoffs == 1; }));
    for (int i = 0; i < 100; ++i) run_ready();
    EXPECT_EQ(engine->stats().accept_backoffs, 1u) << "no new try before the clock moves";
    expect_works(from, to);
    for (int i = 2; i < 12; ++i) {
      clock.advance(100ms);
      ASSERT_TRUE(run_until([&] { return engine->stats().accept_backoffs == static_cast<std::uint64_t>(i); }));
    }
    expect_works(from, to);
    waiting.clear();
    clock.advance(100ms);
    auto [again, backend] = tunnel("a.test", server);
    expect_works(again, backend);
  });
}

TEST_F(LifecycleTest, ConnectionsLeaveDescriptorsToTheRestOfTheProcess) {
  in_child([this] {
    const int limit = next_descriptor() + 80;
    limit_descriptors(limit);
    start({{"a.test", {server.endpoint()}}});
    auto [from, to] = tunnel("a.test", server);
    std::vector<Peer> waiting;
    while (engine->stats().accept_backoffs == 0) {
      ASSERT_LT(next_descriptor(), limit - limit / 4 + 4) << "nothing is left to others";
      waiting.push_back(client());
      run_ready();
    }
    EXPECT_GT(waiting.size(), 8u);
    EXPECT_GT(next_descriptor(), limit - limit / 4 - 4) << "so many have not to be kept";
    EXPECT_EQ(engine->stats().active, waiting.size()) << "the tunnel and all but the last";
    expect_works(from, to);
    waiting.clear();
    clock.advance(100ms);
    auto [again, backend] = tunnel("a.test", server);
    expect_works(again, backend);
  });
}

TEST_F(LifecycleTest, WhoeverFindsNoDescriptorWaitsInTheQueueUntilThereIsOne) {
  in_child([this] {
    limit_descriptors(next_descriptor() + 80);
    start({{"a.test", {server.endpoint()}}});
    const std::string first = hello("a.test");
    std::vector<Peer> clients;
    const auto knock = [&] {
      clients.push_back(client());
      clients.back().send(first);
      run_ready();
    };
    while (engine->stats().accept_backoffs == 0) {
      ASSERT_LT(clients.size(), 80u);
      knock();
    }
    EXPECT_EQ(engine->stats().active, clients.size() - 1) << "all but the last";
    for (int i = 0; i < 4; ++i) knock();
    for (Peer& from : clients) {  // each end makes room for the next
      clock.advance(100ms);
      Peer to = server.accept();
      EXPECT_EQ(to.receive(first.size()), first);
      to.send(std::string("x"));
      EXPECT_EQ(from.receive(1), "x");
      const std::size_t ended = closed("reason").size();
      from.close();
      to.close();
      ASSERT_TRUE(run_until([&] { return closed("reason").size() > ended; }));
    }
    EXPECT_EQ(engine->stats().accepted, clients.size());
    EXPECT_EQ(closed("reason"), Strings(clients.size(), "finished")) << "nobody was turned away";
  });
}

std::chrono::nanoseconds cpu_time() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

TEST_F(LifecycleTest, WithoutDescriptorsItLeavesTheProcessorAlone) {  // PXY-17, the share of the processor
  in_child([this] {
    auto with = options();
    with.clock = &system_clock();
    start(test::config_for({{"a.test", {server.endpoint()}}}), with);
    auto [from, to] = tunnel("a.test", server);
    std::vector<Peer> waiting;
    for (int i = 0; i < 80; ++i) waiting.push_back(client());
    limit_descriptors(next_descriptor());
    ASSERT_TRUE(run_until([&] { return engine->stats().accept_backoffs > 0; }));
    constexpr std::chrono::milliseconds kTime = 2s;
    const auto before = cpu_time();
    for (const auto end = std::chrono::steady_clock::now() + kTime; std::chrono::steady_clock::now() < end;) {
      io.restart();
      io.run_until(end);
    }
    EXPECT_LT(cpu_time() - before, kTime / 4) << "5 %, with five times the slack";
    EXPECT_GE(engine->stats().accept_backoffs, 5u);
    EXPECT_LE(engine->stats().accept_backoffs, 25u);
    expect_works(from, to);
    waiting.clear();
    auto [again, backend] = tunnel("a.test", server);
    expect_works(again, backend);
  });
}

TEST_F(LifecycleTest, ALackOfDescriptorsIsNoFaultOfTheEndpoint) {
  in_child([this] {
    proxy::RouteConfig config = test::config_for({{"a.test", {server.endpoint()}}});
    config.backends[0].ejection.failures = 1;
    start(config);
    Peer from = client();
    from.send(hello("a.test"));
    limit_descriptors(next_descriptor() + 1);  // for the client's connection alone
    ASSERT_TRUE(run_until([&] { return engine->stats().connect_failures == 1; }));
    const auto backend = engine->stats().backends.at("a.test");
    EXPECT_EQ(backend.endpoints.at(server.endpoint()).failures, 1u);
    EXPECT_FALSE(backend.endpoints.at(server.endpoint()).is_ejected);
    EXPECT_EQ(backend.ejections, 0u);
  });
}

TEST_F(LifecycleTest, AnyDescriptorMayBeTheOneThatIsMissing) {
  in_child([this] {
    start({{"a.test", {server.endpoint()}}});
    for (int spare = 0; spare < 4; ++spare) {
      Peer from = client();
      from.send(hello("a.test"));
      limit_descriptors(next_descriptor() + spare);
      const auto has_outcome = [&] {
        return engine->stats().accept_backoffs > 0 || engine->stats().connect_failures > 0 ||
               engine->stats().bytes_to_backend > 0;
      };
      ASSERT_TRUE(run_until(has_outcome)) << spare;
      limit_descriptors(1000);
      clock.advance(100ms);
      while (server.has_connection()) {
      }
      from.close();
      expect_all_closed();
      start({{"a.test", {server.endpoint()}}});
      auto [again, to] = tunnel("a.test", server);
      expect_works(again, to);
      start({{"a.test", {server.endpoint()}}});
    }
  });
}

}  // namespace
}  // namespace hcpnet::proxy
