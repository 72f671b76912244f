// SPDX-License-Identifier: Apache-2.0
// Servers that share a pool, on a real etcd.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>
#include <filesystem>
#include <future>
#include <hcpnet/clock.hpp>
#include <hcpnet/dhcp/server.hpp>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <thread>

#include "dhcp/etcd_process.hpp"
#include "dhcp/etcd_wire.hpp"
#include "dhcp/gate.hpp"
#include "dhcp/loopback_client.hpp"
#include "dhcp/server_fixture.hpp"
#include "dhcp/temporary_folder.hpp"
#include "dhcp/volatile_disk.hpp"
#include "runtime/http_connection.hpp"
#include "runtime/timer_queue.hpp"

namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
using test::LoopbackClient;
using test::ServerThread;
using test::test_mac;
using testing::HasSubstr;

constexpr int kOffer = 2, kAck = 5, kNak = 6;
const Ipv4 kFirst(127, 0, 0, 1), kSecond(127, 0, 0, 2);

class DhcpSharedServer : public testing::Test {
 protected:
  [[nodiscard]] Config config(Ipv4 server) const {
    Config out = test::loopback_config();
    out.subnets[0].server_id = server;
    out.subnets[0].shared_store = SharedStore{.endpoints = {etcd_.url()}, .prefix = "/test"};
    return out;
  }
  [[nodiscard]] std::string database(Ipv4 server) const { return folder_.file(server.to_string()); }
  /// One that serves.
  std::unique_ptr<ServerThread> serve(Ipv4 server) {
    auto out = std::make_unique<ServerThread>(database(server), config(server));
    wait_until(*out, [](const Server& s) { return s.is_healthy(); });
    return out;
  }
  template <class Condition>
  static void wait_until(ServerThread& server, Condition condition) {
    for (int tries = 0; tries < 600; ++tries) {
      if (server.run([&](Server& s) { return condition(s); })) return;
      std::this_thread::sleep_for(50ms);
    }
    ADD_FAILURE() << "that does not come about";
  }
  static bool knows(const Server& server, Ipv4 address, LeaseState state) {
    const auto leases = server.leases();
    return std::ranges::any_of(leases, [&](const Lease& l) { return l.address == address && l.state == state; });
  }
  static std::uint64_t dropped(ServerThread& server, const std::string& reason) {
    return server.run([&](Server& s) { return s.stats().dropped[reason]; });
  }
  /// Past every server; the key must be new.
  void put(const std::string& key, const std::string& value) const {
    boost::asio::io_context io;
    runtime::TimerQueue timers(io.get_executor(), system_clock());
    const auto connection = std::make_shared<runtime::HttpConnection>(
        io.get_executor(), timers, runtime::HttpPeer{false, "127.0.0.1", etcd_.port()});
    const etcd::Step step{{{key, value, 0}}, {}};
    unsigned status = 0;
    connection->post(etcd::kTxn, {}, etcd::txn_body(std::span(&step, 1)),
                     [&](const runtime::HttpReply& reply) { status = reply.status; });
    io.run();
    connection->close();
    EXPECT_EQ(status, 200U);
  }

  test::EtcdProcess etcd_;
  test::TemporaryFolder folder_;
};

test::DhcpPacket init_reboot(const MacAddress& mac, Ipv4 address) {
  return test::dhcp_packet(3, mac).with_address(50, address);
}

TEST_F(DhcpSharedServer, AClientOfOneIsAClientOfTheOther) {
  const auto a = serve(kFirst), b = serve(kSecond);
  const LoopbackClient to_a(a->port(), kFirst), to_b(b->port(), kSecond);
  for (std::uint32_t n = 1; n <= 20; ++n) {  // at once, before word has spread
    const auto address = to_a.lease(test_mac(n));
    ASSERT_TRUE(address);
    const auto renewed = to_b.ask(n % 2 == 0 ? test::renew(test_mac(n), *address) : init_reboot(test_mac(n), *address));
    ASSERT_TRUE(renewed);
    EXPECT_EQ(renewed->type(), kAck) << "a NAK would take from it what it has";
    EXPECT_EQ(renewed->yiaddr, *address);
  }
}

TEST_F(DhcpSharedServer, WhatOneHasGivenTheOtherRefuses) {
  const auto a = serve(kFirst), b = serve(kSecond);
  const LoopbackClient to_a(a->port(), kFirst), to_b(b->port(), kSecond);
  for (std::uint32_t n = 1; n <= 20; ++n) {
    const auto offer = to_b.ask(test::discover(test_mac(100 + n)));
    ASSERT_TRUE(offer);
    ASSERT_EQ(offer->type(), kOffer);
    const auto taken = to_a.ask(test::select(test_mac(n), kFirst, offer->yiaddr));
    ASSERT_TRUE(taken);
    ASSERT_EQ(taken->type(), kAck) << "each server may offer the same address";
    const auto refused = to_b.ask(test::select(test_mac(100 + n), kSecond, offer->yiaddr));
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->type(), kNak);
  }
  const auto stats = b->run([](Server& s) { return s.stats(); });
  EXPECT_EQ(stats.shared.at("test/loopback").taken, 20U);
}

TEST_F(DhcpSharedServer, NobodyIsAnsweredWithoutTheStore) {
  const auto a = serve(kFirst);
  const LoopbackClient client(a->port());
  const auto address = client.lease(test_mac(1));
  ASSERT_TRUE(address);
  etcd_.kill();
  wait_until(*a, [](const Server& s) { return !s.is_healthy(); });
  EXPECT_THAT(a->run([](Server& s) { return s.troubles().at(0); }), HasSubstr("the shared store of test/loopback"));
  client.send(test::discover(test_mac(2)));
  client.send(test::renew(test_mac(1), *address));
  client.send(init_reboot(test_mac(3), *address));
  wait_until(*a, [](const Server& s) { return s.stats().dropped["store_unreachable"] >= 3; });
  EXPECT_FALSE(client.receive(0ms)) << "another server may do, and knows more";
  EXPECT_FALSE(a->run([](Server& s) { return s.stats().shared.at("test/loopback").is_reachable; }));
  etcd_.start();
  wait_until(*a, [](const Server& s) { return s.is_healthy(); });
  EXPECT_EQ(client.ask(test::renew(test_mac(1), *address))->type(), kAck);
  EXPECT_EQ(client.ask(test::discover(test_mac(2)))->type(), kOffer);
}

TEST_F(DhcpSharedServer, LeasesOfBeforeAreShared) {
  std::optional<Ipv4> address;
  {
    Config alone = config(kFirst);
    alone.subnets[0].shared_store.reset();
    ServerThread before(database(kFirst), alone);
    address = LoopbackClient(before.port()).lease(test_mac(1));
    ASSERT_TRUE(address);
    before.stop();
  }
  const auto a = serve(kFirst), b = serve(kSecond);
  wait_until(*b, [&](const Server& s) { return knows(s, *address, LeaseState::bound); });
}

TEST_F(DhcpSharedServer, AServerThatLostItsDatabaseKnowsAllTheSame) {
  const auto address = [&] {
    const auto a = serve(kFirst);
    const auto given = LoopbackClient(a->port()).lease(test_mac(1));
    a->stop();
    return given;
  }();
  ASSERT_TRUE(address);
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(database(kFirst) + end);
  const auto a = serve(kFirst);
  EXPECT_TRUE(a->run([&](Server& s) { return knows(s, *address, LeaseState::bound); }));
}

TEST_F(DhcpSharedServer, WhatIsReleasedAtOneIsFreeAtTheOther) {
  const auto a = serve(kFirst), b = serve(kSecond);
  const LoopbackClient to_a(a->port(), kFirst), to_b(b->port(), kSecond);
  const auto address = to_a.lease(test_mac(1));
  ASSERT_TRUE(address);
  wait_until(*b, [&](const Server& s) { return knows(s, *address, LeaseState::bound); });
  test::DhcpPacket release = test::dhcp_packet(7, test_mac(1)).with_address(54, kSecond);
  release.ciaddr = *address;
  to_b.send(release);
  wait_until(*a, [&](const Server& s) { return knows(s, *address, LeaseState::released); });
  EXPECT_EQ(to_a.ask(test::select(test_mac(2), kFirst, *address))->type(), kAck);
}

TEST_F(DhcpSharedServer, WhatAClientLeavesLastsUntilItExpires) {
  const auto a = serve(kFirst), b = serve(kSecond);
  const LoopbackClient to_a(a->port(), kFirst), to_b(b->port(), kSecond);
  const auto offer = to_b.ask(test::discover(test_mac(1)));
  ASSERT_TRUE(offer);
  const Ipv4 given(offer->yiaddr.value() + 1);
  ASSERT_EQ(to_a.ask(test::select(test_mac(1), kFirst, given))->type(), kAck);
  wait_until(*b, [&](const Server& s) { return knows(s, given, LeaseState::bound); });
  // As if it had been sent before, and had waited: the client does not hear of the answer.
  ASSERT_EQ(to_b.ask(test::select(test_mac(1), kSecond, offer->yiaddr))->type(), kAck);
  wait_until(*a, [&](const Server& s) { return knows(s, offer->yiaddr, LeaseState::bound); });
  EXPECT_EQ(to_a.ask(test::select(test_mac(2), kFirst, given))->type(), kNak);
  EXPECT_EQ(to_b.ask(test::select(test_mac(3), kSecond, given))->type(), kNak);
  EXPECT_EQ(to_a.ask(test::renew(test_mac(1), given))->type(), kAck);
}

TEST_F(DhcpSharedServer, EachServerCountsALeaseOnce) {
  const auto a = serve(kFirst), b = serve(kSecond);
  const LoopbackClient to_a(a->port(), kFirst), to_b(b->port(), kSecond);
  const auto address = to_a.lease(test_mac(1));
  ASSERT_TRUE(address);
  wait_until(*b, [&](const Server& s) { return knows(s, *address, LeaseState::bound); });
  test::DhcpPacket release = test::dhcp_packet(7, test_mac(1)).with_address(54, kSecond);
  release.ciaddr = *address;
  to_b.send(release);
  for (ServerThread* server : {a.get(), b.get()}) {
    wait_until(*server, [](const Server& s) { return s.stats().events["released"] >= 1; });
    EXPECT_EQ(server->run([](Server& s) { return s.stats().events; }),
              (std::map<std::string, std::uint64_t>{{"bound", 1}, {"released", 1}}));
  }
}

/// The record in etcd is longer than what is told: it was written before the disk was asked.
TEST_F(DhcpSharedServer, WhileTheDiskFailsOnlyWhatIsStoredIsAcknowledged) {
  test::VolatileDisk disk;
  const auto a = serve(kFirst);
  const LoopbackClient client(a->port());
  const auto address = client.lease(test_mac(1));
  ASSERT_TRUE(address);
  disk.fail_writes(SQLITE_FULL);
  client.send(test::select(test_mac(2), kFirst, Ipv4(127, 1, 0, 9)));
  wait_until(*a, [](const Server& s) { return s.stats().dropped["not_stored"] >= 1; });
  EXPECT_FALSE(client.receive(0ms)) << "no new lease";
  // With a name, because within one second a renewal changes nothing.
  const auto ack = client.ask(test::renew(test_mac(1), *address).with(12, {'x'}));
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->type(), kAck);
  EXPECT_NE(ack->find(51), (test::Bytes{0, 0, 0x0E, 0x10})) << "less than the hour";
  disk.fail_writes(0);
  EXPECT_EQ(client.ask(test::select(test_mac(2), kFirst, Ipv4(127, 1, 0, 9)))->type(), kAck);
}

TEST_F(DhcpSharedServer, AReleaseByHandIsTold) {
  const auto a = serve(kFirst), b = serve(kSecond);
  const auto address = LoopbackClient(a->port()).lease(test_mac(1));
  ASSERT_TRUE(address);
  wait_until(*b, [&](const Server& s) { return knows(s, *address, LeaseState::bound); });
  std::promise<bool> released;
  b->run([&](Server& s) { s.release(*address, [&](const auto& result) { released.set_value(result.has_value()); }); });
  EXPECT_TRUE(released.get_future().get());
  wait_until(*a, [&](const Server& s) { return knows(s, *address, LeaseState::released); });
}

TEST_F(DhcpSharedServer, WhatCanNotBeReadIsNotReleasedByHand) {
  const Ipv4 address(127, 1, 0, 9);
  put("/test/" + address.to_string(), R"({"version":2})");
  const auto a = serve(kFirst);
  std::promise<std::string> told;
  a->run([&](Server& s) {
    s.release(address, [&](const auto& result) {
      told.set_value(result.has_value() ? std::string("released") : std::string(result.error().items().at(0).code));
    });
  });
  EXPECT_EQ(told.get_future().get(), "lease-not-stored");
  EXPECT_TRUE(a->run([&](Server& s) { return knows(s, address, LeaseState::declined); })) << "it rests, as elsewhere";
}

TEST_F(DhcpSharedServer, WhatOthersWouldNotKnowIsRefused) {
  const auto a = serve(kFirst);
  const auto codes = a->run([](Server& s) {
    std::vector<std::string> out;
    s.import_leases({}, [&](const auto& result) { out.push_back(result.error().items().at(0).code); });
    KeptAddress kept;
    kept.address = Ipv4(127, 1, 0, 9);
    kept.mac = test_mac(1);
    s.reserve(kept, [&](const auto& result) { out.push_back(result.error().items().at(0).code); });
    return out;
  });
  EXPECT_THAT(codes, testing::ElementsAre("lease-shared", "lease-shared"));
}

TEST_F(DhcpSharedServer, TheStoreStaysWhatItIsWhileTheServerRuns) {
  const auto a = serve(kFirst);
  Config next = config(kFirst);
  next.subnets[0].shared_store->prefix = "/other";
  const std::string why = a->run([&](Server& s) {
    try {
      s.replace(next);
    } catch (const boost::system::system_error& error) {
      return std::string(error.what());
    }
    return std::string("replaced");
  });
  EXPECT_THAT(why, HasSubstr("the shared store of test/loopback can't change while running"));
}

TEST_F(DhcpSharedServer, AStoreWithoutEndpointsIsRefused) {
  boost::asio::io_context io;
  ServerOptions options;
  options.database = database(kFirst);
  options.port_map = {{67, 0}};
  for (const auto& store : {SharedStore{{}, "/a"}, SharedStore{{"etcd:2379"}, "/a"}, SharedStore{{etcd_.url()}, "a"}}) {
    Config wrong = config(kFirst);
    wrong.subnets[0].shared_store = store;
    Server server(io.get_executor(), options);
    EXPECT_THROW(server.start(wrong), boost::system::system_error);
  }
}

/// The store has it, and then the disk, or the process, takes so long that the client's count would end too late.
TEST_F(DhcpSharedServer, AnAckThatIsLateIsNone) {
  test::VolatileDisk disk;
  ManualClock clock;
  boost::asio::io_context io{1};
  ServerOptions options;
  options.database = database(kFirst);
  options.port_map = {{67, 0}};
  options.clock = &clock;
  Server server(io.get_executor(), options);
  server.start(config(kFirst));
  while (!server.is_healthy()) io.run_one();
  const LoopbackClient client(server.bound().at(0).bound.port);
  const auto request = test::select(test_mac(1), kFirst, Ipv4(127, 1, 0, 9));
  const auto owned = [&] { return server.stats().shared.at("test/loopback").claims["owned"]; };
  const auto ended = [&] { return server.stats().dropped["late"] + server.stats().sent["ACK"]; };
  const auto ask = [&](std::chrono::nanoseconds delay, int error = 0) {
    test::Gate gate;
    disk.before_sync([&] { gate.wait(); });
    const std::uint64_t owned_before = owned(), ended_before = ended();
    client.send(request);
    while (owned() == owned_before) io.run_one();
    gate.wait_reached();
    clock.advance(delay);
    disk.before_sync({});
    disk.fail_writes(error);
    gate.open();
    while (ended() == ended_before) io.run_one();
    disk.fail_writes(0);
  };
  ask(2s + 1ms);
  EXPECT_EQ(server.stats().dropped["late"], 1U);
  EXPECT_FALSE(client.receive(0ms));
  ask(2s);
  const auto again = client.receive();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->type(), kAck) << "to the client that asks again";
  ask(2s + 1ms, SQLITE_FULL);
  EXPECT_EQ(server.stats().dropped["late"], 2U) << "nor is one of the time that is left on disk";
}

}  // namespace
}  // namespace hcpnet::dhcp
