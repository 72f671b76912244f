// SPDX-License-Identifier: Apache-2.0
#include "proxy/name_cache.hpp"

#include <gtest/gtest.h>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <stdexcept>

namespace hcpnet::proxy {
namespace {

using namespace std::chrono_literals;

class NameCacheTest : public testing::Test {
 protected:
  void resolve() {
    cache->resolve("a.test", 443, [this](const Result<Resolution>& answer) { ++(answer ? good : bad); });
  }

  boost::asio::io_context io{1};
  ManualClock clock;
  runtime::TimerQueue timers{io.get_executor(), clock};
  std::vector<Resolved> asked;
  std::shared_ptr<NameCache> cache = std::make_shared<NameCache>(
      [this](const std::string&, std::uint16_t, Resolved resolved) { asked.push_back(std::move(resolved)); }, timers,
      30s);
  std::size_t good = 0, bad = 0;
  const std::vector<Endpoint> found{{Ipv4(192, 0, 2, 1), 443}};
};

TEST_F(NameCacheTest, CallersThatAreTooManyFailAtOnce) {
  for (std::size_t i = 0; i < NameCache::kMaxWaiting; ++i) resolve();
  EXPECT_EQ(asked.size(), 1u) << "one look-up for all of them";
  EXPECT_EQ(bad, 0u);
  resolve();
  EXPECT_EQ(bad, 1u);
  EXPECT_EQ(cache->failures(), 1u);
  asked[0](Resolution(found));
  EXPECT_EQ(good, NameCache::kMaxWaiting);
}

TEST_F(NameCacheTest, ACallerThatThrowsTakesNothingFromTheOthers) {
  cache->resolve("a.test", 443, [](const Result<Resolution>&) { throw std::runtime_error("of a user"); });
  resolve();
  EXPECT_THROW(asked[0](Resolution(found)), std::runtime_error);
  EXPECT_EQ(good, 1u);
}

TEST_F(NameCacheTest, AResolverThatThrowsHasFailed) {
  bool is_broken = true;
  const auto ask = [&](const std::string&, std::uint16_t, Resolved resolved) {
    if (is_broken) throw std::runtime_error("of a user");
    asked.push_back(std::move(resolved));
  };
  cache = std::make_shared<NameCache>(ask, timers, 30s);
  EXPECT_THROW(resolve(), std::runtime_error);
  EXPECT_EQ(bad, 1u);
  EXPECT_EQ(cache->failures(), 1u);
  is_broken = false;
  resolve();
  ASSERT_EQ(asked.size(), 1u) << "it is asked again";
  asked[0](Resolution(found));
  EXPECT_EQ(good, 1u);
}

TEST_F(NameCacheTest, NoAnswerIsFreshForLessThanASecondOrMoreThanAnHour) {
  resolve();
  asked[0](Resolution(found, 0s));
  clock.advance(NameCache::kLeastTime - 1ms);
  resolve();
  EXPECT_EQ(asked.size(), 1u);
  clock.advance(1ms);
  resolve();
  ASSERT_EQ(asked.size(), 2u);
  asked[1](Resolution(found, 48h));
  clock.advance(NameCache::kMostTime - 1ms);
  resolve();
  EXPECT_EQ(asked.size(), 2u);
  clock.advance(1ms);
  resolve();
  EXPECT_EQ(asked.size(), 3u);
}

TEST_F(NameCacheTest, AnOldAnswerHelpsUntilTheNextTry) {
  resolve();
  asked[0](Resolution(found, 5s));
  clock.advance(5s);
  resolve();
  ASSERT_EQ(asked.size(), 2u);
  asked[1](error_code(boost::asio::error::host_not_found_try_again));
  EXPECT_EQ(good, 2u);
  EXPECT_EQ(cache->stale_answers(), 1u);
  resolve();
  EXPECT_EQ(asked.size(), 2u) << "not before a second has passed";
  EXPECT_EQ(good, 3u);
  clock.advance(1s);
  resolve();
  EXPECT_EQ(asked.size(), 3u);
}

/// RFC 8767 section 4: its addresses may be somebody else's by now.
TEST_F(NameCacheTest, ThatANameStandsForNothingReplacesTheOldAnswer) {
  const Result<Resolution> nothing[] = {error_code(boost::asio::error::host_not_found),
                                        error_code(boost::asio::error::no_data), Resolution()};
  for (const Result<Resolution>& absent : nothing) {
    good = bad = 0;
    resolve();
    asked.back()(Resolution(found, 5s));
    clock.advance(5s);
    resolve();
    asked.back()(absent);
    EXPECT_EQ(good, 1u);
    EXPECT_EQ(bad, 1u);
    resolve();
    asked.back()(error_code(boost::asio::error::host_not_found_try_again));
    EXPECT_EQ(bad, 2u) << "nothing is left of it";
  }
  EXPECT_EQ(cache->stale_answers(), 0u);
  EXPECT_EQ(cache->failures(), 6u);
}

TEST_F(NameCacheTest, AnOldAnswerIsUsedForADayAtMost) {
  const auto fail = [&] { asked.back()(error_code(boost::asio::error::host_not_found_try_again)); };
  resolve();
  asked.back()(Resolution(found, 5s));
  clock.advance(5s + NameCache::kMostStale - 1ms);
  resolve();
  fail();
  EXPECT_EQ(good, 2u);
  clock.advance(1ms);
  resolve();
  fail();
  EXPECT_EQ(good, 2u);
  EXPECT_EQ(bad, 1u) << "also where the next try was not due yet";
}

TEST_F(NameCacheTest, WhoeverWaitsIsForgottenAtTheEnd) {
  resolve();
  cache->cancel();
  asked[0](Resolution(found));
  EXPECT_EQ(good + bad, 0u);
}

}  // namespace
}  // namespace hcpnet::proxy
