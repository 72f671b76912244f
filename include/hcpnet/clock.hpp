// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <functional>
#include <vector>

namespace hcpnet {

/// Time as the engines see it: they ask a Clock and never the system, so that a test can hold the time in its hand.
class Clock {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;
  using SystemTime = std::chrono::system_clock::time_point;

  virtual ~Clock() = default;
  /// Never goes back: for timeouts.
  [[nodiscard]] virtual SteadyTime steady_now() const = 0;
  /// The calendar: for what outlives the process, such as a lease's expiry.
  [[nodiscard]] virtual SystemTime system_now() const = 0;
  /// Calls `changed` on the caller's thread after each jump of a held clock; the system's clock never calls it. Used by
  /// timers.
  virtual void on_jump(std::function<void()> changed) = 0;
};

/// The clocks of the operating system. One object for the process; thread-safe.
[[nodiscard]] Clock& system_clock() noexcept;

/// A clock that moves only when it is told to. For tests; one thread.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(SystemTime start = SystemTime(std::chrono::seconds(1'700'000'000))) : system_(start) {}
  [[nodiscard]] SteadyTime steady_now() const override { return steady_; }
  [[nodiscard]] SystemTime system_now() const override { return system_; }
  void on_jump(std::function<void()> changed) override;
  /// Moves both readings forward and tells the timers.
  void advance(std::chrono::nanoseconds by);

 private:
  SteadyTime steady_{};
  SystemTime system_;
  std::vector<std::function<void()>> listeners_;
};

}  // namespace hcpnet
