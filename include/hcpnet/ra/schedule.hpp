// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <functional>
#include <optional>

namespace hcpnet::ra {

/// RFC 4861 sections 6.2.1 and 10.
struct ScheduleLimits {
  std::chrono::milliseconds min_interval{200'000}, max_interval{600'000};  ///< between unsolicited advertisements
  std::chrono::milliseconds initial_interval{16'000};                      ///< at most, after the first ones
  unsigned initial_count = 3;
  std::chrono::milliseconds min_delay{3'000};  ///< between any two advertisements
  std::chrono::milliseconds max_answer{500};   ///< a solicitation waits no longer, unless for min_delay
};

/// When the advertisements of one link are due: all go to every host, so that a crowd of solicitations costs one.
/// Pure; the time must not go back.
class Schedule {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// `random` yields numbers from 0 up to, not including, 1.
  Schedule(Time start, std::function<double()> random, ScheduleLimits limits = {});

  [[nodiscard]] Time next() const noexcept { return next_; }
  void on_solicitation(Time now);
  void on_sent(Time now);

 private:
  [[nodiscard]] std::chrono::nanoseconds random(std::chrono::nanoseconds from, std::chrono::nanoseconds to) const;

  std::function<double()> random_;
  ScheduleLimits limits_;
  Time next_;
  std::optional<Time> last_;
  unsigned sent_ = 0;
};

}  // namespace hcpnet::ra
