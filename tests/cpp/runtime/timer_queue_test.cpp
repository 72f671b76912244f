// SPDX-License-Identifier: Apache-2.0
#include "runtime/timer_queue.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <stdexcept>

namespace hcpnet::runtime {
namespace {

TEST(TimerQueueTest, ACallbackThatThrowsTakesNothingFromTheOthers) {
  boost::asio::io_context io{1};
  TimerQueue timers(io.get_executor(), system_clock());
  bool has_run = false;
  timers.at(timers.now(), [] { throw std::runtime_error("of a user"); });
  timers.at(timers.now(), [&] { has_run = true; });
  EXPECT_THROW(io.run(), std::runtime_error);
  EXPECT_FALSE(has_run);
  io.run();
  EXPECT_TRUE(has_run);
}

}  // namespace
}  // namespace hcpnet::runtime
