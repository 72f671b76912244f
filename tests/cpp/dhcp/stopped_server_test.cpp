// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <hcpnet/dhcp/stopped_server.hpp>

#include "dhcp/loopback_client.hpp"
#include "dhcp/server_fixture.hpp"
#include "dhcp/sqlite.hpp"
#include "dhcp/temporary_folder.hpp"
#include "dhcp/volatile_disk.hpp"

namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
using test::test_mac;
using testing::HasSubstr;

Config config6() {
  Config out = test::loopback_config();
  dhcp6::Subnet six;
  six.name = "test/loopback";
  six.cidr = *parse_cidr("2001:db8::/64");
  six.interface_address = out.subnets[0].server_id;
  six.pool = {*parse_ipv6("2001:db8::10"), *parse_ipv6("2001:db8::20")};
  out.subnets6 = {six};
  return out;
}

LeaseList some_leases() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  LeaseList list;
  list.file = "f";
  Lease lease;
  lease.address = Ipv4(127, 1, 0, 5);
  lease.mac = test_mac(5);
  lease.started = now;
  lease.expires = now + 1h;
  list.leases.push_back({lease, 1});
  dhcp6::Lease lease6;
  lease6.address = *parse_ipv6("2001:db8::15");
  lease6.client.duid = *dhcp6::parse_duid("00:04:aa:bb");
  lease6.started = now;
  lease6.expires = now + 1h;
  list.leases6.push_back({lease6, 2});
  return list;
}

class StoppedServerTest : public testing::Test {
 protected:
  /// Why the folder is not opened.
  std::string refusal() {
    try {
      const StoppedServer stopped(path_);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "opened";
  }
  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("leases.db");
};

TEST_F(StoppedServerTest, LeasesCanBeThereBeforeTheFirstStart) {
  {
    StoppedServer stopped(path_, config6());
    const auto outcome = stopped.import_leases(some_leases());
    ASSERT_TRUE(outcome) << outcome.error().to_string();
    EXPECT_EQ(outcome->imported, 2U);
    EXPECT_EQ(stopped.leases().size(), 1U);
    EXPECT_EQ(stopped.leases6().size(), 1U);
  }
  test::ServerThread server(path_, config6());
  const test::LoopbackClient client(server.port());
  EXPECT_EQ(client.lease(test_mac(5)), Ipv4(127, 1, 0, 5));
  EXPECT_EQ(server.run([](Server& s) { return s.leases6(); }).size(), 1U);
}

TEST_F(StoppedServerTest, TheDatabaseTellsItsNetworks) {
  {
    test::ServerThread server(path_);
    const test::LoopbackClient client(server.port());
    ASSERT_EQ(client.lease(test_mac(1)), Ipv4(127, 1, 0, 1));
    EXPECT_THAT(refusal(), HasSubstr("is in use by another process"));
    server.stop();
  }
  StoppedServer stopped(path_);
  ASSERT_EQ(stopped.leases().size(), 1U);
  EXPECT_EQ(stopped.leases()[0].subnet, "test/loopback");
  EXPECT_TRUE(stopped.problems().empty());
  LeaseList list = some_leases();
  EXPECT_THAT(stopped.import_leases(list).error().to_string(), HasSubstr("f:2: error: "));
  EXPECT_EQ(stopped.leases().size(), 1U) << "all or nothing";
  list.leases6.clear();
  EXPECT_EQ(stopped.import_leases(list).value().imported, 1U);
  EXPECT_EQ(stopped.leases().size(), 2U);
}

TEST_F(StoppedServerTest, AnIpv6RowThatMakesNoSenseKeepsItsAddress) {
  {
    const StoppedServer made(path_, config6());
  }
  sqlite::Connection(path_).run(
      "INSERT INTO lease6 VALUES(x'20010db8000000000000000000000015', x'00', 1, x'', '', 0, 1, 2)");
  {
    StoppedServer stopped(path_, config6());
    EXPECT_EQ(stopped.problems().size(), 1U);
    const auto outcome = stopped.import_leases(some_leases());
    ASSERT_FALSE(outcome) << "somebody may use the address";
    EXPECT_THAT(outcome.error().to_string(), HasSubstr("lease-held"));
  }
  test::ServerThread server(path_, config6());
  const auto rests = server.run([](Server& s) { return s.leases6(); });
  ASSERT_EQ(rests.size(), 1U);
  EXPECT_EQ(rests[0].state, LeaseState::declined);
  const auto exported = parse_lease_file(LeaseFileFormat::hcpnet, "f", render_lease_file({}, rests));
  ASSERT_TRUE(exported) << exported.error().to_string();
  EXPECT_EQ(exported->leases6[0].lease, rests[0]);
}

TEST_F(StoppedServerTest, ALeaseIsEnded) {
  {
    ASSERT_TRUE(StoppedServer(path_, config6()).import_leases(some_leases()));
  }
  {
    StoppedServer stopped(path_);  // whose IPv6 networks nobody names
    EXPECT_EQ(stopped.release(Ipv4(127, 1, 0, 5)).value().lease.value().mac, test_mac(5));
    EXPECT_EQ(stopped.release(*parse_ipv6("2001:db8::15")).value().lease6.value().state, LeaseState::released);
    EXPECT_THAT(stopped.release(Ipv4(127, 1, 0, 5)).error().to_string(), HasSubstr("lease-not-found"));
    EXPECT_THAT(stopped.release(*parse_ipv6("2001:db8::15")).error().to_string(), HasSubstr("lease-not-found"));
  }
  StoppedServer stopped(path_, config6());
  EXPECT_EQ(stopped.leases()[0].state, LeaseState::released);
  EXPECT_EQ(stopped.leases6()[0].state, LeaseState::released);
  LeaseList list = some_leases();
  list.leases[0].lease.mac = test_mac(6);
  list.leases6[0].lease.client.iaid = 9;
  EXPECT_EQ(stopped.import_leases(list).value().imported, 2U) << "others may have the addresses";
  EXPECT_EQ(stopped.release(*parse_ipv6("2001:db8::15")).value().lease6.value().client.iaid, 9U);
  EXPECT_THAT(stopped.import_leases(some_leases()).error().to_string(), HasSubstr("lease-held"));
}

TEST_F(StoppedServerTest, WhatTheDiskRefusesIsNotImported) {
  test::VolatileDisk disk;
  StoppedServer stopped(path_, config6());
  disk.fail_writes(SQLITE_IOERR);
  EXPECT_THAT(stopped.import_leases(some_leases()).error().to_string(), HasSubstr("lease-not-stored"));
  EXPECT_TRUE(stopped.leases().empty());
  disk.fail_writes(0);
  EXPECT_TRUE(stopped.import_leases(some_leases()));
  disk.fail_writes(SQLITE_IOERR);
  EXPECT_THAT(stopped.release(*parse_ipv6("2001:db8::15")).error().to_string(), HasSubstr("lease-not-stored"));
  EXPECT_EQ(stopped.leases6()[0].state, LeaseState::bound);
}

// What import_leases() says is true after the power has failed.
TEST_F(StoppedServerTest, ImportedMeansSynced) {
  test::VolatileDisk disk;
  {
    StoppedServer stopped(path_, config6());
    ASSERT_TRUE(stopped.import_leases(some_leases()));
    disk.crash();
  }
  disk.lose_unsynced();
  const StoppedServer stopped(path_);
  EXPECT_EQ(stopped.leases().size(), 1U);
  EXPECT_EQ(stopped.leases6().size(), 1U);
}

TEST_F(StoppedServerTest, AFolderWithoutADatabaseIsToldSo) {
  EXPECT_THAT(refusal(), HasSubstr("is not there: nothing has been served from this state folder"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

KeptAddress kept6(const char* address, const char* duid) {
  KeptAddress out;
  out.address = *parse_ipv6(address);
  out.duid = dhcp6::parse_duid(duid);
  out.host_name = "vm";
  return out;
}

TEST_F(StoppedServerTest, AnAddressIsKeptForOneClient) {
  {
    StoppedServer stopped(path_, config6());
    ASSERT_TRUE(stopped.reserve(kept6("2001:db8::16", "00:04:cc:dd")));
    const auto problem = [&](KeptAddress wanted) { return stopped.reserve(wanted).error().items().at(0).code; };
    EXPECT_EQ(problem(kept6("2001:db8::16", "00:04:ee:ff")), "lease-reserved");
    EXPECT_EQ(problem(kept6("2001:db8::17", "00:04:cc:dd")), "lease-reserved");
    EXPECT_EQ(problem(kept6("2001:db8::", "00:04:ee:ff")), "lease-own-address");
    EXPECT_EQ(problem(kept6("2001:db8:1::", "00:04:ee:ff")), "lease-foreign-network");
    EXPECT_EQ(problem(kept6("2001:db8::17", "none")), "lease-bad-value");
    KeptAddress both = kept6("2001:db8::17", "00:04:ee:ff");
    both.mac = test_mac(1);
    EXPECT_EQ(problem(both), "lease-bad-value");
    KeptAddress odd_name = kept6("2001:db8::17", "00:04:ee:ff");
    odd_name.host_name = "two.labels";
    EXPECT_EQ(problem(odd_name), "lease-bad-value");
    KeptAddress v4 = both;
    v4.address = Ipv4(127, 1, 0, 5);
    v4.mac.reset();
    EXPECT_EQ(problem(v4), "lease-bad-value") << "DHCPv4 knows no DUID";
  }
  StoppedServer stopped(path_, config6());
  ASSERT_EQ(stopped.reservations().size(), 1U);
  EXPECT_EQ(stopped.reservations()[0].duid, dhcp6::parse_duid("00:04:cc:dd"));
  EXPECT_EQ(stopped.reservations()[0].subnet, "test/loopback");
  EXPECT_EQ(stopped.unreserve(*parse_ipv6("2001:db8::16")).value().host_name, "vm");
  EXPECT_FALSE(stopped.unreserve(*parse_ipv6("2001:db8::16")));
}

TEST_F(StoppedServerTest, AnIpv4AddressIsKeptForAClientIdentifierToo) {
  KeptAddress wanted;
  wanted.address = Ipv4(127, 1, 0, 20);
  wanted.client_id = std::string("\xff\x00\x01", 3);
  {
    StoppedServer stopped(path_, config6());
    ASSERT_TRUE(stopped.reserve(wanted)) << stopped.reserve(wanted).error().to_string();
    KeptAddress other = wanted;
    other.address = Ipv4(127, 1, 0, 21);
    EXPECT_EQ(stopped.reserve(other).error().items().at(0).code, "lease-reserved") << "one address each";
    other.address = *parse_ipv6("2001:db8::17");
    EXPECT_EQ(stopped.reserve(other).error().items().at(0).code, "lease-bad-value") << "DHCPv6 has DUIDs";
  }
  StoppedServer stopped(path_, config6());
  ASSERT_EQ(stopped.reservations().size(), 1U);
  EXPECT_EQ(stopped.reservations()[0].client_id, wanted.client_id);
  EXPECT_FALSE(stopped.reservations()[0].mac);
  EXPECT_EQ(stopped.unreserve(wanted.address).value().client_id, wanted.client_id);
}

TEST_F(StoppedServerTest, ARowThatIsNoReservationIsReported) {
  {
    ASSERT_TRUE(StoppedServer(path_, config6()).reserve(kept6("2001:db8::16", "00:04:cc:dd")));
  }
  sqlite::Connection(path_).run(
      "INSERT INTO reservation(address, mac, duid, host_name) VALUES(x'7f010005', x'', x'', ''), (x'7f010006', "
      "x'02', x'', ''), (x'7f', "
      "x'020000000001', x'', ''), (x'7f010007', x'', x'00040102', ''), (x'20010db8000000000000000000000017', x'', "
      "x'00', '')");
  const StoppedServer stopped(path_, config6());
  EXPECT_EQ(stopped.problems().size(), 5U);
  EXPECT_EQ(stopped.reservations().size(), 1U);
}

// --- oooi's table

class OooiLeases : public StoppedServerTest {
 protected:
  void make(const std::string& sql) {
    std::ofstream(table_).flush();
    sqlite::Connection(table_).run(sql);
  }
  std::string problems() {
    const auto list = read_oooi_leases(table_);
    return list ? "none" : list.error().to_string();
  }
  std::string table_ = folder_.file("leases.txt");
};

TEST_F(OooiLeases, TheTableIsRead) {
  make(
      "CREATE TABLE leases4(mac string not null, ip string not null, expiry int, hostname string not null, "
      "primary key(mac, ip));"
      "INSERT INTO leases4 VALUES('02:00:00:00:00:01', '127.1.0.5', 1700003600, 'Web.x'),"
      "('02-00-00-00-00-02', '127.1.0.6', 99999999999, '')");
  const auto list = read_oooi_leases(table_);
  ASSERT_TRUE(list) << list.error().to_string();
  ASSERT_EQ(list->leases.size(), 2U);
  EXPECT_EQ(list->leases[0].lease.address, Ipv4(127, 1, 0, 5));
  EXPECT_EQ(list->leases[0].lease.mac, *parse_mac_address("02:00:00:00:00:01"));
  EXPECT_EQ(list->leases[0].lease.host_name, "web");
  EXPECT_EQ(list->leases[0].lease.expires.time_since_epoch(), 1'700'003'600s);
  EXPECT_EQ(list->leases[1].lease.expires, kNeverEnds);
  EXPECT_EQ(list->leases[1].line, 2U);
}

TEST_F(OooiLeases, TheTableOfOooiHasNoNames) {
  make(
      "CREATE TABLE leases4(mac TEXT NOT NULL, ip TEXT NOT NULL, expiry INTEGER, PRIMARY KEY(mac, ip));"
      "INSERT INTO leases4 VALUES('02:00:00:00:00:01', '127.1.0.5', 1700003600)");
  EXPECT_EQ(read_oooi_leases(table_).value().leases[0].lease.host_name, "");
}

TEST_F(OooiLeases, EveryErrorIsReportedWithItsRow) {
  make(
      "CREATE TABLE leases4(mac, ip, expiry);"
      "INSERT INTO leases4 VALUES('nobody', '127.1.0.5', 1), ('02:00:00:00:00:01', '::1', 1),"
      "('02:00:00:00:00:01', '127.1.0.5', 'soon'), ('02:00:00:00:00:01', '127.1.0.5', -1),"
      "('02:00:00:00:00:01', '127.1.0.5', 1), ('02:00:00:00:00:02', '127.1.0.5', 1),"
      "(NULL, NULL, NULL), (zeroblob(1000), '127.1.0.5', 1)");
  const auto list = read_oooi_leases(table_);
  ASSERT_FALSE(list);
  std::vector<std::uint32_t> rows;
  for (const Diagnostic& d : list.error()) rows.push_back(d.line);
  EXPECT_EQ(rows, (std::vector<std::uint32_t>{1, 2, 3, 4, 6, 7, 8}));
}

TEST_F(OooiLeases, WhatIsNoSuchTableIsRefused) {
  EXPECT_THAT(problems(), HasSubstr("there is no such file"));
  make("CREATE TABLE leases(mac, ip, expiry)");
  EXPECT_THAT(problems(), HasSubstr("no table leases4"));
  std::filesystem::remove(table_);
  make("CREATE TABLE leases4(mac, ip)");
  EXPECT_THAT(problems(), HasSubstr("no column expiry"));
  std::filesystem::remove(table_);
  make(
      "CREATE VIEW leases4 AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) "
      "SELECT x AS mac, x AS ip, x AS expiry FROM n");
  EXPECT_THAT(problems(), HasSubstr("no table leases4")) << "it would never end";
  std::filesystem::remove(table_);
  make("CREATE TABLE leases4(a, mac AS (a || a), ip, expiry)");
  EXPECT_THAT(problems(), HasSubstr("no column mac"));
  std::ofstream(table_) << std::string(5000, 'x');
  EXPECT_THAT(problems(), HasSubstr("SQLite can't read it"));
  std::filesystem::remove(table_);
  std::filesystem::create_directory(table_);
  EXPECT_THAT(problems(), HasSubstr("a folder"));
}

TEST_F(OooiLeases, TheFileIsOnlyRead) {
  make("CREATE TABLE leases4(mac, ip, expiry); INSERT INTO leases4 VALUES('02:00:00:00:00:01', '127.1.0.5', 1)");
  std::filesystem::permissions(table_, std::filesystem::perms::owner_read);
  const auto before = std::filesystem::last_write_time(table_);
  EXPECT_EQ(read_oooi_leases(table_).value().leases.size(), 1U);
  EXPECT_EQ(std::filesystem::last_write_time(table_), before);
}

}  // namespace
}  // namespace hcpnet::dhcp
