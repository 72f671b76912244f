// SPDX-License-Identifier: Apache-2.0
#include "proxy/pipe_pool.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <vector>

#include "proxy/engine_sockets.hpp"

namespace hcpnet::proxy {
namespace {

using namespace std::chrono_literals;

constexpr int kNoneReserved = std::numeric_limits<int>::max();
constexpr Clock::SteadyTime kNow = Clock::SteadyTime(1h);

TEST(PipePool, LendsAnEmptyPipeAgain) {
  PipePool pool{kNoneReserved};
  PipePool::Pipe first = pool.borrow(kNow);
  ASSERT_TRUE(first);
  const int write = first.ends().write;
  EXPECT_GE(::fcntl(write, F_GETPIPE_SZ), PipePool::kLeastPipeBytes);
  first.release();
  EXPECT_EQ(pool.lent(), 0u);
  EXPECT_EQ(pool.borrow(kNow).ends().write, write);
}

TEST(PipePool, ClosesAPipeThatHoldsBytes) {
  const std::size_t before = test::descriptors().size();
  PipePool pool{kNoneReserved};
  PipePool::Pipe pipe = pool.borrow(kNow);
  ASSERT_EQ(::write(pipe.ends().write, "x", 1), 1);
  pipe.held = 1;
  pipe.release();
  EXPECT_EQ(test::descriptors().size(), before);
}

TEST(PipePool, HasNoMoreThanItsLimitAndCountsWhoGetsNone) {
  const std::size_t before = test::descriptors().size();
  {
    PipePool pool{kNoneReserved};
    std::vector<PipePool::Pipe> lent;
    for (std::size_t i = 0; i < PipePool::kMaxPipes; ++i) lent.push_back(pool.borrow(kNow));
    ASSERT_TRUE(lent.back());
    EXPECT_FALSE(pool.borrow(kNow));
    EXPECT_EQ(pool.refused(), 1u);
    lent.pop_back();
    EXPECT_TRUE(pool.borrow(kNow));
    lent.clear();
    EXPECT_EQ(test::descriptors().size(), before + 2 * PipePool::kMaxSparePipes);
    pool.rest();
    EXPECT_EQ(test::descriptors().size(), before) << "nothing is kept while there are no connections";
  }
  EXPECT_EQ(test::descriptors().size(), before);
}

TEST(PipePool, AsksTheKernelAgainAfterASecond) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  PipePool pool{kNoneReserved};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool is_there = static_cast<bool>(pool.borrow(kNow));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(is_there);
  EXPECT_FALSE(pool.borrow(kNow + PipePool::kRetryAfter - 1ms));
  EXPECT_TRUE(pool.borrow(kNow + PipePool::kRetryAfter));
  EXPECT_EQ(pool.refused(), 2u);
}

TEST(PipePool, LeavesTheLastDescriptorsAlone) {
  const std::size_t before = test::descriptors().size();
  int first_reserved = 0;
  PipePool pool{first_reserved};
  EXPECT_FALSE(pool.borrow(kNow));
  EXPECT_EQ(pool.refused(), 1u);
  EXPECT_EQ(test::descriptors().size(), before);
  first_reserved = kNoneReserved;
  EXPECT_TRUE(pool.borrow(kNow + PipePool::kRetryAfter));
}

/// What a user without privileges gets beyond fs.pipe-user-pages-soft holds two pages: worse than copying.
TEST(PipePool, DoesNotTakeAPipeThatIsTooSmall) {
  std::size_t most_pages = 0;
  std::ifstream("/proc/sys/fs/pipe-user-pages-soft") >> most_pages;
  const std::size_t pages = PipePool::kPipeBytes / static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const bool is_limited = most_pages > 0 && most_pages < PipePool::kMaxPipes * pages;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    PipePool pool{kNoneReserved};
    std::vector<PipePool::Pipe> lent;
    for (;;) {
      PipePool::Pipe pipe = pool.borrow(kNow);
      if (!pipe) break;
      if (::fcntl(pipe.ends().write, F_GETPIPE_SZ) < PipePool::kLeastPipeBytes) ::_exit(3);
      lent.push_back(std::move(pipe));
    }
    ::_exit(pool.refused() == 1 && (lent.size() < PipePool::kMaxPipes) == is_limited ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace hcpnet::proxy
