// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <hcpnet/clock.hpp>
#include <map>
#include <memory>
#include <utility>

namespace hcpnet::runtime {

/// Deadlines of one worker, on a Clock that a test may hold.
///
/// All calls on the executor's thread. Callbacks run there too: from the event loop under the system's clock, or inside
/// ManualClock::advance(). A callback owns what it needs: engines hand in weak pointers.
class TimerQueue {
 public:
  using Time = Clock::SteadyTime;
  using Id = std::pair<Time, std::uint64_t>;  ///< names one pending deadline

  TimerQueue(boost::asio::any_io_executor executor, Clock& clock);
  ~TimerQueue();
  TimerQueue(const TimerQueue&) = delete;
  TimerQueue& operator=(const TimerQueue&) = delete;

  Id at(Time deadline, std::function<void()> callback);
  Id after(std::chrono::nanoseconds delay, std::function<void()> callback);
  /// Does nothing when it has already run.
  void cancel(const Id& id);
  [[nodiscard]] std::size_t size() const noexcept { return pending_.size(); }
  [[nodiscard]] Time now() const { return clock_.steady_now(); }
  [[nodiscard]] Clock& clock() const noexcept { return clock_; }

 private:
  void run_due();
  void arm();

  Clock& clock_;
  boost::asio::steady_timer timer_;
  std::map<Id, std::function<void()>> pending_;
  Time armed_for_ = Time::max();       ///< when the event loop wakes up; the first deadline may be later
  std::uint64_t next_ = 1;             ///< so that a default Id names no deadline
  std::shared_ptr<TimerQueue*> self_;  ///< emptied by the destructor; late wake-ups find null
};

}  // namespace hcpnet::runtime
