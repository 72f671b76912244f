// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/ra/schedule.hpp>
#include <utility>

namespace hcpnet::ra {

Schedule::Schedule(Time start, std::function<double()> random, ScheduleLimits limits)
    : random_(std::move(random)), limits_(limits), next_(start) {}

std::chrono::nanoseconds Schedule::random(std::chrono::nanoseconds from, std::chrono::nanoseconds to) const {
  return from + std::chrono::duration_cast<std::chrono::nanoseconds>((to - from) * random_());
}

// RFC 4861 section 6.2.6
void Schedule::on_solicitation(Time now) {
  const Time earliest = last_ ? std::max(now, *last_ + limits_.min_delay) : now;
  next_ = std::min(next_, earliest + random(std::chrono::nanoseconds(0), limits_.max_answer));
}

// RFC 4861 section 6.2.4
void Schedule::on_sent(Time now) {
  last_ = now;
  std::chrono::nanoseconds interval = random(limits_.min_interval, limits_.max_interval);
  if (++sent_ < limits_.initial_count)
    interval = std::min<std::chrono::nanoseconds>(interval, limits_.initial_interval);
  next_ = now + interval;
}

}  // namespace hcpnet::ra
