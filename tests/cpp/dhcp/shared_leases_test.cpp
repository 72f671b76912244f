// SPDX-License-Identifier: Apache-2.0
// Against a real etcd.
#include "dhcp/shared_leases.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dhcp/etcd_process.hpp"
#include "dhcp/packets.hpp"
#include "dhcp/temporary_folder.hpp"

namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
using test::test_mac;
using testing::HasSubstr;
using Result = SharedLeases::Result;

constexpr Ipv4 kAddress(192, 0, 2, 10);

std::chrono::sys_seconds now() {
  return std::chrono::floor<std::chrono::seconds>(system_clock().system_now());
}

Lease lease_of(std::uint32_t client, std::chrono::seconds rest = 1h, LeaseState state = LeaseState::bound) {
  Lease lease;
  lease.address = kAddress;
  lease.mac = test_mac(client);
  lease.state = state;
  lease.started = now() - 2h;
  lease.expires = now() + rest;
  return lease;
}

/// One server's view.
struct Peer {
  Peer(boost::asio::io_context& io, SharedStore store, const SharedLeasesLimits& limits = {})
      : timers(io.get_executor(), system_clock()),
        leases({.executor = io.get_executor(),
                .timers = timers,
                .on_taken =
                    [this](const std::vector<Lease>& told) { taken.insert(taken.end(), told.begin(), told.end()); },
                .on_loaded = [this] { ++loads; },
                .log = {}},
               std::move(store), "192.0.2.2", Identity::mac, limits) {
    leases.start();
  }
  std::vector<Lease> taken;
  int loads = 0;
  runtime::TimerQueue timers;
  SharedLeases leases;
};

class SharedLeasesTest : public testing::Test {
 protected:
  ~SharedLeasesTest() override { io_.poll(); }
  [[nodiscard]] SharedStore store() const { return {.endpoints = {etcd_.url()}, .prefix = "/vlan7", .max_skew = 5s}; }
  /// False after a time that is more than enough.
  template <class Condition>
  bool run_until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + 30s;
    while (!condition() && std::chrono::steady_clock::now() < end)
      if (io_.run_one_for(50ms) == 0) io_.restart();  // it had nothing to do before
    return condition();
  }
  std::unique_ptr<Peer> peer() { return peer(store()); }
  std::unique_ptr<Peer> peer(SharedStore at, const SharedLeasesLimits& limits = {}) {
    auto out = std::make_unique<Peer>(io_, std::move(at), limits);
    EXPECT_TRUE(run_until([&] { return out->leases.is_ready(); })) << out->leases.problem();
    return out;
  }
  Result claim(Peer& by, std::vector<Lease> leases) {
    std::optional<Result> result;
    by.leases.claim(std::move(leases), [&](Result r) { result = r; });
    EXPECT_TRUE(run_until([&] { return result.has_value(); }));
    return result.value_or(Result::unreachable);
  }
  Result look_at(Peer& by, Ipv4 address) {
    std::optional<Result> result;
    by.leases.look_at(address, [&](Result r) { result = r; });
    EXPECT_TRUE(run_until([&] { return result.has_value(); }));
    return result.value_or(Result::unreachable);
  }
  /// A call to etcd past everything.
  std::string call(const char* path, const std::string& body, const std::string& token = {}) {
    runtime::TimerQueue timers(io_.get_executor(), system_clock());
    const auto connection = std::make_shared<runtime::HttpConnection>(
        io_.get_executor(), timers, runtime::HttpPeer{false, "127.0.0.1", etcd_.port()});
    std::optional<runtime::HttpReply> reply;
    connection->post(path, token, body, [&](runtime::HttpReply r) { reply = std::move(r); });
    EXPECT_TRUE(run_until([&] { return reply.has_value(); }));
    connection->close();
    io_.poll();
    EXPECT_EQ(reply.value().status, 200U) << reply->problem << reply->body;
    return reply->body;
  }
  void put(const std::string& key, const std::string& value) {
    const etcd::Step step{{{key, value, 0}}, {}};
    call(etcd::kTxn, etcd::txn_body(std::span(&step, 1)));
  }

  void add_user(const std::string& name, const std::string& role) {
    call("/v3/auth/user/add", R"({"name":")" + name + R"(","password":"s3cret"})");
    call("/v3/auth/user/grant", R"({"user":")" + name + R"(","role":")" + role + "\"}");
  }
  /// From now on etcd has a password, "s3cret", for everybody.
  void ask_for_logins() {
    add_user("root", "root");
    call("/v3/auth/enable", "{}");
  }

  test::EtcdProcess etcd_;
  boost::asio::io_context io_{1};
};

TEST_F(SharedLeasesTest, WhatOneOwnsOthersLearnOfAndCanNotHave) {
  const auto a = peer(), b = peer();
  EXPECT_EQ(claim(*a, {lease_of(1)}), Result::owned);
  EXPECT_TRUE(run_until([&] { return !b->taken.empty(); }));
  EXPECT_EQ(b->taken.at(0).mac, test_mac(1));
  EXPECT_TRUE(b->leases.is_known(kAddress));
  EXPECT_TRUE(a->taken.empty()) << "its own words are no news";
  EXPECT_EQ(claim(*b, {lease_of(2)}), Result::lost);
  EXPECT_EQ(b->leases.stats().claims, (std::map<std::string, std::uint64_t>{{"lost", 1}}));
}

TEST_F(SharedLeasesTest, OfTwoAtOnceOneOwns) {
  const auto a = peer(), b = peer();
  std::vector<Result> results;
  a->leases.claim({lease_of(1)}, [&](Result r) { results.push_back(r); });
  b->leases.claim({lease_of(2)}, [&](Result r) { results.push_back(r); });
  ASSERT_TRUE(run_until([&] { return results.size() == 2; }));
  EXPECT_THAT(results, testing::UnorderedElementsAre(Result::owned, Result::lost));
}

TEST_F(SharedLeasesTest, AClientMayRenewAtEither) {
  const auto a = peer(), b = peer();
  ASSERT_EQ(claim(*a, {lease_of(1)}), Result::owned);
  std::vector<Result> results;
  a->leases.claim({lease_of(1, 2h)}, [&](Result r) { results.push_back(r); });
  b->leases.claim({lease_of(1, 3h)}, [&](Result r) { results.push_back(r); });
  ASSERT_TRUE(run_until([&] { return results.size() == 2; }));
  EXPECT_THAT(results, testing::Each(Result::owned)) << "the second one is written over the first one";
}

TEST_F(SharedLeasesTest, ManyThatWaitAreWrittenTogether) {
  const auto a = peer();
  std::size_t owned = 0, ended = 0;
  for (unsigned n = 0; n < 300; ++n) {
    Lease lease = lease_of(n);
    lease.address = Ipv4(10, 0, static_cast<std::uint8_t>(n / 250), static_cast<std::uint8_t>(n % 250 + 1));
    a->leases.claim({lease}, [&](Result r) {
      ++ended;
      owned += r == Result::owned ? 1U : 0U;
    });
  }
  ASSERT_TRUE(run_until([&] { return ended == 300; }));
  EXPECT_EQ(owned, 300U);
  SharedLeasesLimits limits;
  limits.page = 7;
  const auto b = peer(store(), limits);
  EXPECT_EQ(b->taken.size(), 300U) << "read in pages, before it is ready";
  EXPECT_EQ(b->loads, 1);
}

TEST_F(SharedLeasesTest, AnExpiredLeaseIsTakenWhenSkewAndMarginAreOver) {
  const auto a = peer(), b = peer();
  ASSERT_EQ(claim(*a, {lease_of(1, -3s)}), Result::owned);
  EXPECT_EQ(claim(*b, {lease_of(2)}), Result::lost);
  ASSERT_EQ(claim(*a, {lease_of(1, -20s)}), Result::owned);
  EXPECT_EQ(claim(*b, {lease_of(2)}), Result::lost) << "what its client was promised once stands";
  Lease other = lease_of(1, -20s);
  other.address = Ipv4(192, 0, 2, 11);
  ASSERT_EQ(claim(*a, {other}), Result::owned);
  other.mac = test_mac(2);
  EXPECT_EQ(claim(*b, {other}), Result::owned);
}

TEST_F(SharedLeasesTest, WhatIsGivenBackIsFreeForOthers) {
  const auto a = peer(), b = peer();
  ASSERT_EQ(claim(*a, {lease_of(1)}), Result::owned);
  EXPECT_EQ(claim(*a, {lease_of(1, 0s, LeaseState::released)}), Result::owned);
  ASSERT_TRUE(run_until([&] { return !b->taken.empty() && b->taken.back().state == LeaseState::released; }));
  EXPECT_EQ(claim(*b, {lease_of(2)}), Result::owned);
}

TEST_F(SharedLeasesTest, AMoveIsWrittenWholeOrNotAtAll) {
  const auto a = peer(), b = peer();
  Lease next = lease_of(1);
  next.address = Ipv4(192, 0, 2, 11);
  ASSERT_EQ(claim(*a, {lease_of(1)}), Result::owned);
  Lease others = next;
  others.mac = test_mac(2);
  ASSERT_EQ(claim(*b, {others}), Result::owned);
  EXPECT_EQ(claim(*a, {lease_of(1, 0s, LeaseState::released), next}), Result::lost);
  EXPECT_EQ(claim(*b, {lease_of(3)}), Result::lost) << "the client has not left";
}

TEST_F(SharedLeasesTest, WhatCanNotBeReadIsNotWrittenOver) {
  put("/vlan7/192.0.2.10", R"({"version":2})");
  put("/vlan7/else", "");
  const auto a = peer();
  ASSERT_EQ(a->taken.size(), 1U);
  EXPECT_EQ(a->taken[0].state, LeaseState::declined) << "nobody gets it";
  EXPECT_EQ(claim(*a, {lease_of(1)}), Result::lost);
  EXPECT_GE(a->leases.stats().unreadable, 1U);
  EXPECT_TRUE(a->leases.is_unreadable(kAddress));
  EXPECT_FALSE(a->leases.is_unreadable(Ipv4(192, 0, 2, 11)));
}

TEST_F(SharedLeasesTest, ALookTellsWhatIsNewOnly) {
  const auto a = peer(), b = peer();
  EXPECT_EQ(look_at(*b, kAddress), Result::owned) << "nothing is there";
  ASSERT_EQ(claim(*a, {lease_of(1)}), Result::owned);
  static_cast<void>(look_at(*b, kAddress));  // Result::lost, unless the watch was quicker
  EXPECT_EQ(b->taken.size(), 1U);
  EXPECT_EQ(look_at(*b, kAddress), Result::owned);
}

TEST_F(SharedLeasesTest, WithoutTheStoreNothingIsOwned) {
  const auto a = peer();
  ASSERT_EQ(claim(*a, {lease_of(1)}), Result::owned);
  etcd_.kill();
  EXPECT_EQ(claim(*a, {lease_of(1)}), Result::unreachable);
  EXPECT_FALSE(a->leases.is_ready());
  EXPECT_THAT(a->leases.problem(), HasSubstr(etcd_.url()));
  etcd_.start();
  ASSERT_TRUE(run_until([&] { return a->leases.is_ready(); }));
  EXPECT_EQ(claim(*a, {lease_of(1)}), Result::owned);
  EXPECT_EQ(a->loads, 1) << "what has changed is told, and no more";
  EXPECT_EQ(a->leases.stats().losses, 1U);
}

TEST_F(SharedLeasesTest, WhatNobodyWaitsForIsAskedForAgainWhenItWasNotWritten) {
  const auto a = peer();
  etcd_.kill();
  a->leases.claim({lease_of(1)}, {});
  ASSERT_TRUE(run_until([&] { return !a->leases.is_ready(); }));
  etcd_.start();
  EXPECT_TRUE(run_until([&] { return a->loads == 2; }));
}

TEST_F(SharedLeasesTest, NoMoreWaitThanMay) {
  SharedLeasesLimits limits;
  limits.max_waiting = 2;
  const auto a = peer(store(), limits);
  std::vector<Result> results;
  for (unsigned n = 1; n <= 4; ++n) {  // the first one is on its way at once
    Lease lease = lease_of(n);
    lease.address = Ipv4(192, 0, 2, static_cast<std::uint8_t>(n));
    a->leases.claim({lease}, [&](Result r) { results.push_back(r); });
  }
  EXPECT_FALSE(a->leases.has_room());
  a->leases.look_at(kAddress, [&](Result r) { results.push_back(r); });
  EXPECT_THAT(results, testing::ElementsAre(Result::unreachable, Result::unreachable));
  ASSERT_TRUE(run_until([&] { return results.size() == 5; }));
  EXPECT_EQ(std::ranges::count(results, Result::owned), 3);
}

TEST_F(SharedLeasesTest, WhoWaitsIsToldOfTheStop) {
  const auto a = peer();
  std::vector<Result> results;
  for (const auto rest : {1h, 2h}) a->leases.claim({lease_of(1, rest)}, [&](Result r) { results.push_back(r); });
  a->leases.stop();
  EXPECT_THAT(results, testing::ElementsAre(Result::unreachable, Result::unreachable));
  io_.poll();
  EXPECT_EQ(results.size(), 2U);
}

TEST_F(SharedLeasesTest, AQuietStoreIsMissedToo) {
  const auto a = peer();
  etcd_.kill();
  EXPECT_TRUE(run_until([&] { return !a->leases.is_ready(); }));
}

TEST_F(SharedLeasesTest, WhatWasWrittenMeanwhileIsTold) {
  SharedLeasesLimits patient;
  patient.ask_again = 1s;
  const auto a = peer(store(), patient);
  etcd_.kill();
  ASSERT_TRUE(run_until([&] { return !a->leases.is_ready(); }));
  etcd_.start();
  const auto b = peer();
  ASSERT_EQ(claim(*b, {lease_of(2)}), Result::owned);
  EXPECT_TRUE(run_until([&] { return !a->taken.empty(); }));
}

TEST_F(SharedLeasesTest, TheNextEndpointIsTurnedTo) {
  SharedStore two = store();
  two.endpoints.insert(two.endpoints.begin(), "http://127.0.0.1:1");
  const auto a = peer(two);
  EXPECT_EQ(claim(*a, {lease_of(1)}), Result::owned);
}

TEST_F(SharedLeasesTest, AStoreThatHasForgottenIsReadAgain) {
  const auto a = peer();
  for (int i = 0; i < 5; ++i) put("/else/" + std::to_string(i), "");
  ASSERT_EQ(claim(*a, {lease_of(1)}), Result::owned);
  EXPECT_TRUE(a->leases.is_known(kAddress));
  // All that it had, its revision too: an etcd that was set up again.
  const auto forgetful = std::make_unique<test::EtcdProcess>();
  SharedStore two = store();
  two.endpoints.push_back(forgetful->url());
  const auto b = peer(two);
  ASSERT_TRUE(b->leases.is_known(kAddress));
  etcd_.kill();
  ASSERT_TRUE(run_until([&] { return b->loads == 2; })) << b->leases.problem();
  EXPECT_FALSE(b->leases.is_known(kAddress)) << "so that what is held here is written there";
}

TEST_F(SharedLeasesTest, ALoginIsAskedForByPassword) {
  test::TemporaryFolder folder;
  const std::string password = folder.file("password");
  std::ofstream(password) << "s3cret\r\nmore\n";
  ask_for_logins();
  SharedStore with_login = store();
  with_login.username = "root";
  with_login.password_file = password;
  const auto a = peer(with_login);
  EXPECT_EQ(claim(*a, {lease_of(1)}), Result::owned);
  std::ofstream(password) << "wrong\n";
  Peer b(io_, with_login);
  ASSERT_TRUE(run_until([&] { return b.leases.problem().find("login") != std::string::npos; })) << b.leases.problem();
  EXPECT_THAT(b.leases.problem(), testing::Not(HasSubstr("wrong"))) << "no secret is told";
  EXPECT_FALSE(b.leases.is_ready());
  with_login.password_file = folder.file("none");
  Peer c(io_, with_login);
  EXPECT_THAT(c.leases.problem(), HasSubstr("password file"));
}

TEST_F(SharedLeasesTest, AStoreThatTakesNoWritesIsNotAskedWithoutAPause) {
  test::TemporaryFolder folder;
  SharedStore two = store();
  two.endpoints.push_back(etcd_.url());
  two.username = "reader";
  two.password_file = folder.file("password");
  std::ofstream(two.password_file) << "s3cret\n";
  call("/v3/auth/role/add", R"({"name":"reads"})");
  call("/v3/auth/role/grant", R"({"name":"reads","perm":{"permType":"READ","key":")" + etcd::base64("/vlan7/") +
                                  R"(","range_end":")" + etcd::base64(etcd::end_of("/vlan7/")) + "\"}}");
  add_user("reader", "reads");
  ask_for_logins();
  SharedLeasesLimits limits;
  limits.ask_again = 1h;
  const auto a = peer(two, limits);
  EXPECT_EQ(claim(*a, {lease_of(1)}), Result::unreachable);
  ASSERT_TRUE(run_until([&] { return a->leases.is_ready(); })) << "the other endpoint may do";
  EXPECT_EQ(claim(*a, {lease_of(1)}), Result::unreachable);
  io_.run_for(200ms);
  EXPECT_FALSE(a->leases.is_ready()) << "in an hour";
}

}  // namespace
}  // namespace hcpnet::dhcp
