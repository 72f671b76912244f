// SPDX-License-Identifier: Apache-2.0
// 100,000 clients come, renew, reboot, go and decline on one server that is killed every few seconds: churn_soak
// SECONDS. In turn the process gets SIGKILL, or the power fails and what was not synced is thrown away, whole or in
// part. Fails when an address is acknowledged to a second client while the first may still use it, when a client that
// holds a lease is refused it or offered another address, or when an acknowledged lease is not in the file afterwards.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "dhcp/lease_database.hpp"
#include "dhcp/loopback_client.hpp"
#include "dhcp/server_fixture.hpp"
#include "dhcp/server_process.hpp"
#include "dhcp/temporary_folder.hpp"
#include "dhcp/volatile_disk.hpp"

namespace {

using namespace hcpnet;
using namespace std::chrono_literals;
using dhcp::Lease;
using test::DhcpAnswer;
using test::DhcpPacket;
using test::LoopbackClient;
using Clock = std::chrono::system_clock;  // leases in the file are in wall time

constexpr std::uint32_t kClients = 100'000;
constexpr std::size_t kUnderWay = 64;
constexpr auto kLeaseTime = 20s;  // many run out between two actions of their client
constexpr auto kMargin = 1s;      // a lease that ends sooner is nobody's concern
const Ipv4Range kPool{Ipv4(127, 1, 0, 1), Ipv4(127, 2, 255, 254)};
const Ipv4 kServer(127, 0, 0, 1);

enum MessageType : int { kOffer = 2, kDecline = 4, kAck = 5, kNak = 6, kRelease = 7 };

struct Counts {
  std::uint64_t bound = 0, renewed = 0, rebooted = 0, released = 0, declined = 0, killed = 0, power_cuts = 0,
                problems = 0;
};
Counts counts;

void problem(const std::string& what) {
  if (++counts.problems <= 20) std::fprintf(stderr, "churn_soak: %s\n", what.c_str());
}

MacAddress mac_of(std::uint32_t client) {
  return test::test_mac(client);
}

/// What is left of the lease, where the disk has failed by then; else kLeaseTime.
std::chrono::seconds lease_time_of(const DhcpAnswer& answer) {
  std::uint32_t seconds = 0;
  for (const std::uint8_t byte : answer.find(51).value_or(test::Bytes())) seconds = seconds << 8 | byte;
  return std::chrono::seconds(seconds);
}

/// What clients were told, over all lives of the server.
class Ledger {
 public:
  struct Holding {
    Ipv4 address;
    Clock::time_point until;  ///< counted from when the client sent its request (RFC 2131 section 4.4.1)
  };

  Ledger() : holdings_(kClients) {}

  /// The address that the client may use for some time yet; null when there is none.
  [[nodiscard]] const Holding* held(std::uint32_t client) const {
    const Holding& holding = holdings_[client];
    return holding.until > Clock::now() + kMargin ? &holding : nullptr;
  }
  void acknowledge(std::uint32_t client, Ipv4 address, Clock::time_point until) {
    const auto now = Clock::now();
    const auto [at, is_new] = owners_.emplace(address.value(), client);
    if (!is_new && at->second != client) {
      const Holding& other = holdings_[at->second];
      if (other.address == address && other.until > now)
        problem(address.to_string() + " was given to " + mac_of(client).to_string() + " and is still of " +
                mac_of(at->second).to_string());
      at->second = client;
    }
    if (holdings_[client].until == Clock::time_point{}) ++served_;
    holdings_[client] = {address, until};
  }
  /// Before the client says so to the server.
  void give_up(std::uint32_t client) { holdings_[client].until = Clock::time_point::min(); }

  /// Every lease that a client relies on is in the file.
  void check(const std::string& path) const {
    const std::vector<dhcp::Subnet> subnets = test::loopback_config().subnets;
    dhcp::LeaseDatabase database(path, subnets, {});
    const dhcp::StoredLeases stored = database.load(subnets, std::chrono::floor<std::chrono::seconds>(Clock::now()));
    for (const std::string& text : stored.problems) problem(text);
    std::unordered_map<std::uint32_t, const Lease*> found;
    for (const Lease& lease : stored.by_subnet.at(0)) found.emplace(lease.address.value(), &lease);
    for (std::uint32_t client = 0; client < kClients; ++client) {
      const Holding* holding = held(client);
      if (holding == nullptr) continue;
      const auto at = found.find(holding->address.value());
      const bool is_there = at != found.end() && at->second->state == dhcp::LeaseState::bound &&
                            at->second->mac == mac_of(client) &&
                            at->second->expires >= std::chrono::floor<std::chrono::seconds>(holding->until);
      if (!is_there) problem(holding->address.to_string() + " was acknowledged and is lost");
    }
  }
  /// Clients that ever had a lease.
  [[nodiscard]] std::uint32_t served() const noexcept { return served_; }

 private:
  std::vector<Holding> holdings_;                            // by client
  std::unordered_map<std::uint32_t, std::uint32_t> owners_;  // address -> the last client that it was given to
  std::uint32_t served_ = 0;
};

/// The clients during one life of the server.
class Churn {
 public:
  Churn(std::uint16_t port, Ledger& ledger, std::mt19937& random) : client_(port), ledger_(ledger), random_(random) {}

  void run(Clock::time_point end) {
    while (Clock::now() < end) {
      while (under_way_ < kUnderWay) act();
      if (const auto answer = client_.receive(200ms))
        take(*answer);
      else
        under_way_ = 0;  // lost or ignored; those clients rest until the next life
    }
  }
  /// What the server sent before it ended.
  void drain() {
    while (const auto answer = client_.receive(0ms)) take(*answer);
  }

 private:
  enum class Stage : std::uint8_t { discovering, selecting, renewing, rebooting };
  struct Exchange {
    std::uint32_t client;
    Stage stage;
    Clock::time_point asked;
  };

  /// One client, chosen at random, does something.
  void act() {
    const auto client = static_cast<std::uint32_t>(random_() % kClients);
    if (busy_[client]) return;
    const Ledger::Holding* held = ledger_.held(client);
    const auto dice = random_() % 1000;
    if (held == nullptr || dice < 150)
      start(client, Stage::discovering, test::discover(mac_of(client)));
    else if (dice < 700)
      start(client, Stage::renewing, test::renew(mac_of(client), held->address));
    else if (dice < 850)
      start(client, Stage::rebooting, test::dhcp_packet(3, mac_of(client)).with_address(50, held->address));
    else
      give_up(client, held->address, dice < 998 ? kRelease : kDecline);
  }
  void start(std::uint32_t client, Stage stage, DhcpPacket packet) {
    packet.xid = next_xid_++;
    exchanges_[packet.xid] = {client, stage, Clock::now()};
    busy_[client] = true;
    ++under_way_;
    client_.send(packet);
  }
  void give_up(std::uint32_t client, Ipv4 address, MessageType type) {
    ++(type == kRelease ? counts.released : counts.declined);
    ledger_.give_up(client);
    DhcpPacket packet = test::dhcp_packet(static_cast<std::uint8_t>(type), mac_of(client)).with_address(54, kServer);
    if (type == kRelease)
      packet.ciaddr = address;
    else
      packet.with_address(50, address);
    client_.send(packet);
  }
  void take(const DhcpAnswer& answer) {
    const auto at = exchanges_.find(answer.xid);
    if (at == exchanges_.end()) return problem("an answer that nobody asked for");
    const Exchange exchange = at->second;
    exchanges_.erase(at);
    busy_[exchange.client] = false;
    if (under_way_ > 0) --under_way_;
    const Ledger::Holding* held = ledger_.held(exchange.client);
    const std::string who = mac_of(exchange.client).to_string();
    switch (answer.type()) {
      case kOffer:
        if (held != nullptr && held->address != answer.yiaddr)
          problem(who + " holds " + held->address.to_string() + " and was offered " + answer.yiaddr.to_string());
        start(exchange.client, Stage::selecting, test::select(mac_of(exchange.client), kServer, answer.yiaddr));
        break;
      case kAck:
        ++(exchange.stage == Stage::renewing    ? counts.renewed
           : exchange.stage == Stage::rebooting ? counts.rebooted
                                                : counts.bound);
        ledger_.acknowledge(exchange.client, answer.yiaddr, exchange.asked + lease_time_of(answer));
        break;
      case kNak:
        if (held != nullptr) problem(who + " holds " + held->address.to_string() + " and was refused it");
        break;
      default:
        problem("a message of type " + std::to_string(answer.type()));
    }
  }

  LoopbackClient client_;
  Ledger& ledger_;
  std::mt19937& random_;
  std::unordered_map<std::uint32_t, Exchange> exchanges_;  // by xid
  std::vector<bool> busy_ = std::vector<bool>(kClients);
  std::size_t under_way_ = 0;
  std::uint32_t next_xid_ = 1;
};

dhcp::Config config() {
  dhcp::Config config = test::loopback_config();
  config.subnets.front().pools = {{kPool}};
  config.subnets.front().lease_time = kLeaseTime;
  return config;
}

void run(std::chrono::seconds seconds) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("leases.db");
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  test::VolatileDisk disk;
  Ledger ledger;
  const auto end = Clock::now() + seconds;
  for (unsigned life = 0; Clock::now() < end && counts.problems == 0; ++life) {
    const auto lifetime = std::chrono::milliseconds(500 + random() % 3500);
    if (life % 2 == 0) {
      test::ServerProcess server(HCPNET_DHCP_TEST_SERVER, path, kPool.first.to_string() + "-" + kPool.last.to_string(),
                                 kLeaseTime);
      Churn churn(server.port(), ledger, random);
      churn.run(Clock::now() + lifetime);
      server.kill();
      churn.drain();
      ++counts.killed;
    } else {
      {
        test::ServerThread server(path, config());
        Churn churn(server.port(), ledger, random);
        churn.run(Clock::now() + lifetime);
        disk.crash();
        churn.drain();
      }
      disk.lose_unsynced(life % 4 == 1 ? &random : nullptr);
      ++counts.power_cuts;
    }
    ledger.check(path);
  }
  if (counts.killed == 0 || counts.power_cuts == 0 || counts.bound < 1000 || counts.renewed == 0 ||
      counts.rebooted == 0 || counts.released == 0)
    problem("not all kinds of traffic took place");
  std::printf(
      "%u clients had a lease: %llu bound, %llu renewed, %llu rebooted, %llu released, %llu declined; "
      "%llu kills, %llu power failures, %llu problems\n",
      ledger.served(), static_cast<unsigned long long>(counts.bound), static_cast<unsigned long long>(counts.renewed),
      static_cast<unsigned long long>(counts.rebooted), static_cast<unsigned long long>(counts.released),
      static_cast<unsigned long long>(counts.declined), static_cast<unsigned long long>(counts.killed),
      static_cast<unsigned long long>(counts.power_cuts), static_cast<unsigned long long>(counts.problems));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  run(std::chrono::seconds(std::atoi(argv[1])));
  return counts.problems == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "churn_soak: %s\n", error.what());
  return 1;
}
