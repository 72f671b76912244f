// SPDX-License-Identifier: Apache-2.0
#include "proxy/pipe_pool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace hcpnet::proxy {
namespace {

void close_both(PipePool::Ends ends) noexcept {
  static_cast<void>(::close(ends.read));
  static_cast<void>(::close(ends.write));
}

/// Without ends where the kernel gives none, or one that is too small.
PipePool::Ends make_pipe() noexcept {
  int made[2];
  if (::pipe2(made, O_NONBLOCK | O_CLOEXEC) != 0) return {};
  const PipePool::Ends ends{made[0], made[1]};
  static_cast<void>(::fcntl(ends.write, F_SETPIPE_SZ, PipePool::kPipeBytes));
  if (::fcntl(ends.write, F_GETPIPE_SZ) >= PipePool::kLeastPipeBytes) return ends;
  close_both(ends);
  return {};
}

}  // namespace

void PipePool::Pipe::release() noexcept {
  if (pool_ != nullptr) std::exchange(pool_, nullptr)->take_back(ends_, held == 0);
  held = 0;
}

PipePool::~PipePool() {
  rest();
}

void PipePool::rest() noexcept {
  for (const Ends& ends : spare_) close_both(ends);
  spare_.clear();
  is_resting_ = true;
}

PipePool::Pipe PipePool::borrow(Clock::SteadyTime now) {
  Ends ends;
  if (!spare_.empty()) {  // these and those that are lent are never more than kMaxPipes
    ends = spare_.back();
    spare_.pop_back();
  } else {
    if (lent_ < kMaxPipes && now >= next_try_) {
      ends = make_pipe();
      if (std::max(ends.read, ends.write) >= first_reserved_) close_both(std::exchange(ends, {}));
      if (ends.read < 0) next_try_ = now + kRetryAfter;
    }
    if (ends.read < 0) {
      ++refused_;
      return {};
    }
  }
  ++lent_;
  is_resting_ = false;
  return {*this, ends};
}

void PipePool::take_back(Ends ends, bool is_empty) noexcept {
  --lent_;
  if (is_empty && !is_resting_ && spare_.size() < kMaxSparePipes)
    spare_.push_back(ends);
  else
    close_both(ends);
}

}  // namespace hcpnet::proxy
