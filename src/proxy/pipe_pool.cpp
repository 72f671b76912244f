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

PipePool::Pipe PipePool::borrow() {
  if (lent_ >= kMaxPipes) return {};
  Ends ends;
  if (!spare_.empty()) {
    ends = spare_.back();
    spare_.pop_back();
  } else {
    int made[2];
    if (::pipe2(made, O_NONBLOCK | O_CLOEXEC) != 0) return {};
    ends = {made[0], made[1]};
    if (std::max(ends.read, ends.write) >= first_reserved_) {
      close_both(ends);
      return {};
    }
    static_cast<void>(::fcntl(ends.write, F_SETPIPE_SZ, kPipeBytes));
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
