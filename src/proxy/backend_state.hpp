// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <hcpnet/clock.hpp>
#include <hcpnet/proxy/engine.hpp>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace hcpnet::proxy {

using Counter = std::atomic<std::uint64_t>;

/// One address of a backend, as all workers see it: its load and whether it can be trusted.
class EndpointState {
 public:
  explicit EndpointState(const Endpoint& endpoint) : address(endpoint) {}

  const Endpoint address;
  Counter total = 0;
  Counter active = 0;
  Counter failures = 0;

  void on_success() noexcept { failures_in_row_ = 0; }
  /// True when this failure ejects it.
  bool on_failure(const Ejection& ejection, Clock::SteadyTime now) noexcept;
  /// One health check ended. Returns true when the endpoint's health changed.
  bool on_check(const HealthCheck& check, bool is_good) noexcept;

  [[nodiscard]] bool is_healthy() const noexcept { return is_healthy_; }
  [[nodiscard]] bool is_ejected(Clock::SteadyTime now) const noexcept {
    return now.time_since_epoch() < ejected_until_.load();
  }
  [[nodiscard]] bool is_usable(Clock::SteadyTime now) const noexcept { return is_healthy_ && !is_ejected(now); }
  void forget_health() noexcept { is_healthy_ = true; }

 private:
  std::atomic<bool> is_healthy_ = true;
  std::atomic<unsigned> failures_in_row_ = 0;
  std::atomic<unsigned> ejections_ = 0;
  std::atomic<Clock::SteadyTime::duration> ejected_until_ = Clock::SteadyTime::min().time_since_epoch();
  // Of the one thread that checks.
  unsigned good_checks_ = 0;
  unsigned bad_checks_ = 0;
  bool is_checked_ = false;
};

/// What the connections to one backend share, over workers and tables. Thread-safe.
class BackendState {
 public:
  explicit BackendState(std::string backend) : name(std::move(backend)) {}

  const std::string name;
  Counter total = 0;
  Counter active = 0;
  Counter connect_failures = 0;
  Counter connect_timeouts = 0;
  Counter limit_refused = 0;
  Counter bytes_to_backend = 0;
  Counter bytes_to_client = 0;
  Counter health_checks = 0;
  Counter health_check_failures = 0;
  Counter health_checks_left_out = 0;
  Counter ejections = 0;

  using Candidates = std::vector<std::shared_ptr<EndpointState>>;
  /// At most `count` of `endpoints`, in the order in which to try them: what can be trusted first, balanced as the
  /// backend says, families in turn. `turn` is the number of this connection, `random` any number.
  [[nodiscard]] Candidates choose(const Backend& backend, std::span<const Endpoint> endpoints, std::size_t count,
                                  Clock::SteadyTime now, std::uint64_t turn, std::uint64_t random);
  /// No check says any more how the endpoints are.
  void forget_health();
  [[nodiscard]] std::shared_ptr<EndpointState> endpoint(const Endpoint& address);
  /// These are all that there are now. Of the others those are forgotten that nobody uses; no check says any more how
  /// the rest of them is.
  void retain(std::span<const Endpoint> addresses);
  [[nodiscard]] EngineStats::PerBackend stats(Clock::SteadyTime now) const;

 private:
  [[nodiscard]] std::shared_ptr<EndpointState> find_or_add(const Endpoint& address);

  /// Addresses that nobody uses are forgotten beyond this: names may resolve to ever new ones.
  static constexpr std::size_t kMaxIdleEndpoints = 256;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<EndpointState>> endpoints_;
};

}  // namespace hcpnet::proxy
