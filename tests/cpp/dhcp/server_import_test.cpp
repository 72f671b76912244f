// SPDX-License-Identifier: Apache-2.0
// Leases that are imported or ended while a server runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <hcpnet/dhcp/server.hpp>
#include <hcpnet/dhcp/stopped_server.hpp>

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
using Imported = Result<LeaseImport, Diagnostics>;
using Ended = Result<EndedLease, Diagnostics>;

ListedLease listed(Ipv4 address, unsigned mac) {
  Lease lease;
  lease.address = address;
  lease.mac = test_mac(mac);
  lease.started = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  lease.expires = lease.started + 24h;
  return {lease, mac};
}

LeaseList list_of(std::vector<ListedLease> leases) {
  LeaseList out;
  out.file = "f";
  out.leases = std::move(leases);
  return out;
}

/// Called and not waited for.
std::shared_future<Imported> start_import(ServerThread& server, const LeaseList& list) {
  auto outcome = std::make_shared<std::promise<Imported>>();
  server.run(
      [&](Server& s) { s.import_leases(list, [outcome](Imported result) { outcome->set_value(std::move(result)); }); });
  return outcome->get_future().share();
}
Imported take_over(ServerThread& server, const LeaseList& list) {
  return start_import(server, list).get();
}
Ended release(ServerThread& server, const IpAddress& address) {
  std::promise<Ended> outcome;
  server.run([&](Server& s) { s.release(address, [&](Ended result) { outcome.set_value(std::move(result)); }); });
  return outcome.get_future().get();
}

class DhcpServerImport : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("leases.db");
};

TEST_F(DhcpServerImport, ImportedLeasesAreServedAndSurviveARestart) {
  std::vector<std::string> events;  // written on the server's thread, read after stop()
  ServerOptions options;
  options.on_event = [&](const LeaseEvent& e) {
    events.push_back(std::string(to_string(e.kind)) + ' ' + e.lease.address.to_string());
  };
  {
    ServerThread server(path_, test::loopback_config(), options);
    const auto outcome = take_over(server, list_of({listed(Ipv4(127, 1, 0, 1), 7), listed(Ipv4(127, 1, 0, 3), 8)}));
    ASSERT_TRUE(outcome) << outcome.error().to_string();
    EXPECT_EQ(outcome->imported, 2U);
    const LoopbackClient client(server.port());
    EXPECT_EQ(client.lease(test_mac(1)), Ipv4(127, 1, 0, 2));
    EXPECT_EQ(client.lease(test_mac(8)), Ipv4(127, 1, 0, 3));
    server.stop();
  }
  EXPECT_EQ(events,
            (std::vector<std::string>{"bound 127.1.0.3", "bound 127.1.0.1", "bound 127.1.0.2", "renewed 127.1.0.3"}));
  ServerThread server(path_);
  const LoopbackClient client(server.port());
  EXPECT_EQ(client.lease(test_mac(2)), Ipv4(127, 1, 0, 4));
  EXPECT_EQ(client.lease(test_mac(7)), Ipv4(127, 1, 0, 1));
}

TEST_F(DhcpServerImport, OneBadLeaseKeepsAllOut) {
  ServerThread server(path_);
  const auto outcome =
      take_over(server, list_of({listed(Ipv4(127, 1, 0, 1), 7), listed(kServer, 8), listed(Ipv4(192, 0, 2, 1), 9)}));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().error_count(), 2U);
  EXPECT_THAT(outcome.error().to_string(), HasSubstr("f:8: error: "));
  EXPECT_THAT(outcome.error().to_string(), HasSubstr("expected 127.0.0.0/8"));
  EXPECT_TRUE(server.run([](Server& s) { return s.leases(); }).empty());
  LeaseList six;
  six.leases6.push_back({{}, 3});
  six.leases6[0].lease.address = *parse_ipv6("2001:db8::1");
  EXPECT_THAT(take_over(server, six).error().to_string(), HasSubstr("lease-foreign-network"));
}

// The order that durability rests on: no success before the sync, and no client is given an address meanwhile.
TEST_F(DhcpServerImport, SuccessIsToldOnlyAfterTheSync) {
  test::VolatileDisk disk;
  ServerThread server(path_);
  const LoopbackClient client(server.port());
  test::Gate gate;
  disk.before_sync([&] { gate.wait(); });
  const auto outcome = start_import(server, list_of({listed(Ipv4(127, 1, 0, 1), 7)}));
  gate.wait_reached();
  client.send(test::discover(test_mac(1)));
  while (server.run([](Server& s) { return s.stats().dropped.count("importing"); }) == 0) {
  }
  EXPECT_EQ(outcome.wait_for(0s), std::future_status::timeout);
  EXPECT_TRUE(server.run([](Server& s) { return s.leases(); }).empty());
  EXPECT_THAT(take_over(server, list_of({})).error().to_string(), HasSubstr("lease-import-under-way"));
  EXPECT_THAT(release(server, kServer).error().to_string(), HasSubstr("lease-import-under-way"));
  gate.open();
  ASSERT_TRUE(outcome.get());
  EXPECT_EQ(client.lease(test_mac(1)), Ipv4(127, 1, 0, 2));
  disk.before_sync({});
}

TEST_F(DhcpServerImport, WhatTheDiskRefusesIsNotImported) {
  test::VolatileDisk disk;
  ServerThread server(path_);
  const LoopbackClient client(server.port());
  disk.fail_writes(SQLITE_FULL);
  const auto outcome = take_over(server, list_of({listed(Ipv4(127, 1, 0, 1), 7)}));
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().to_string(), HasSubstr("lease-not-stored"));
  EXPECT_FALSE(server.run([](Server& s) { return s.is_healthy(); }));
  EXPECT_TRUE(server.run([](Server& s) { return s.leases(); }).empty());
  disk.fail_writes(0);
  EXPECT_EQ(client.lease(test_mac(1)), Ipv4(127, 1, 0, 1));
}

TEST_F(DhcpServerImport, AnEndedLeaseIsFreeAlsoAfterARestart) {
  {
    ServerThread server(path_);
    const LoopbackClient client(server.port());
    ASSERT_EQ(client.lease(test_mac(1)), Ipv4(127, 1, 0, 1));
    const auto ended = release(server, Ipv4(127, 1, 0, 1));
    ASSERT_TRUE(ended) << ended.error().to_string();
    EXPECT_EQ(ended->lease.value().state, LeaseState::released);
    EXPECT_EQ(ended->lease.value().mac, test_mac(1));
    EXPECT_THAT(release(server, Ipv4(127, 1, 0, 1)).error().to_string(), HasSubstr("lease-not-found"));
    EXPECT_THAT(release(server, *parse_ipv6("2001:db8::1")).error().to_string(), HasSubstr("lease-not-found"));
    server.stop();
  }
  const StoppedServer stopped(path_);
  ASSERT_EQ(stopped.leases().size(), 1U);
  EXPECT_EQ(stopped.leases()[0].state, LeaseState::released);
}

using Kept = Result<KeptAddress, Diagnostics>;

KeptAddress kept(const IpAddress& address, unsigned mac) {
  KeptAddress out;
  out.address = address;
  out.mac = test_mac(mac);
  return out;
}
Kept reserve(ServerThread& server, const KeptAddress& wanted) {
  std::promise<Kept> outcome;
  server.run([&](Server& s) { s.reserve(wanted, [&](Kept result) { outcome.set_value(std::move(result)); }); });
  return outcome.get_future().get();
}
Kept unreserve(ServerThread& server, const IpAddress& address) {
  std::promise<Kept> outcome;
  server.run([&](Server& s) { s.unreserve(address, [&](Kept result) { outcome.set_value(std::move(result)); }); });
  return outcome.get_future().get();
}

TEST_F(DhcpServerImport, AnAddressIsKeptForOneClientAlsoAfterARestart) {
  {
    ServerThread server(path_);
    const LoopbackClient client(server.port());
    const auto reserved = reserve(server, kept(Ipv4(127, 1, 0, 1), 7));
    ASSERT_TRUE(reserved) << reserved.error().to_string();
    EXPECT_EQ(reserved->subnet, "test/loopback");
    EXPECT_TRUE(reserved->is_by_hand);
    EXPECT_EQ(client.lease(test_mac(1)), Ipv4(127, 1, 0, 2));
    server.run([](Server& s) { s.replace(test::loopback_config()); });
    EXPECT_EQ(client.lease(test_mac(2)), Ipv4(127, 1, 0, 3)) << "a reload forgets no reservation";
    server.stop();
  }
  ServerThread server(path_);
  const LoopbackClient client(server.port());
  EXPECT_EQ(client.lease(test_mac(3)), Ipv4(127, 1, 0, 4));
  EXPECT_EQ(client.lease(test_mac(7)), Ipv4(127, 1, 0, 1));
  ASSERT_TRUE(unreserve(server, Ipv4(127, 1, 0, 1)));
  EXPECT_TRUE(server.run([](Server& s) { return s.reservations(); }).empty());
  ASSERT_TRUE(release(server, Ipv4(127, 1, 0, 1)));
  EXPECT_EQ(client.ask(test::select(test_mac(8), kServer, Ipv4(127, 1, 0, 1)))->type(), 5) << "anybody's again";
}

TEST_F(DhcpServerImport, TheFilesWinOverReservationsByHand) {
  Config config = test::loopback_config();
  {
    ServerThread server(path_);
    ASSERT_TRUE(reserve(server, kept(Ipv4(127, 1, 0, 9), 7)));
    config.subnets[0].reservations = {{test_mac(8), Ipv4(127, 1, 0, 9), "web"}};
    server.run([&](Server& s) { s.replace(config); });
    const LoopbackClient client(server.port());
    EXPECT_EQ(client.lease(test_mac(7)), Ipv4(127, 1, 0, 1));
    EXPECT_EQ(client.lease(test_mac(8)), Ipv4(127, 1, 0, 9));
    EXPECT_EQ(server.run([](Server& s) { return s.reservations(); }).size(), 2U);
    const auto refused = reserve(server, kept(Ipv4(127, 1, 0, 10), 8));
    EXPECT_THAT(refused.error().to_string(),
                HasSubstr("127.1.0.9 is reserved for " + test_mac(8).to_string() + " by the files"));
    ASSERT_TRUE(unreserve(server, Ipv4(127, 1, 0, 9)));
    EXPECT_THAT(unreserve(server, Ipv4(127, 1, 0, 9)).error().to_string(), HasSubstr("reserved by the files"));
    server.stop();
  }
}

TEST_F(DhcpServerImport, AReservationThatIsNotOnDiskIsNone) {
  test::VolatileDisk disk;
  ServerThread server(path_);
  disk.fail_writes(SQLITE_FULL);
  EXPECT_THAT(reserve(server, kept(Ipv4(127, 1, 0, 1), 7)).error().to_string(), HasSubstr("lease-not-stored"));
  EXPECT_TRUE(server.run([](Server& s) { return s.reservations(); }).empty());
  disk.fail_writes(0);
  const LoopbackClient client(server.port());
  EXPECT_EQ(client.lease(test_mac(1)), Ipv4(127, 1, 0, 1));
}

TEST_F(DhcpServerImport, AServerThatStopsRefuses) {
  ServerThread server(path_);
  server.stop();
  EXPECT_THAT(take_over(server, list_of({listed(Ipv4(127, 1, 0, 1), 7)})).error().to_string(),
              HasSubstr("not-running"));
  EXPECT_THAT(release(server, Ipv4(127, 1, 0, 1)).error().to_string(), HasSubstr("not-running"));
}

// Its owner may be gone too by then.
TEST_F(DhcpServerImport, AServerThatIsGoneTellsNobody) {
  boost::asio::io_context io;
  std::size_t events = 0;
  bool is_stopped = false;
  {
    ServerOptions options;
    options.database = path_;
    options.port_map = {{67, 0}};
    options.on_event = [&](const LeaseEvent&) { ++events; };
    Server server(io.get_executor(), std::move(options));
    server.start(test::loopback_config());
    server.import_leases(list_of({listed(Ipv4(127, 1, 0, 1), 7)}), [](const Imported&) {});
    server.stop([&] { is_stopped = true; });
  }
  io.run();
  EXPECT_TRUE(is_stopped);
  EXPECT_EQ(events, 0U);
  EXPECT_EQ(StoppedServer(path_).leases().size(), 1U);
}

TEST_F(DhcpServerImport, ManyLeasesAreOneTransaction) {
  LeaseList list;
  for (std::uint32_t n = 0; n < 20'000; ++n)
    list.leases.push_back(listed(Ipv4(Ipv4(127, 1, 0, 1).value() + n), 100'000 + n));
  {
    ServerThread server(path_);
    EXPECT_EQ(take_over(server, list).value().imported, 20'000U);
    EXPECT_EQ(server.run([](Server& s) { return s.stats().commits; }), 1U);
    server.stop();
  }
  EXPECT_EQ(StoppedServer(path_).leases().size(), 20'000U);
}

}  // namespace
}  // namespace hcpnet::dhcp
