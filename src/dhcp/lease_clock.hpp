// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/clock.hpp>

namespace hcpnet::dhcp {

/// In seconds since 1970, the year 2255: what is stored of a lease is no time beyond it. Clocks and timers count
/// nanoseconds, and can't wait for much more.
inline constexpr std::int64_t kLastLeaseTime = 9'000'000'000;

/// The time of leases: the calendar at the start of the process, from then on the steady clock. Clients count their
/// leases on steady clocks too, so a calendar that is put right meanwhile neither ends leases early nor makes them
/// longer.
class LeaseClock {
 public:
  explicit LeaseClock(const Clock& clock)
      : clock_(clock), system_start_(clock.system_now()), steady_start_(clock.steady_now()) {}
  /// now() is rounded down: what ends in the second that it tells may still last for less than this.
  static constexpr std::chrono::seconds kRounding{1};

  /// Never goes back.
  [[nodiscard]] std::chrono::sys_seconds now() const {
    return std::chrono::floor<std::chrono::seconds>(system_start_ + (clock_.steady_now() - steady_start_));
  }
  /// By how much the calendar is ahead of now(): it may have been put right since the start.
  [[nodiscard]] std::chrono::seconds calendar_lead() const {
    return std::chrono::round<std::chrono::seconds>(clock_.system_now() -
                                                    (system_start_ + (clock_.steady_now() - steady_start_)));
  }

 private:
  const Clock& clock_;
  Clock::SystemTime system_start_;
  Clock::SteadyTime steady_start_;
};

}  // namespace hcpnet::dhcp
