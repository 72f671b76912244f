// SPDX-License-Identifier: Apache-2.0
#include "runtime/timer_queue.hpp"

namespace hcpnet::runtime {

TimerQueue::TimerQueue(boost::asio::any_io_executor executor, Clock& clock)
    : clock_(clock), timer_(executor), self_(std::make_shared<TimerQueue*>(this)) {
  clock_.on_jump([weak = std::weak_ptr(self_)] {
    if (const auto self = weak.lock(); self && *self) (*self)->run_due();
  });
}

TimerQueue::~TimerQueue() {
  *self_ = nullptr;
}

TimerQueue::Id TimerQueue::at(Time deadline, std::function<void()> callback) {
  const Id id{deadline, next_++};
  pending_.emplace(id, std::move(callback));
  arm();
  return id;
}

TimerQueue::Id TimerQueue::after(std::chrono::nanoseconds delay, std::function<void()> callback) {
  return at(now() + std::chrono::duration_cast<Time::duration>(delay), std::move(callback));
}

void TimerQueue::cancel(const Id& id) {
  pending_.erase(id);
  if (!pending_.empty()) return;
  timer_.cancel();  // so that an event loop without other work ends
  armed_for_ = Time::max();
}

void TimerQueue::run_due() {
  const std::weak_ptr<TimerQueue*> weak = self_;
  while (!pending_.empty() && pending_.begin()->first.first <= now()) {
    const auto callback = std::move(pending_.begin()->second);
    pending_.erase(pending_.begin());
    // It may add, cancel, or destroy this queue; where a user's function throws, the other deadlines don't pay for it.
    try {
      callback();
    } catch (...) {
      if (const auto self = weak.lock(); self && *self) arm();
      throw;
    }
    if (const auto self = weak.lock(); !self || !*self) return;
  }
  arm();
}

void TimerQueue::arm() {
  if (pending_.empty()) return;
  if (&clock_ != &system_clock()) return;  // a held clock calls run_due() itself
  const Time first = pending_.begin()->first.first;
  if (armed_for_ <= first) return;  // waking up for nothing is cheaper than a system call per deadline
  armed_for_ = first;
  timer_.expires_at(first);
  timer_.async_wait([weak = std::weak_ptr(self_)](boost::system::error_code ec) {
    const auto self = weak.lock();
    if (ec || !self || *self == nullptr) return;
    (*self)->armed_for_ = Time::max();
    (*self)->run_due();
  });
}

}  // namespace hcpnet::runtime
