// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <hcpnet/clock.hpp>
#include <utility>

namespace hcpnet::proxy {

/// How many directions of one worker move bulk data at the same time: those that filled a buffer within the last period
/// or this one. One thread.
class BulkMeter {
 public:
  static constexpr std::chrono::milliseconds kPeriod{100};  ///< in which each of many has a turn of a millisecond

  /// A direction filled a buffer. `mark` belongs to it, and begins as 0.
  void note(std::uint32_t& mark, Clock::SteadyTime now) noexcept {
    if (now >= end_) begin_period(now);
    if (std::exchange(mark, period_) != period_) ++current_;
  }
  [[nodiscard]] std::uint32_t streams() const noexcept { return std::max(previous_, current_); }

 private:
  void begin_period(Clock::SteadyTime now) noexcept {
    previous_ = now < end_ + kPeriod ? current_ : 0;
    current_ = 0;
    ++period_;
    end_ = now + kPeriod;
  }
  Clock::SteadyTime end_{};
  std::uint32_t period_ = 0;
  std::uint32_t current_ = 0;
  std::uint32_t previous_ = 0;
};

}  // namespace hcpnet::proxy
