// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/clock.hpp>
#include <hcpnet/log.hpp>

namespace hcpnet {
namespace {

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock;
  int jumps = 0;
  clock.on_jump([&] { ++jumps; });
  const auto before = clock.system_now();
  clock.advance(std::chrono::seconds(30));
  EXPECT_EQ(clock.system_now() - before, std::chrono::seconds(30));
  EXPECT_EQ(jumps, 1);
}

TEST(Printable, LeavesNothingThatATerminalWouldObey) {
  EXPECT_EQ(printable(std::string_view("a\r\n\0\xc3\\", 6)), "a\\x0d\\x0a\\x00\\xc3\\x5c");
  EXPECT_EQ(printable("abcdef", 3), "abc...");
}

}  // namespace
}  // namespace hcpnet
