// SPDX-License-Identifier: Apache-2.0
#include "dhcp/lease_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <fstream>
#include <thread>

#include "dhcp/gate.hpp"
#include "dhcp/packets.hpp"
#include "dhcp/temporary_folder.hpp"
#include "dhcp/volatile_disk.hpp"

namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
using test::test_mac;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::chrono::sys_seconds kNow{1'700'000'000s};

Subnet subnet(const char* cidr = "192.0.2.0/24", const char* name = "hcp/vlan7") {
  Subnet out;
  out.name = name;
  out.cidr = parse_ipv4_cidr(cidr).value();
  out.server_id = Ipv4(out.cidr.network().value() + 2);
  return out;
}

LeaseChange change(unsigned last, unsigned mac, LeaseState state = LeaseState::bound) {
  Lease lease;
  lease.address = Ipv4(192, 0, 2, static_cast<std::uint8_t>(last));
  lease.mac = test_mac(mac);
  lease.client_id = std::string("\x01\x00\xFFid", 5);
  lease.host_name = "worker-" + std::to_string(mac);
  lease.relay_information = std::string("\x01\x02\x00p", 4);
  lease.state = state;
  lease.started = kNow;
  lease.expires = kNow + 3600s;
  return {0, {LeaseEventKind::bound, lease}};
}

class LeaseDatabaseTest : public testing::Test {
 protected:
  void write(std::vector<LeaseChange> changes, const std::vector<Subnet>& subnets) {
    LeaseDatabase database(path_, subnets, kNow);
    LeaseDatabase::Transaction transaction(database);
    for (const LeaseChange& one : changes) transaction.put(one);
    transaction.commit();
  }
  StoredLeases load(const std::vector<Subnet>& subnets) {
    LeaseDatabase database(path_, subnets, now_);
    return database.load(subnets, now_);
  }
  /// Why the file is refused.
  std::string refusal(const std::vector<Subnet>& subnets = {subnet()}) {
    try {
      load(subnets);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "accepted";
  }
  void overwrite(std::streamoff at, const std::string& bytes) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file << bytes;
  }
  void run_sql(const std::string& sql) { sqlite::Connection(path_).run(sql); }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("leases.db");
  std::chrono::sys_seconds now_ = kNow;
};

TEST_F(LeaseDatabaseTest, IsMadeForItsOwnerOnly) {
  load({subnet()});
  struct stat info{};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(std::filesystem::path(path_).parent_path()), {}), 1)
      << "nothing but the file stays behind";
}

TEST_F(LeaseDatabaseTest, KeepsEveryField) {
  write({change(50, 1), change(51, 2, LeaseState::declined)}, {subnet()});
  const StoredLeases stored = load({subnet()});
  ASSERT_EQ(stored.by_subnet.size(), 1U);
  ASSERT_EQ(stored.by_subnet[0].size(), 2U);
  EXPECT_EQ(stored.by_subnet[0][0], change(50, 1).event.lease);
  EXPECT_EQ(stored.by_subnet[0][1], change(51, 2, LeaseState::declined).event.lease);
  EXPECT_TRUE(stored.problems.empty());
}

TEST_F(LeaseDatabaseTest, LaterChangeOfAnAddressReplacesTheEarlier) {
  write({change(50, 1), change(50, 2)}, {subnet()});
  const StoredLeases stored = load({subnet()});
  ASSERT_EQ(stored.by_subnet[0].size(), 1U);
  EXPECT_EQ(stored.by_subnet[0][0].mac, test_mac(2));
}

TEST_F(LeaseDatabaseTest, TransactionThatIsNotCommittedLeavesNothing) {
  {
    LeaseDatabase database(path_, std::vector{subnet()}, kNow);
    LeaseDatabase::Transaction transaction(database);
    transaction.put(change(50, 1));
  }
  EXPECT_TRUE(load({subnet()}).by_subnet[0].empty());
}

TEST_F(LeaseDatabaseTest, CanBeReadWithSqlTools) {
  write({change(50, 1)}, {subnet()});
  EXPECT_EQ(sqlite::Connection(path_).read_text(
                "SELECT address || ' ' || mac || ' ' || state || ' ' || expires FROM readable"),
            "192.0.2.50 020000000001 bound 2023-11-14 23:13:20");
}

TEST_F(LeaseDatabaseTest, FollowsARenamedNetworkAndKeepsOneThatIsGone) {
  write({change(50, 1)}, {subnet(), subnet("198.51.100.0/24", "hcp/other")});
  EXPECT_EQ(load({subnet("192.0.2.0/24", "hcp/renamed")}).by_subnet[0].size(), 1U);
  EXPECT_EQ(load({subnet("198.51.100.0/24", "hcp/other")}).by_subnet[0].size(), 0U);
  EXPECT_EQ(load({subnet("198.51.100.0/24"), subnet("192.0.2.0/24")}).by_subnet[1].size(), 1U);
}

TEST_F(LeaseDatabaseTest, OfAnotherNetworkIsRefused) {  // DHC-19
  write({change(50, 1)}, {subnet()});
  EXPECT_THAT(refusal({subnet("192.0.2.0/25")}),
              AllOf(HasSubstr("192.0.2.0/24"), HasSubstr("192.0.2.0/25"), HasSubstr("move the file away")));
  EXPECT_THAT(refusal({subnet("192.168.101.0/24", "a/b")}), HasSubstr("belongs to network 192.0.2.0/24"));
  EXPECT_EQ(load({subnet()}).by_subnet[0].size(), 1U) << "and is not touched";
}

// Subnets beside the first one have their network in their name.
TEST_F(LeaseDatabaseTest, OfANetworkThatIsResizedIsRefusedWhileItsLeasesLast) {
  const Subnet own = subnet("198.51.100.0/24");
  write({change(50, 1)}, {subnet("192.0.2.0/25", "hcp/vlan7/192.0.2.0/25"), own});
  const Subnet wider = subnet("192.0.2.0/24", "hcp/vlan7/192.0.2.0/24");
  EXPECT_THAT(refusal({own, wider}), AllOf(HasSubstr("192.0.2.0/25"), HasSubstr("192.0.2.0/24")));
  EXPECT_THAT(refusal({own, subnet("192.0.2.0/26", "hcp/vlan7/192.0.2.0/26")}), HasSubstr("192.0.2.0/25"));
  EXPECT_EQ(refusal({own, subnet("203.0.113.0/24", "hcp/vlan7/203.0.113.0/24")}), "accepted") << "it is elsewhere";
  EXPECT_EQ(refusal({own}), "accepted") << "the addresses are given to nobody";
  now_ = kNow + 3600s;
  EXPECT_EQ(refusal({own, wider}), "accepted") << "nobody has one of them any more";
}

TEST_F(LeaseDatabaseTest, NetworkThatIsStillServedMayHaveAnotherPlaceAndName) {
  write({change(50, 1)}, {subnet()});
  const StoredLeases stored = load({subnet("198.51.100.0/24"), subnet("192.0.2.0/24", "hcp/vlan7/192.0.2.0/24")});
  ASSERT_EQ(stored.by_subnet.size(), 2U);
  EXPECT_TRUE(stored.by_subnet[0].empty());
  EXPECT_EQ(stored.by_subnet[1].size(), 1U);
}

TEST_F(LeaseDatabaseTest, OfAnotherNetworkWithoutLeasesIsTaken) {
  load({subnet()});
  EXPECT_EQ(refusal({subnet("192.0.2.0/25")}), "accepted");
}

TEST_F(LeaseDatabaseTest, OfAnotherVersionOrOwnerIsRefused) {  // DHC-19
  write({change(50, 1)}, {subnet()});
  run_sql("PRAGMA user_version=4");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("version 4"), HasSubstr("move the file away")));
  run_sql("PRAGMA user_version=3; PRAGMA application_id=5");
  EXPECT_THAT(refusal(), HasSubstr("not made by hcpnet"));
}

TEST_F(LeaseDatabaseTest, OfVersionTwoIsBroughtUp) {
  write({change(50, 1)}, {subnet()});
  run_sql(
      "ALTER TABLE lease DROP COLUMN relay_information; ALTER TABLE reservation DROP COLUMN client_id; "
      "INSERT INTO reservation VALUES(x'c0000214', x'020000000101', x'', 'web'); PRAGMA user_version=2");
  Lease expected = change(50, 1).event.lease;
  expected.relay_information.clear();
  const StoredLeases stored = load({subnet()});
  EXPECT_EQ(stored.by_subnet[0].at(0), expected);
  ASSERT_EQ(stored.reservations.size(), 1U);
  EXPECT_EQ(stored.reservations[0].host_name, "web");
  EXPECT_EQ(stored.reservations[0].client_id, "");
  write({change(50, 1)}, {subnet()});
  EXPECT_EQ(load({subnet()}).by_subnet[0].at(0), change(50, 1).event.lease) << "as version 3";
}

TEST_F(LeaseDatabaseTest, OfVersionOneIsBroughtUp) {
  write({change(50, 1)}, {subnet()});
  run_sql(
      "DROP VIEW readable6; DROP TABLE lease6; DROP TABLE reservation; "
      "ALTER TABLE lease DROP COLUMN relay_information; PRAGMA user_version=1");
  EXPECT_EQ(load({subnet()}).by_subnet[0].size(), 1U);
  EXPECT_EQ(load({subnet()}).by_subnet[0].size(), 1U) << "and again as version 3";
  run_sql("PRAGMA user_version=0");
  EXPECT_THAT(refusal(), HasSubstr("version 0"));
}

TEST_F(LeaseDatabaseTest, AnIpv6RowThatMakesNoSenseRests) {
  load({subnet()});
  run_sql("INSERT INTO lease6 VALUES(x'20010db8000000000000000000000010', x'00', 1, x'', '', 0, 1, 2)");
  run_sql(
      "INSERT INTO lease6 VALUES(x'20010db8000000000000000000000011', x'000400', 7, x'020000000101', 'a', 0, 1, 2)");
  const StoredLeases stored = load({subnet()});
  ASSERT_EQ(stored.unreadable6.size(), 1U);
  EXPECT_EQ(stored.unreadable6[0], parse_ipv6("2001:db8::10"));
  EXPECT_EQ(stored.problems.size(), 1U);
  ASSERT_EQ(stored.leases6.size(), 1U);
  EXPECT_EQ(stored.leases6[0].client.iaid, 7U);
  EXPECT_EQ(stored.leases6[0].client.mac, parse_mac_address("02:00:00:00:01:01"));
}

TEST_F(LeaseDatabaseTest, DamagedIsRefusedAndNeverEmptied) {
  write({change(50, 1)}, {subnet()});
  std::ifstream before_file(path_, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(before_file), {}};
  const auto is_refused = [&](const std::string& content) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << content;
    EXPECT_THAT(refusal(), AllOf(HasSubstr("is damaged"), HasSubstr("backup")));
    std::ifstream after_file(path_, std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(after_file), {}), content);
  };
  is_refused("");
  is_refused("no database at all, but long enough to look like one: " + std::string(4096, 'x'));
  is_refused(whole.substr(0, whole.size() / 2));
  std::string scribbled = whole;
  scribbled.replace(4096, 4096, std::string(4096, '\x77'));
  is_refused(scribbled);
}

TEST_F(LeaseDatabaseTest, MissingBesideItsLogIsRefused) {
  std::ofstream(path_ + "-wal") << "left behind";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("is missing"), HasSubstr("-wal")));
}

TEST_F(LeaseDatabaseTest, InUseIsRefused) {
  const LeaseDatabase holder(path_, std::vector{subnet()}, kNow);
  EXPECT_THAT(refusal(), HasSubstr("in use by another process"));
}

TEST_F(LeaseDatabaseTest, LockedByAnotherProgramIsRefused) {
  write({change(50, 1)}, {subnet()});
  sqlite::Connection other(path_);
  other.run("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE");
  EXPECT_THAT(refusal(), HasSubstr("locked by another program"));
}

TEST_F(LeaseDatabaseTest, ReportsRowsThatMakeNoSense) {  // DHC-19
  write({change(50, 1), change(51, 2), change(52, 3), change(53, 4), change(54, 5)}, {subnet()});
  run_sql(
      "UPDATE lease SET mac=x'0102' WHERE address & 255 = 51; UPDATE lease SET expires=-5 WHERE address & 255 = 52;"
      "UPDATE lease SET address='%%garbage%%' WHERE address & 255 = 53;"
      "UPDATE lease SET expires=253402300799 WHERE address & 255 = 54");
  const StoredLeases stored = load({subnet()});
  EXPECT_EQ(stored.problems.size(), 4U);
  EXPECT_THAT(stored.problems, testing::Contains(HasSubstr("%%garbage%%")));
  std::vector<LeaseState> states;
  for (const Lease& lease : stored.by_subnet[0]) states.push_back(lease.state);
  EXPECT_THAT(states,
              testing::ElementsAre(LeaseState::bound, LeaseState::declined, LeaseState::declined, LeaseState::declined))
      << "an address whose owner is unknown rests";
  EXPECT_EQ(sqlite::Connection(path_).read_integer("SELECT count(*) FROM lease"), 5) << "nothing is deleted";
}

/// A store on a disk that obeys.
class LeaseStoreTest : public testing::Test {
 protected:
  LeaseStore& open(LeaseStoreLimits limits = {}) {
    store_.emplace(io_.get_executor(), limits);
    store_->open(path_, std::vector{subnet()}, kNow);
    return *store_;
  }
  void run_until(const std::function<bool()>& is_done) {
    while (!is_done()) io_.run_one();
  }
  std::size_t stored() {
    store_.reset();
    LeaseDatabase database(path_, std::vector{subnet()}, kNow);
    return database.load(std::vector{subnet()}, kNow).by_subnet[0].size();
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("leases.db");
  test::VolatileDisk disk_;
  boost::asio::io_context io_;
  std::optional<LeaseStore> store_;
};

TEST_F(LeaseStoreTest, CallsBackAfterTheSyncAndInOrder) {
  LeaseStore& store = open();
  const std::uint64_t before = disk_.syncs();
  std::vector<int> order;
  for (int n = 0; n < 3; ++n) {
    store.put({change(static_cast<unsigned>(50 + n), 1)}, [&, n](error_code result) {
      EXPECT_FALSE(result);
      EXPECT_GT(disk_.syncs(), before);
      order.push_back(n);
    });
  }
  run_until([&] { return order.size() == 3; });
  EXPECT_EQ(order, (std::vector{0, 1, 2}));
  EXPECT_EQ(stored(), 3U);
}

TEST_F(LeaseStoreTest, WritesWhatIsWaitingInOneTransaction) {
  LeaseStore& store = open();
  test::Gate gate;
  disk_.before_sync([&] { gate.wait(); });
  std::size_t done = 0;
  store.put({change(50, 1)}, [&](error_code) { ++done; });
  gate.wait_reached();
  for (unsigned n = 0; n < 100; ++n) store.put({change(51 + n, 2 + n)}, [&](error_code) { ++done; });
  gate.open();
  run_until([&] { return done == 101; });
  disk_.before_sync({});  // closing the store syncs as well, and then the gate is gone
  EXPECT_EQ(store.commits(), 2U);
}

TEST_F(LeaseStoreTest, HasRoomForSoMuchAndNoMore) {
  LeaseStore& store = open({.max_queued = 3});
  test::Gate gate;
  disk_.before_sync([&] { gate.wait(); });
  std::size_t done = 0;
  for (unsigned n = 0; n < 3; ++n) {
    EXPECT_TRUE(store.has_room());
    store.put({change(50 + n, n)}, [&](error_code) { ++done; });
  }
  EXPECT_FALSE(store.has_room());
  gate.open();
  run_until([&] { return done == 3; });
  disk_.before_sync({});
  EXPECT_TRUE(store.has_room());
}

TEST_F(LeaseStoreTest, FailingDiskFailsTheGroupAndNotTheNext) {
  LeaseStore& store = open();
  namespace errc = boost::system::errc;
  for (const auto& [code, expected] :
       {std::pair{SQLITE_FULL, errc::no_space_on_device}, std::pair{SQLITE_IOERR_WRITE, errc::io_error}}) {
    disk_.fail_writes(code);
    std::optional<error_code> result;
    store.put({change(50, 1)}, [&](error_code r) { result = r; });
    run_until([&] { return result.has_value(); });
    EXPECT_EQ(*result, expected);
    disk_.fail_writes(0);
    result.reset();
    store.put({change(51, 2)}, [&](error_code r) { result = r; });
    run_until([&] { return result.has_value(); });
    EXPECT_FALSE(*result);
  }
  EXPECT_EQ(store.failures(), 2U);
  EXPECT_EQ(stored(), 1U);
}

TEST_F(LeaseStoreTest, AFileThatIsRemovedIsNotWrittenToAnyMore) {
  LeaseStore& store = open();
  std::filesystem::remove(path_);
  std::optional<error_code> result;
  store.put({change(50, 1)}, [&](error_code r) { result = r; });
  run_until([&] { return result.has_value(); });
  EXPECT_EQ(*result, boost::system::errc::no_such_file_or_directory);
}

TEST_F(LeaseStoreTest, CloseWritesEverythingFirst) {
  LeaseStore& store = open();
  std::size_t done = 0;
  std::optional<std::size_t> done_at_close;
  for (unsigned n = 0; n < 200; ++n) store.put({change(n, n)}, [&](error_code) { ++done; });
  store.async_close([&] { done_at_close = done; });
  io_.run();
  EXPECT_EQ(done_at_close, 200U);
  EXPECT_EQ(stored(), 200U);
}

// As when a process is told to end while it hands its leases over.
TEST_F(LeaseStoreTest, EverybodyWhoClosesItIsCalledBack) {
  LeaseStore& store = open();
  int closed = 0;
  store.async_close([&] { ++closed; });
  store.async_close([&] { ++closed; });
  std::this_thread::sleep_for(200ms);  // its thread ends, and what that posted does not run yet
  store.async_close([&] { ++closed; });
  io_.run();
  EXPECT_EQ(closed, 3);
  store.async_close([&] { ++closed; });
  io_.restart();
  io_.run();
  EXPECT_EQ(closed, 4);
}

TEST_F(LeaseStoreTest, DestructionWritesWhatIsQueuedButCallsNobody) {
  LeaseStore& store = open();
  bool is_called = false;
  store.put({change(50, 1)}, [&](error_code) { is_called = true; });
  EXPECT_EQ(stored(), 1U);
  io_.poll();
  EXPECT_FALSE(is_called);
}

}  // namespace
}  // namespace hcpnet::dhcp
