// SPDX-License-Identifier: Apache-2.0
#include "stack/lease_feed.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

namespace hcpnet {

struct LeaseFeed::Impl : std::enable_shared_from_this<LeaseFeed::Impl> {
  struct Waiting {
    std::uint64_t after = 0;
    Clock::SteadyTime until;
    Reply reply;
  };

  Impl(boost::asio::any_io_executor e, runtime::TimerQueue& t, LeaseFeedLimits l)
      : executor(std::move(e)), timers(t), limits(l) {}

  [[nodiscard]] Answer answer(std::uint64_t after) const;
  void answer_first();
  void answer_all();
  void on_time();
  void arm();

  boost::asio::any_io_executor executor;
  runtime::TimerQueue& timers;
  LeaseFeedLimits limits;
  std::uint64_t count = 0;  ///< events so far, kept or not
  std::deque<Event> kept;   ///< the last of them
  std::deque<Waiting> waiting;
  std::optional<Clock::SteadyTime> asleep_at;  ///< none: nobody asks
  std::optional<runtime::TimerQueue::Id> timer;
  bool is_answering = false;  ///< all will be answered at the end of this turn
};

LeaseFeed::LeaseFeed(boost::asio::any_io_executor executor, runtime::TimerQueue& timers, LeaseFeedLimits limits)
    : impl_(std::make_shared<Impl>(std::move(executor), timers, limits)) {}

LeaseFeed::~LeaseFeed() {
  if (impl_->timer) impl_->timers.cancel(*impl_->timer);
}

/// Who names a number that was never given has asked another process before.
LeaseFeed::Answer LeaseFeed::Impl::answer(std::uint64_t after) const {
  Answer out;
  out.last = count;
  const std::uint64_t wanted = after <= count ? count - after : count;
  const std::size_t known = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, kept.size()));
  out.missed = wanted - known;
  out.events.assign(kept.end() - static_cast<std::ptrdiff_t>(known), kept.end());
  return out;
}

void LeaseFeed::Impl::answer_first() {
  const Waiting first = std::move(waiting.front());
  waiting.pop_front();
  first.reply(answer(first.after));
}

/// What came in one turn of the event loop goes out in one answer.
void LeaseFeed::Impl::answer_all() {
  is_answering = false;
  for (std::size_t n = waiting.size(); n > 0 && !waiting.empty(); --n) answer_first();
}

void LeaseFeed::Impl::on_time() {
  timer.reset();
  const auto now = timers.now();
  while (!waiting.empty() && waiting.front().until <= now) answer_first();
  if (asleep_at && *asleep_at <= now && waiting.empty()) {
    asleep_at.reset();
    kept.clear();
  }
  arm();
}

void LeaseFeed::Impl::arm() {
  if (timer || !asleep_at) return;
  timer = timers.at(waiting.empty() ? *asleep_at : waiting.front().until, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_time();
  });
}

template <class AnyEvent>
void LeaseFeed::add_any(const AnyEvent& event) {
  Impl& impl = *impl_;
  ++impl.count;
  if (!impl.asleep_at) return;
  if (impl.kept.size() == impl.limits.max_kept) impl.kept.pop_front();
  impl.kept.push_back({std::chrono::floor<std::chrono::seconds>(impl.timers.clock().system_now()), event});
  if (impl.waiting.empty() || std::exchange(impl.is_answering, true)) return;
  boost::asio::post(impl.executor, [weak = std::weak_ptr(impl_)] {
    if (const auto self = weak.lock()) self->answer_all();
  });
}
template void LeaseFeed::add_any(const dhcp::LeaseEvent&);
template void LeaseFeed::add_any(const dhcp6::LeaseEvent&);

void LeaseFeed::ask(std::optional<std::uint64_t> after, Reply reply) {
  Impl& impl = *impl_;
  const auto now = impl.timers.now();
  impl.asleep_at = now + impl.limits.keep_awake;
  if (!after || *after != impl.count) {
    reply(impl.answer(after.value_or(impl.count)));
    return impl.arm();
  }
  if (impl.waiting.size() == impl.limits.max_waiting) impl.answer_first();
  impl.waiting.push_back({*after, now + impl.limits.wait, std::move(reply)});
  if (impl.timer) {  // it may be one that only means to fall asleep
    impl.timers.cancel(*impl.timer);
    impl.timer.reset();
  }
  impl.arm();
}

}  // namespace hcpnet
