// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <hcpnet/clock.hpp>
#include <hcpnet/proxy/engine.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/timer_queue.hpp"

namespace hcpnet::proxy {

/// The system's resolver as a Resolve. Its look-ups run on a thread of Asio's; answers arrive on the executor.
[[nodiscard]] Resolve make_system_resolve(const boost::asio::any_io_executor& executor);

/// Endpoints of backends that are given by host name. An answer is fresh for its time to live; callers who come while a
/// look-up runs share it. When one fails, or takes long, the last good answer goes on being used (RFC 8767). That a
/// name stands for nothing is an answer, too, and the last one (see Resolved). Bounded by the names of the route table
/// (see retain). One thread.
class NameCache : public std::enable_shared_from_this<NameCache> {
 public:
  /// After a failed look-up the old answer is used this long before the next try; no answer is fresh for less.
  static constexpr std::chrono::seconds kLeastTime{1};
  /// No answer is fresh for longer.
  static constexpr std::chrono::seconds kMostTime{3600};
  /// An answer whose time is over is used for so long while there is no other (RFC 8767 section 5: one to three days).
  static constexpr std::chrono::hours kMostStale{24};
  /// How long a caller waits for a new answer before it gets the old one.
  static constexpr std::chrono::milliseconds kPatience{1'800};
  /// Callers of one look-up; further ones fail at once, and count as failures.
  static constexpr std::size_t kMaxWaiting = 10'000;

  /// `fresh_for`: of answers without a time to live. The timers must outlive the cache.
  NameCache(Resolve resolve, runtime::TimerQueue& timers, std::chrono::milliseconds fresh_for)
      : resolve_(std::move(resolve)), timers_(timers), fresh_for_(fresh_for) {}

  /// Calls `resolved` once; at once when the answer is known. Never with an empty list.
  void resolve(const std::string& host, std::uint16_t port, Resolved resolved);
  /// Forgets who waits, without a call: what they hold would otherwise hold the cache in turn. Before the end.
  void cancel() noexcept;
  /// Forgets the names that no backend of `config` uses.
  void retain(const RouteConfig& config);
  [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }
  [[nodiscard]] std::uint64_t stale_answers() const noexcept { return stale_answers_; }

 private:
  using Key = std::pair<std::string, std::uint16_t>;
  struct Entry {
    std::vector<Endpoint> endpoints;
    Clock::SteadyTime fresh_until{};
    Clock::SteadyTime usable_until{};  ///< stale or not
    bool is_asked = false;             ///< a look-up runs
    std::vector<Resolved> waiting;     ///< for its end
  };
  void ask(const Key& key);
  void on_answer(const Key& key, Result<Resolution> answer);
  void lose_patience(const Key& key);
  void serve(Entry& entry, const error_code& failure);

  Resolve resolve_;
  runtime::TimerQueue& timers_;
  std::chrono::milliseconds fresh_for_;
  std::map<Key, Entry> entries_;
  std::uint64_t failures_ = 0;
  std::uint64_t stale_answers_ = 0;
};

}  // namespace hcpnet::proxy
