// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <boost/system/system_error.hpp>
#include <hcpnet/dhcp/server.hpp>

#include "dhcp/gate.hpp"
#include "dhcp/loopback_client.hpp"
#include "dhcp/server_fixture.hpp"
#include "dhcp/temporary_folder.hpp"
#include "dhcp/volatile_disk.hpp"

namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
using test::LoopbackClient;
using test::ServerThread;
using test::test_mac;
using testing::HasSubstr;

const Ipv4 kServer(127, 0, 0, 1);

class DhcpServer : public testing::Test {
 protected:
  /// Why a server with this configuration does not start.
  std::string refusal(const Config& config, std::map<std::uint16_t, std::uint16_t> ports = {{67, 0}}) {
    boost::asio::io_context io;
    ServerOptions options;
    options.database = path_;
    options.port_map = std::move(ports);
    Server server(io.get_executor(), options);
    try {
      server.start(config);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "started";
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("leases.db");
};

TEST_F(DhcpServer, GivesALeaseAndCountsWhatItDid) {
  std::vector<LeaseEventKind> events;  // written on the server's thread, read after stop()
  ServerOptions options;
  options.on_event = [&](const LeaseEvent& event) { events.push_back(event.kind); };
  ServerThread server(path_, test::loopback_config(), options);
  const LoopbackClient client(server.port());
  const auto address = client.lease(test_mac(1));
  EXPECT_EQ(address, Ipv4(127, 1, 0, 1));
  EXPECT_EQ(client.ask(test::renew(test_mac(1), *address))->type(), 5);
  client.send(test::dhcp_packet(2, test_mac(1)));
  EXPECT_EQ(client.ask(test::discover(test_mac(1)))->type(), 2);

  const auto leases = server.run([](Server& s) { return s.leases(); });
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].subnet, "test/loopback");
  EXPECT_EQ(leases[0].mac, test_mac(1));
  const ServerStats stats = server.run([](Server& s) { return s.stats(); });
  EXPECT_EQ(stats.received, (std::map<std::string, std::uint64_t>{{"DISCOVER", 2}, {"REQUEST", 2}, {"OFFER", 1}}));
  EXPECT_EQ(stats.sent, (std::map<std::string, std::uint64_t>{{"OFFER", 2}, {"ACK", 2}}));
  EXPECT_EQ(stats.dropped, (std::map<std::string, std::uint64_t>{{"from_server", 1}}));
  EXPECT_EQ(stats.events, (std::map<std::string, std::uint64_t>{{"bound", 1}, {"renewed", 1}}));
  EXPECT_EQ(stats.commits, 2U);
  EXPECT_EQ(stats.subnets.at("test/loopback").bound, 1U);
  server.stop();
  EXPECT_EQ(events, (std::vector{LeaseEventKind::bound, LeaseEventKind::renewed}));
}

TEST_F(DhcpServer, LogsWhatHappensToLeases) {
  std::vector<std::string> lines;  // written on the server's thread, read after stop()
  ServerOptions options;
  options.log = Logger(
      [&](const LogRecord& record) {
        if (!record.message.starts_with("lease ") && !record.message.starts_with("address ")) return;
        lines.push_back(std::string(to_string(record.level)) + ' ' + record.message);
        for (const auto& field : record.fields)
          if (field.first != "subnet") lines.back() += ' ' + field.second;
      },
      "dhcp");
  ServerThread server(path_, test::loopback_config(), options);
  const LoopbackClient client(server.port());
  const auto address = client.lease(test_mac(1));
  EXPECT_EQ(client.ask(test::renew(test_mac(1), *address))->type(), 5);
  test::DhcpPacket release = test::dhcp_packet(7, test_mac(1)).with_address(54, kServer);
  release.ciaddr = *address;
  client.send(release);
  EXPECT_EQ(client.lease(test_mac(2)), Ipv4(127, 1, 0, 2));
  client.send(test::dhcp_packet(4, test_mac(2)).with_address(54, kServer).with_address(50, Ipv4(127, 1, 0, 2)));
  EXPECT_EQ(client.ask(test::discover(test_mac(2)))->type(), 2);
  server.stop();
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "info lease bound 127.1.0.1 02:00:00:00:00:01",
                       "debug lease renewed 127.1.0.1 02:00:00:00:00:01",
                       "info lease released 127.1.0.1 02:00:00:00:00:01",
                       "info lease bound 127.1.0.2 02:00:00:00:00:02",
                       "warning address declined: somebody else uses it 127.1.0.2 02:00:00:00:00:02",
                   }));
}

TEST_F(DhcpServer, KnowsItsLeasesAfterARestart) {
  {
    ServerThread server(path_);
    const LoopbackClient client(server.port());
    EXPECT_EQ(client.lease(test_mac(1)), Ipv4(127, 1, 0, 1));
    EXPECT_EQ(client.lease(test_mac(2)), Ipv4(127, 1, 0, 2));
    server.stop();
  }
  ServerThread server(path_);
  const LoopbackClient client(server.port());
  EXPECT_EQ(client.lease(test_mac(3)), Ipv4(127, 1, 0, 3));
  EXPECT_EQ(client.lease(test_mac(2)), Ipv4(127, 1, 0, 2));
}

TEST_F(DhcpServer, ReplacedConfigurationCountsFromTheNextMessageOn) {
  ServerThread server(path_);
  const LoopbackClient client(server.port());
  client.lease(test_mac(1));
  Config config = test::loopback_config();
  config.subnets[0].pools = {{{Ipv4(127, 2, 0, 1), Ipv4(127, 2, 0, 9)}}};
  server.run([&](Server& s) { s.replace(config); });
  EXPECT_EQ(client.lease(test_mac(2)), Ipv4(127, 2, 0, 1));
  config.subnets[0].cidr = Ipv4Cidr(Ipv4(127, 0, 0, 0), 9);
  EXPECT_THROW(server.run([&](Server& s) { s.replace(config); }), boost::system::system_error);
  EXPECT_EQ(client.lease(test_mac(3)), Ipv4(127, 2, 0, 2)) << "a refused configuration changes nothing";
}

// The order that durability rests on: no ACK before the sync. The disk is held inside the sync; that the server is
// alive and done with the request shows in the offer that another client gets meanwhile.
TEST_F(DhcpServer, AckLeavesOnlyAfterTheSync) {
  test::VolatileDisk disk;
  ServerThread server(path_);
  const LoopbackClient client(server.port()), other(server.port());
  const auto offer = client.ask(test::discover(test_mac(1)));
  ASSERT_TRUE(offer);
  test::Gate gate;
  disk.before_sync([&] { gate.wait(); });
  client.send(test::select(test_mac(1), kServer, offer->yiaddr));
  gate.wait_reached();
  EXPECT_EQ(other.ask(test::discover(test_mac(2)))->type(), 2);
  EXPECT_EQ(server.run([](Server& s) { return s.leases().size(); }), 0U);
  EXPECT_FALSE(client.receive(0ms)) << "acknowledged before it was on disk";
  gate.open();
  const auto ack = client.receive();
  disk.before_sync({});  // closing the server syncs as well, and then the gate is gone
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->type(), 5);
  EXPECT_EQ(server.run([](Server& s) { return s.leases().size(); }), 1U);
}

TEST_F(DhcpServer, WhileTheDiskFailsOnlyWhatIsStoredIsAcknowledged) {
  test::VolatileDisk disk;
  ServerThread server(path_);
  const LoopbackClient client(server.port());
  const auto address = client.lease(test_mac(1));
  ASSERT_TRUE(address);
  disk.fail_writes(SQLITE_FULL);
  const auto offer = client.ask(test::discover(test_mac(2)));
  ASSERT_TRUE(offer);
  client.send(test::select(test_mac(2), kServer, offer->yiaddr));
  while (server.run([](Server& s) { return s.stats().dropped["not_stored"]; }) < 1) {
  }
  EXPECT_FALSE(client.receive(0ms)) << "no new lease";
  // With a name, because within one second a renewal changes nothing, and what is on disk already can be acknowledged.
  const auto ack = client.ask(test::renew(test_mac(1), *address).with(12, {'x'}));
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->type(), 5);
  EXPECT_NE(ack->find(51), (test::Bytes{0, 0, 0x0E, 0x10})) << "less than the hour";
  EXPECT_FALSE(server.run([](Server& s) { return s.is_healthy(); }));
  EXPECT_GE(server.run([](Server& s) { return s.stats().commit_failures; }), 1U);
  disk.fail_writes(0);
  EXPECT_EQ(client.ask(test::select(test_mac(2), kServer, offer->yiaddr))->type(), 5)
      << "held for the client meanwhile";
  EXPECT_TRUE(server.run([](Server& s) { return s.is_healthy(); }));
}

TEST_F(DhcpServer, StopAnswersWhatWaitsForTheDisk) {
  test::VolatileDisk disk;
  ServerThread server(path_);
  const LoopbackClient client(server.port());
  const auto offer = client.ask(test::discover(test_mac(1)));
  test::Gate gate;
  disk.before_sync([&] { gate.wait(); });
  client.send(test::select(test_mac(1), kServer, offer->yiaddr));
  gate.wait_reached();
  std::promise<void> stopped;
  server.run([&](Server& s) { s.stop([&] { stopped.set_value(); }); });
  gate.open();
  stopped.get_future().wait();
  disk.before_sync({});
  EXPECT_EQ(client.receive()->type(), 5);
}

TEST_F(DhcpServer, ExpiredLeaseIsAnEventAtItsTime) {
  ManualClock clock;
  boost::asio::io_context io{1};
  std::vector<LeaseEvent> events;
  ServerOptions options;
  options.database = path_;
  options.port_map = {{67, 0}};
  options.clock = &clock;
  options.on_event = [&](const LeaseEvent& event) { events.push_back(event); };
  Server server(io.get_executor(), options);
  server.start(test::loopback_config());
  const LoopbackClient client(server.bound().at(0).bound.port);
  client.send(test::select(test_mac(1), kServer, Ipv4(127, 1, 0, 9)));
  while (events.empty()) io.run_one();
  clock.advance(1h);
  io.poll();
  EXPECT_EQ(events.size(), 1U) << "its last second is the client's";
  clock.advance(1s);
  while (events.size() < 2) io.run_one();
  EXPECT_EQ(events[1].kind, LeaseEventKind::expired);
  EXPECT_EQ(events[1].lease.address, Ipv4(127, 1, 0, 9));
  EXPECT_EQ(server.leases().at(0).state, LeaseState::expired);
}

/// A lease ends in whole seconds, and this one began late in one.
TEST_F(DhcpServer, GivesNoAddressAwayInTheLastSecondOfItsLease) {
  ManualClock clock(Clock::SystemTime(std::chrono::milliseconds(1'700'000'000'900)));
  boost::asio::io_context io{1};
  ServerOptions options;
  options.database = path_;
  options.port_map = {{67, 0}};
  options.clock = &clock;
  Server server(io.get_executor(), options);
  server.start(test::loopback_config());
  const LoopbackClient client(server.bound().at(0).bound.port);
  const auto ask = [&](std::uint32_t n) {
    const auto answers = [&] { return server.stats().sent["ACK"] + server.stats().sent["NAK"]; };
    const std::uint64_t before = answers();
    client.send(test::select(test_mac(n), kServer, Ipv4(127, 1, 0, 9)));
    while (answers() == before) io.run_one();
    return client.receive()->type();
  };
  ASSERT_EQ(ask(1), 5);
  clock.advance(1h - 100ms);
  EXPECT_EQ(ask(2), 6) << "its client may use it for another 100 ms";
  clock.advance(1s + 100ms);
  EXPECT_EQ(ask(2), 5);
}

// Case DHC-41; that it serves when the interface comes: tests/integration/dhcp_clients_test.sh.
TEST_F(DhcpServer, StartsBeforeItsInterfaceIsThereAndSaysSo) {
  Config config = test::loopback_config();
  config.subnets[0].cidr = Ipv4Cidr(Ipv4(203, 0, 113, 0), 24);
  config.subnets[0].server_id = Ipv4(203, 0, 113, 77);
  config.subnets[0].pools = {{{Ipv4(203, 0, 113, 100), Ipv4(203, 0, 113, 149)}}};
  std::vector<std::string> errors;  // written before the server's thread begins
  ServerOptions options;
  options.log = Logger(
      [&](const LogRecord& record) {
        if (record.level != LogLevel::error) return;
        errors.push_back(record.message);
        for (const auto& [name, value] : record.fields) errors.back() += ' ' + name + '=' + value;
      },
      "dhcp");
  ServerThread server(path_, config, options);
  EXPECT_EQ(errors, std::vector<std::string>{"interface is not there yet subnet=test/loopback address=203.0.113.77"});
  EXPECT_EQ(server.run([](Server& s) { return s.troubles(); }),
            std::vector<std::string>{"the interface of test/loopback is lost"});
}

TEST_F(DhcpServer, StartNamesThePortThatIsTaken) {
  ServerThread first(folder_.file("first.db"));
  EXPECT_THAT(refusal(test::loopback_config(), {{67, first.port()}}),
              testing::AllOf(HasSubstr("cannot listen on 127.0.0.1:" + std::to_string(first.port())), HasSubstr("lo"),
                             HasSubstr("in use")));
}

TEST_F(DhcpServer, StartRefusesADatabaseInUse) {
  ServerThread first(path_);
  EXPECT_THAT(refusal(test::loopback_config()), HasSubstr("in use by another process"));
}

TEST_F(DhcpServer, StartRefusesSubnetsThatCantBeToldApart) {
  Config config = test::loopback_config();
  config.subnets.push_back(config.subnets[0]);
  EXPECT_THAT(refusal(config), HasSubstr("two subnets have the server address 127.0.0.1"));
  config.subnets[1].server_id = Ipv4(127, 0, 0, 2);
  EXPECT_THAT(refusal(config), HasSubstr("two subnets have the network 127.0.0.0/8"));
  config.subnets.pop_back();
  config.subnets[0].lease_time = 0s;
  EXPECT_THAT(refusal(config), HasSubstr("lease time"));
}

TEST_F(DhcpServer, SeveralSubnetsAreServedBesideEachOther) {
  Config config = test::loopback_config();
  config.subnets[0].cidr = Ipv4Cidr(Ipv4(127, 0, 0, 0), 9);
  Subnet second = config.subnets[0];
  second.name = "test/second";
  second.server_id = Ipv4(127, 200, 0, 1);
  second.cidr = Ipv4Cidr(Ipv4(127, 128, 0, 0), 9);
  second.pools = {{{Ipv4(127, 200, 1, 1), Ipv4(127, 200, 1, 9)}}};
  config.subnets.push_back(second);
  ServerThread server(path_, config);
  const auto bound = server.run([](Server& s) { return s.bound(); });
  ASSERT_EQ(bound.size(), 2U);
  EXPECT_EQ(bound[1].bound.address, IpAddress(Ipv4(127, 200, 0, 1)));
  EXPECT_EQ(bound[1].interface, "lo");
  const LoopbackClient client(server.port());
  EXPECT_EQ(client.lease(test_mac(1)), Ipv4(127, 1, 0, 1));
}

/// Two addresses in one subnet, many in another, on one link.
Config shared_network() {
  Config config = test::loopback_config();
  config.subnets[0].cidr = Ipv4Cidr(Ipv4(127, 0, 0, 0), 9);
  config.subnets[0].pools = {{{Ipv4(127, 1, 0, 1), Ipv4(127, 1, 0, 2)}}};
  config.subnets[0].shared_network = config.subnets[0].name;
  Subnet second = config.subnets[0];
  second.name = "test/loopback/127.128.0.0/9";
  second.cidr = Ipv4Cidr(Ipv4(127, 128, 0, 0), 9);
  second.pools = {{{Ipv4(127, 200, 1, 1), Ipv4(127, 200, 1, 9)}}};
  config.subnets.push_back(second);
  return config;
}

TEST_F(DhcpServer, SharedNetworkIsOneSocketAndKeepsTheLeasesOfBothSubnets) {
  {
    ServerThread server(path_, shared_network());
    const auto bound = server.run([](Server& s) { return s.bound(); });
    ASSERT_EQ(bound.size(), 2U);
    EXPECT_EQ(bound[0].bound, bound[1].bound);
    const LoopbackClient client(server.port());
    EXPECT_EQ(client.lease(test_mac(1)), Ipv4(127, 1, 0, 1));
    EXPECT_EQ(client.lease(test_mac(2)), Ipv4(127, 1, 0, 2));
    EXPECT_EQ(client.lease(test_mac(3)), Ipv4(127, 200, 1, 1));
    const ServerStats stats = server.run([](Server& s) { return s.stats(); });
    EXPECT_EQ(stats.subnets.at("test/loopback").pools.at(0).bound, 2U);
    const ServerStats::PerSubnet& second = stats.subnets.at("test/loopback/127.128.0.0/9");
    EXPECT_EQ(second.bound, 1U);
    EXPECT_EQ(second.pools.at(0).size, 9U);
    EXPECT_EQ(second.pools.at(0).range.to_string(), "127.200.1.1-127.200.1.9");
    server.stop();
  }
  ServerThread server(path_, shared_network());
  const LoopbackClient client(server.port());
  EXPECT_EQ(client.lease(test_mac(3)), Ipv4(127, 200, 1, 1)) << "as before the restart";
  EXPECT_EQ(client.lease(test_mac(4)), Ipv4(127, 200, 1, 2));
  const auto leases = server.run([](Server& s) { return s.leases(); });
  ASSERT_EQ(leases.size(), 4U);
  EXPECT_EQ(leases.back().subnet, "test/loopback/127.128.0.0/9");
}

TEST_F(DhcpServer, ReservationByHandIsOneForEachClientOfALink) {
  Config config = shared_network();
  config.subnets[0].reservations = {{test_mac(1), Ipv4(127, 1, 0, 9), ""}};
  ServerThread server(path_, config);
  const auto reserve = [&](unsigned mac, Ipv4 address) {
    std::promise<std::string> code;
    server.run([&](Server& s) {
      s.reserve({address, test_mac(mac), {}, "", "", true}, [&](const Result<KeptAddress, Diagnostics>& result) {
        code.set_value(result ? result->subnet : result.error().begin()->code);
      });
    });
    return code.get_future().get();
  };
  EXPECT_EQ(reserve(1, Ipv4(127, 200, 1, 5)), "lease-reserved");
  EXPECT_EQ(reserve(2, Ipv4(127, 200, 1, 5)), "test/loopback/127.128.0.0/9");
  const LoopbackClient client(server.port());
  EXPECT_EQ(client.lease(test_mac(2)), Ipv4(127, 200, 1, 5));
}

TEST_F(DhcpServer, StartRefusesSharedNetworksThatAreNone) {
  Config config = shared_network();
  config.subnets[1].cidr = Ipv4Cidr(Ipv4(127, 0, 0, 0), 8);
  EXPECT_THAT(refusal(config), HasSubstr("overlap on one link"));
  config = shared_network();
  config.subnets[1].server_id = Ipv4(203, 0, 113, 1);
  EXPECT_THAT(refusal(config), HasSubstr("203.0.113.1"));
  config = shared_network();
  Subnet between = config.subnets[1];
  between.name = between.shared_network = "test/other";
  between.server_id = Ipv4(127, 0, 0, 9);
  between.cidr = Ipv4Cidr(Ipv4(10, 0, 0, 0), 8);
  config.subnets.insert(config.subnets.begin() + 1, between);
  EXPECT_THAT(refusal(config), HasSubstr("don't stand together"));
  config = shared_network();
  config.subnets[0].client_classes.resize(kMaxClientClasses + 1);
  EXPECT_THAT(refusal(config), HasSubstr("more than 64 client classes"));
}

TEST_F(DhcpServer, ReplacedPoolsKeepTheirLeasesAndTheLink) {
  ServerThread server(path_, shared_network());
  const LoopbackClient client(server.port());
  EXPECT_EQ(client.lease(test_mac(1)), Ipv4(127, 1, 0, 1));
  Config next = shared_network();
  next.subnets[0].exclusions = {{Ipv4(127, 1, 0, 1), Ipv4(127, 1, 0, 1)}};
  std::swap(next.subnets[0], next.subnets[1]);
  server.run([&](Server& s) { s.replace(next); });
  EXPECT_EQ(client.lease(test_mac(2)), Ipv4(127, 1, 0, 2));
  EXPECT_EQ(client.lease(test_mac(3)), Ipv4(127, 200, 1, 1)) << "what is excluded goes to nobody";
  EXPECT_EQ(server.run([](Server& s) { return s.leases(); }).size(), 3U);
  Config apart = shared_network();
  apart.subnets[1].shared_network = "";
  apart.subnets[1].server_id = Ipv4(127, 0, 0, 3);
  EXPECT_THROW(server.run([&](Server& s) { s.replace(apart); }), boost::system::system_error);
}

TEST_F(DhcpServer, SubnetsCantLeaveTheirLinkWhileRunning) {
  Config config = shared_network();
  config.subnets[1].server_id = Ipv4(127, 0, 0, 3);
  ServerThread server(path_, config);
  config.subnets[0].shared_network = config.subnets[1].shared_network = "";  // and nothing else
  EXPECT_THROW(server.run([&](Server& s) { s.replace(config); }), boost::system::system_error);
}

// Whoever stands first speaks for the link, by a reload too.
TEST_F(DhcpServer, ReplacedOrderOfSubnetsTellsWhoSpeaksForTheLink) {
  ServerThread server(path_, shared_network());
  const LoopbackClient client(server.port());
  Config next = shared_network();
  std::swap(next.subnets[0], next.subnets[1]);
  next.subnets[0].rate_limit = ClientRateLimit{1, 1};
  server.run([&](Server& s) { s.replace(next); });
  EXPECT_TRUE(client.ask(test::discover(test_mac(1))));
  client.send(test::discover(test_mac(1)));
  client.send(test::discover(test_mac(1)));
  EXPECT_TRUE(client.ask(test::discover(test_mac(2))));
  EXPECT_GE(server.run([](Server& s) { return s.stats().dropped["rate_limited"]; }), 1U);
}

TEST_F(DhcpServer, StartRefusesARateAboveItsBurst) {
  Config config = shared_network();
  config.subnets[0].rate_limit = ClientRateLimit{30, 20};
  EXPECT_THAT(refusal(config), HasSubstr("burst"));
}

TEST_F(DhcpServer, LoopbackIsNotProbed) {
  Config config = test::loopback_config();
  config.subnets[0].probe_timeout = 1h;
  ServerThread server(path_, config);
  const LoopbackClient client(server.port());
  EXPECT_EQ(client.lease(test_mac(1)), Ipv4(127, 1, 0, 1));
  EXPECT_TRUE(server.run([](Server& s) { return s.stats().probes; }).empty());
}

TEST_F(DhcpServer, StartRefusesAProbeWithoutTime) {
  Config config = test::loopback_config();
  config.subnets[0].probe_timeout = 0ms;
  EXPECT_THAT(refusal(config), HasSubstr("the probe of test/loopback"));
}

TEST_F(DhcpServer, MalformedMessagesAreCountedAndNothingElse) {
  ManualClock clock;
  std::size_t lines = 0;  // touched on the server's thread alone
  ServerOptions options;
  options.clock = &clock;
  options.log =
      Logger([&](const LogRecord& record) { lines += record.message == "message dropped" ? 1U : 0U; }, "dhcp");
  ServerThread server(path_, test::loopback_config(), options);
  const LoopbackClient client(server.port());
  test::DhcpPacket broken = test::discover(test_mac(1));
  broken.options[0].second = {};
  for (int n = 0; n < 100; ++n) client.send(broken);
  EXPECT_EQ(client.ask(test::discover(test_mac(1)))->type(), 2);
  EXPECT_EQ(server.run([](Server& s) { return s.stats().dropped["malformed"]; }), 100U);
  EXPECT_EQ(server.run([&](Server&) { return lines; }), 1U) << "each reason is logged once in ten seconds";
  server.run([&](Server&) { clock.advance(10s); });
  client.send(broken);
  EXPECT_EQ(client.ask(test::discover(test_mac(1)))->type(), 2);
  EXPECT_EQ(server.run([&](Server&) { return lines; }), 2U);
}

}  // namespace
}  // namespace hcpnet::dhcp
