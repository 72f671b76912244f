// SPDX-License-Identifier: Apache-2.0
#include "proxy/backend_state.hpp"

#include <gmock/gmock.h>

#include <map>

namespace hcpnet::proxy {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
const Clock::SteadyTime kNow{1h};

Endpoint at(std::uint8_t last) {
  return {Ipv4(10, 0, 0, last), 1};
}
Endpoint at6(std::uint16_t last) {
  return {*parse_ipv6("2001:db8::" + std::to_string(last)), 1};
}

class BackendStateTest : public testing::Test {
 protected:
  std::vector<std::string> order(std::vector<Endpoint> endpoints, std::uint64_t turn = 0, std::uint64_t random = 0,
                                 Clock::SteadyTime now = kNow, std::size_t count = 10) {
    std::vector<std::string> names;
    for (const auto& candidate : state.choose(backend, endpoints, count, now, turn, random))
      names.push_back(candidate->address.address.to_string());
    return names;
  }
  Backend backend;
  BackendState state{"b"};
};

TEST_F(BackendStateTest, RoundRobinBeginsAtTheNextOneEachTime) {
  EXPECT_THAT(order({at(1), at(2), at(3)}, 0), ElementsAre("10.0.0.1", "10.0.0.2", "10.0.0.3"));
  EXPECT_THAT(order({at(1), at(2), at(3)}, 1), ElementsAre("10.0.0.2", "10.0.0.3", "10.0.0.1"));
  EXPECT_THAT(order({at(1), at(2), at(3)}, 5, 0, kNow, 2), ElementsAre("10.0.0.3", "10.0.0.1"));
  EXPECT_TRUE(order({}).empty());
}

TEST_F(BackendStateTest, LeastConnectionsTakesTheEmptiest) {
  backend.balance = Balance::least_connections;
  state.endpoint(at(1))->active = 3;
  state.endpoint(at(2))->active = 1;
  state.endpoint(at(3))->active = 2;
  for (std::uint64_t turn = 0; turn < 3; ++turn)
    EXPECT_THAT(order({at(1), at(2), at(3)}, turn), ElementsAre("10.0.0.2", "10.0.0.3", "10.0.0.1"));
  EXPECT_THAT(order({at(4), at(5)}, 1), ElementsAre("10.0.0.5", "10.0.0.4")) << "equals go in turn";
}

TEST_F(BackendStateTest, RandomOfTwoTakesTheEmptierOfTheTwoItDraws) {
  backend.balance = Balance::random_of_two;
  state.endpoint(at(1))->active = 9;
  std::map<std::string, int> first;
  for (std::uint64_t a = 0; a < 3; ++a)
    for (std::uint64_t b = 0; b < 2; ++b) ++first[order({at(1), at(2), at(3)}, 0, b << 32 | a).front()];
  EXPECT_EQ(first["10.0.0.1"], 0) << "it loses against each of the others";
  EXPECT_EQ(first["10.0.0.2"] + first["10.0.0.3"], 6);
  EXPECT_EQ(order({at(1), at(2), at(3)}, 0, 7).size(), 3u) << "nobody is lost";
}

TEST_F(BackendStateTest, FamiliesTakeTurns) {
  backend.endpoints = {at(1)};
  EXPECT_THAT(order({at(1), at(2), at6(1), at6(2), at6(3)}),
              ElementsAre("10.0.0.1", "2001:db8::1", "10.0.0.2", "2001:db8::2", "2001:db8::3"));
  backend.endpoints.clear();  // looked up: IPv6 first, RFC 8305 section 4
  EXPECT_THAT(order({at(1), at(2), at6(1)}), ElementsAre("2001:db8::1", "10.0.0.1", "10.0.0.2"));
}

TEST_F(BackendStateTest, FamiliesTakeTurnsWhoeverIsEjected) {
  const Ejection ejection{1, 10s};
  state.endpoint(at6(4))->on_failure(ejection, kNow);
  EXPECT_THAT(order({at6(1), at6(2), at6(3), at6(4), at(1)}),
              ElementsAre("2001:db8::1", "10.0.0.1", "2001:db8::2", "2001:db8::3", "2001:db8::4"));
}

TEST_F(BackendStateTest, AnEndpointThatRefusesIsLeftOutForLongerEachTime) {
  const Ejection ejection{2, 10s};
  const auto bad = state.endpoint(at(1));
  EXPECT_FALSE(bad->on_failure(ejection, kNow));
  bad->on_success();
  EXPECT_FALSE(bad->on_failure(ejection, kNow)) << "failures in a row count";
  EXPECT_TRUE(bad->on_failure(ejection, kNow));
  EXPECT_THAT(order({at(1), at(2)}), ElementsAre("10.0.0.2", "10.0.0.1")) << "tried last, not never";
  EXPECT_TRUE(bad->is_ejected(kNow + 10s - 1ns));
  EXPECT_FALSE(bad->is_ejected(kNow + 10s));
  EXPECT_TRUE(bad->on_failure(ejection, kNow + 10s)) << "the first failure after it ejects it anew";
  EXPECT_TRUE(bad->is_ejected(kNow + 30s - 1ns));
  EXPECT_FALSE(bad->is_ejected(kNow + 30s));
  EXPECT_FALSE(bad->on_failure({0, 10s}, kNow + 60s)) << "0 failures: never";
  const auto later = kNow + 30s + 101s;
  EXPECT_TRUE(bad->on_failure(ejection, later));
  EXPECT_FALSE(bad->is_ejected(later + 10s)) << "in use for ten times the duration: it starts anew";
}

TEST_F(BackendStateTest, HealthFollowsChecksInARow) {
  const HealthCheck check{.failures = 3, .successes = 2};
  const auto endpoint = state.endpoint(at(1));
  EXPECT_TRUE(endpoint->is_healthy()) << "until a check says otherwise";
  EXPECT_TRUE(endpoint->on_check(check, false)) << "the first check decides alone";
  EXPECT_FALSE(endpoint->is_healthy());
  EXPECT_FALSE(endpoint->on_check(check, true));
  EXPECT_TRUE(endpoint->on_check(check, true));
  EXPECT_TRUE(endpoint->is_healthy());
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(endpoint->on_check(check, false));
  EXPECT_FALSE(endpoint->on_check(check, true));
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(endpoint->on_check(check, false));
  EXPECT_TRUE(endpoint->on_check(check, false));
  EXPECT_THAT(order({at(1), at(2)}), ElementsAre("10.0.0.2", "10.0.0.1"));
  EXPECT_THAT(order({at(1)}), ElementsAre("10.0.0.1")) << "trying a bad one beats trying none";
}

TEST_F(BackendStateTest, AnEndpointThatIsGoneIsNotBadAnyMore) {
  const HealthCheck check{.failures = 1};
  state.endpoint(at(1))->on_check(check, false);
  const auto in_use = state.endpoint(at(2));
  in_use->on_check(check, false);
  state.endpoint(at(3))->on_check(check, false);
  const Endpoint left[] = {at(3)};
  state.retain(left);
  const auto endpoints = state.stats(kNow).endpoints;
  EXPECT_FALSE(endpoints.contains(at(1)));
  EXPECT_TRUE(endpoints.at(at(2)).is_healthy);
  EXPECT_FALSE(endpoints.at(at(3)).is_healthy) << "it is checked still";
}

TEST_F(BackendStateTest, AddressesThatNobodyUsesAreForgotten) {
  const auto kept = state.endpoint(at(1));
  kept->total = 7;
  for (std::uint16_t i = 0; i < 2000; ++i) static_cast<void>(state.endpoint(at6(i)));
  const auto stats = state.stats(kNow);
  EXPECT_LE(stats.endpoints.size(), 300u);
  EXPECT_EQ(stats.endpoints.at(at(1)).total, 7u);
}

}  // namespace
}  // namespace hcpnet::proxy
