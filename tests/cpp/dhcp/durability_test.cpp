// SPDX-License-Identifier: Apache-2.0
// Whatever a client was told is true after the power has failed.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>

#include "dhcp/lease_database.hpp"
#include "dhcp/loopback_client.hpp"
#include "dhcp/server_fixture.hpp"
#include "dhcp/server_process.hpp"
#include "dhcp/temporary_folder.hpp"
#include "dhcp/volatile_disk.hpp"

namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
using test::DhcpAnswer;
using test::LoopbackClient;
using test::test_mac;

const Ipv4 kServer(127, 0, 0, 1);

/// What clients were told, over all lives of the server.
class Ledger {
 public:
  /// An address that was acknowledged to one client must not have been acknowledged to another: no lease ends during
  /// these tests.
  void acknowledge(const MacAddress& mac, Ipv4 address) {
    const auto [owner, is_new] = owners_.emplace(address, mac);
    ASSERT_TRUE(is_new || owner->second == mac) << address.to_string() << " was given twice";
    leases_[mac] = address;
  }
  /// Everything is in the file.
  void check(const std::string& path) const {
    const std::vector<Subnet> subnets = test::loopback_config().subnets;
    LeaseDatabase database(path, subnets);
    const StoredLeases stored = database.load(subnets, {});
    EXPECT_TRUE(stored.problems.empty());
    std::map<Ipv4, MacAddress> found;
    for (const Lease& lease : stored.by_subnet.at(0)) {
      if (lease.state == LeaseState::bound) found.emplace(lease.address, lease.mac);
    }
    for (const auto& [mac, address] : leases_) {
      ASSERT_TRUE(found.contains(address)) << address.to_string() << " was acknowledged and is lost";
      ASSERT_EQ(found[address], mac);
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return leases_.size(); }

 private:
  std::map<MacAddress, Ipv4> leases_;
  std::map<Ipv4, MacAddress> owners_;
};

/// Clients that want leases, many at a time; returns when `max_acks` came or the server is silent.
class Load {
 public:
  Load(const LoopbackClient& client, Ledger& ledger, std::uint32_t first)
      : client_(client), ledger_(ledger), next_(first) {}

  void run(std::size_t max_acks, std::chrono::milliseconds patience = 20s) {
    for (int n = 0; n < 32; ++n) start();
    while (acks_ < max_acks) {
      const auto answer = client_.receive(patience);
      if (!answer) return;
      take(*answer);
    }
  }
  /// What the server sent before it ended.
  void drain() {
    while (const auto answer = client_.receive(0ms)) take(*answer);
  }
  [[nodiscard]] std::uint32_t next() const noexcept { return next_; }

 private:
  void start() {
    test::DhcpPacket packet = test::discover(test_mac(next_));
    packet.xid = next_++;
    client_.send(packet);
  }
  void take(const DhcpAnswer& answer) {
    const MacAddress mac = test_mac(answer.xid);
    if (answer.type() == 2) {
      test::DhcpPacket packet = test::select(mac, kServer, answer.yiaddr);
      packet.xid = answer.xid;
      client_.send(packet);
      return;
    }
    if (answer.type() != 5) return;
    ++acks_;
    ledger_.acknowledge(mac, answer.yiaddr);
    start();
  }

  const LoopbackClient& client_;
  Ledger& ledger_;
  std::uint32_t next_;
  std::size_t acks_ = 0;
};

TEST(DhcpDurability, NoAcknowledgedLeaseIsLostWhenTheProcessIsKilled) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("leases.db");
  std::mt19937 random(20'240'229);
  Ledger ledger;
  std::uint32_t next_client = 1;
  for (int life = 0; life < 40 && !testing::Test::HasFailure(); ++life) {
    SCOPED_TRACE(life);
    test::ServerProcess server(HCPNET_DHCP_TEST_SERVER, path, "127.1.0.1-127.1.255.254", 1h);
    const LoopbackClient client(server.port());
    Load load(client, ledger, next_client);
    load.run(random() % 200);
    server.kill();  // with 32 clients under way
    load.drain();
    next_client = load.next();
    ledger.check(path);
  }
  EXPECT_GT(ledger.size(), 1000U);
}

TEST(DhcpDurability, NoAcknowledgedLeaseIsLostWhenThePowerFails) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("leases.db");
  std::mt19937 random(7);
  test::VolatileDisk disk;
  Ledger ledger;
  std::uint32_t next_client = 1;
  for (int life = 0; life < 60 && !testing::Test::HasFailure(); ++life) {
    SCOPED_TRACE(life);
    const bool is_torn = life % 2 == 1;
    {
      test::ServerThread server(path);
      const LoopbackClient client(server.port());
      Load load(client, ledger, next_client);
      // The power fails during one of the next syncs, with whatever is under way then.
      std::atomic<int> syncs_left = 1 + static_cast<int>(random() % 40);
      disk.before_sync([&] {
        if (--syncs_left == 0) disk.crash();
      });
      while (server.run([](Server& s) { return s.is_healthy(); }))
        load.run(100'000, 20ms);  // more clients after a silence
      load.drain();
      disk.before_sync({});
      next_client = load.next();
    }
    disk.lose_unsynced(is_torn ? &random : nullptr);
    ledger.check(path);
  }
  EXPECT_GT(ledger.size(), 1000U);
}

// The shim proves something only if it forgets: without a sync the same commits are gone.
TEST(DhcpDurability, TheDiskOfTheseTestsForgetsWhatIsNotSynced) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("leases.db");
  test::VolatileDisk disk;
  {
    sqlite::Connection made = [&] {
      const LeaseDatabase database(path, test::loopback_config().subnets);
      return sqlite::Connection(path);
    }();
    made.run("PRAGMA synchronous=OFF; INSERT INTO lease VALUES(1, 1, x'00', x'00', '', 0, 0, 0)");
    EXPECT_EQ(made.read_integer("SELECT count(*) FROM lease"), 1);
    disk.crash();
  }
  disk.lose_unsynced();
  EXPECT_EQ(sqlite::Connection(path).read_integer("SELECT count(*) FROM lease"), 0);
}

}  // namespace
}  // namespace hcpnet::dhcp
