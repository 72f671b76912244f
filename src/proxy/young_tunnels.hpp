// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/intrusive/list.hpp>
#include <chrono>

#include "runtime/timer_queue.hpp"

namespace hcpnet::proxy {

/// A tunnel that may be told that it is young no longer. Leaves the list with its end, or earlier.
class YoungTunnel
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  virtual void grow_up() noexcept = 0;

 protected:
  virtual ~YoungTunnel() = default;

 private:
  friend class YoungTunnels;
  Clock::SteadyTime grown_at_;
};

/// The tunnels of a worker that have not lasted a second. Most never do: what is of use only later, such as keepalive,
/// is left until then, and its system calls are spared. One timer for all. One thread.
class YoungTunnels {
 public:
  static constexpr std::chrono::seconds kYouth{1};

  /// The timers must outlive it.
  explicit YoungTunnels(runtime::TimerQueue& timers) : timers_(timers) {}
  ~YoungTunnels() { rest(); }
  YoungTunnels(const YoungTunnels&) = delete;
  YoungTunnels& operator=(const YoungTunnels&) = delete;

  void add(YoungTunnel& tunnel) {
    tunnel.grown_at_ = timers_.now() + kYouth;
    tunnels_.push_back(tunnel);
    if (!is_armed_) arm();
  }
  /// There are no tunnels, and there will be none: the event loop has nothing to wait for.
  void rest() {
    timers_.cancel(timer_);
    is_armed_ = false;
  }

 private:
  void arm() {
    timer_ = timers_.at(tunnels_.front().grown_at_, [this] { on_time(); });
    is_armed_ = true;
  }
  void on_time() {
    is_armed_ = false;
    while (!tunnels_.empty() && tunnels_.front().grown_at_ <= timers_.now()) {
      YoungTunnel& grown = tunnels_.front();
      tunnels_.pop_front();
      grown.grow_up();
    }
    if (!tunnels_.empty()) arm();
  }

  runtime::TimerQueue& timers_;
  boost::intrusive::list<YoungTunnel, boost::intrusive::constant_time_size<false>> tunnels_;  ///< the oldest first
  runtime::TimerQueue::Id timer_{};
  bool is_armed_ = false;
};

}  // namespace hcpnet::proxy
