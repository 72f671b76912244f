// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/clock.hpp>
#include <utility>

namespace hcpnet {
namespace {

class SystemClock final : public Clock {
 public:
  SteadyTime steady_now() const override { return std::chrono::steady_clock::now(); }
  SystemTime system_now() const override { return std::chrono::system_clock::now(); }
  void on_jump(std::function<void()>) override {}
};

}  // namespace

Clock& system_clock() noexcept {
  static SystemClock clock;
  return clock;
}

void ManualClock::on_jump(std::function<void()> changed) {
  listeners_.push_back(std::move(changed));
}

void ManualClock::advance(std::chrono::nanoseconds by) {
  steady_ += std::chrono::duration_cast<SteadyTime::duration>(by);
  system_ += std::chrono::duration_cast<SystemTime::duration>(by);
  for (const auto& changed : listeners_) changed();
}

}  // namespace hcpnet
