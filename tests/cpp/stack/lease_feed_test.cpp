// SPDX-License-Identifier: Apache-2.0
#include "stack/lease_feed.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "stack/stack_impl.hpp"

namespace hcpnet {
namespace {

using namespace std::chrono_literals;

class LeaseFeedTest : public testing::Test {
 protected:
  explicit LeaseFeedTest(LeaseFeedLimits limits = {.max_kept = 3, .max_waiting = 2, .wait = 5s, .keep_awake = 60s})
      : feed_(io_.get_executor(), timers_, limits) {}
  void happen(unsigned last) {
    dhcp::LeaseEvent event;
    event.lease.address = Ipv4(192, 0, 2, static_cast<std::uint8_t>(last));
    feed_.add(event);
  }
  void ask(std::optional<std::uint64_t> after) {
    feed_.ask(after, [this](const LeaseFeed::Answer& answer) {
      std::string text = std::to_string(answer.last) + '/' + std::to_string(answer.missed);
      for (const LeaseFeed::Event& event : answer.events)
        text += ' ' + std::get<dhcp::LeaseEvent>(event.what).lease.address.to_string();
      answers_.push_back(text);
    });
  }
  std::vector<std::string> answers() {
    io_.restart();
    io_.poll();
    return std::exchange(answers_, {});
  }
  using Texts = std::vector<std::string>;

  boost::asio::io_context io_;
  ManualClock clock_;
  runtime::TimerQueue timers_{io_.get_executor(), clock_};
  LeaseFeed feed_;
  Texts answers_;
};

TEST_F(LeaseFeedTest, WhoAsksHearsWhatHappensFromThenOn) {
  happen(1);
  ask({});
  EXPECT_EQ(answers(), (Texts{"1/0"}));
  ask(1);
  EXPECT_EQ(answers(), Texts{});
  happen(2);
  happen(3);
  EXPECT_EQ(answers(), (Texts{"3/0 192.0.2.2 192.0.2.3"})) << "in one answer";
  happen(4);
  ask(3);
  EXPECT_EQ(answers(), (Texts{"4/0 192.0.2.4"}));
}

TEST_F(LeaseFeedTest, AnAnswerComesAlsoWhereNothingHappens) {
  ask(0);
  clock_.advance(4s);
  EXPECT_EQ(answers(), Texts{});
  clock_.advance(1s);
  EXPECT_EQ(answers(), (Texts{"0/0"}));
}

TEST_F(LeaseFeedTest, WhoIsSlowIsToldHowManyEventsAreLost) {
  ask({});
  for (unsigned n = 1; n <= 5; ++n) happen(n);
  ask(0);
  EXPECT_EQ(answers(), (Texts{"0/0", "5/2 192.0.2.3 192.0.2.4 192.0.2.5"}));
}

TEST_F(LeaseFeedTest, NothingIsKeptWhileNobodyAsks) {
  ask({});
  clock_.advance(60s);
  happen(1);
  ask(0);
  EXPECT_EQ(answers(), (Texts{"0/0", "1/1"}));
}

TEST_F(LeaseFeedTest, ANumberOfAnotherProcessBeginsAnew) {
  ask({});
  happen(1);
  ask(77);
  EXPECT_EQ(answers(), (Texts{"0/0", "1/0 192.0.2.1"}));
}

TEST_F(LeaseFeedTest, OneMoreThanMayWaitAnswersTheFirst) {
  ask(0);
  ask(0);
  ask(0);
  EXPECT_EQ(answers(), (Texts{"0/0"}));
  happen(1);
  EXPECT_EQ(answers(), (Texts{"1/0 192.0.2.1", "1/0 192.0.2.1"}));
}

// A question may have been read when the sockets close, and reach a stack that has ended.
TEST(LeaseFeedPage, IsGoneOnceTheStackHasEnded) {
  boost::asio::io_context io;
  const auto stack = std::make_shared<Stack::Impl>(io, StackOptions());
  stack->close();
  HttpRequest request;
  request.method = "GET";
  request.path = "/leases/events";
  unsigned status = 0;
  answer_admin(*stack, request, [&](const HttpResponse& answer) { status = answer.status; });
  EXPECT_EQ(status, 503U);
}

}  // namespace
}  // namespace hcpnet
