// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <functional>
#include <hcpnet/net.hpp>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace hcpnet::dhcp {

/// Which address to look at next, and when.
///
/// An address has one entry as long as its time only moves away: a renewal touches nothing; when the entry comes up
/// early it is put back. The owner keeps each address's time of waking beside the address, so that an entry which lost
/// its meaning is recognised.
class DueQueue {
 public:
  using Time = std::chrono::sys_seconds;

  void push(Time at, Ipv4 address) { queue_.push({at, address}); }
  [[nodiscard]] std::optional<Time> next() const {
    if (queue_.empty()) return std::nullopt;
    return queue_.top().first;
  }
  std::pair<Time, Ipv4> pop() {
    const auto top = queue_.top();
    queue_.pop();
    return top;
  }

 private:
  using Entry = std::pair<Time, Ipv4>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

}  // namespace hcpnet::dhcp
