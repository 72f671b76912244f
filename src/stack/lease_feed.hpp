// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <hcpnet/clock.hpp>
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/dhcp6/lease.hpp>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "runtime/timer_queue.hpp"

namespace hcpnet {

struct LeaseFeedLimits {
  std::size_t max_kept = 4096;          ///< events; older ones are missed by who was slow
  std::size_t max_waiting = 32;         ///< questions; one more answers the one that has waited longest
  std::chrono::seconds wait{5};         ///< for an event to come; then the answer has none
  std::chrono::seconds keep_awake{60};  ///< after the last question events are kept no longer
};

/// What happens to leases, for those who ask again and again. Costs nothing while nobody does.
///
/// Events have numbers, from 1. All calls on one thread, inside an io_context that `timers` belongs to.
class LeaseFeed {
 public:
  struct Event {
    std::chrono::sys_seconds time{};
    std::variant<dhcp::LeaseEvent, dhcp6::LeaseEvent> what;
  };
  struct Answer {
    std::uint64_t last = 0;    ///< number of the last event that there was: to be named in the next question
    std::uint64_t missed = 0;  ///< events that are no longer known
    std::vector<Event> events;
  };
  using Reply = std::function<void(const Answer&)>;

  LeaseFeed(boost::asio::any_io_executor executor, runtime::TimerQueue& timers, LeaseFeedLimits limits = {});
  ~LeaseFeed();
  LeaseFeed(const LeaseFeed&) = delete;
  LeaseFeed& operator=(const LeaseFeed&) = delete;

  void add(const dhcp::LeaseEvent& event) { add_any(event); }
  void add(const dhcp6::LeaseEvent& event) { add_any(event); }
  /// Events after number `after`, at once or when one comes. Without `after` at once, with none: to begin with.
  void ask(std::optional<std::uint64_t> after, Reply reply);

 private:
  struct Impl;
  template <class AnyEvent>
  void add_any(const AnyEvent& event);
  std::shared_ptr<Impl> impl_;
};

}  // namespace hcpnet
