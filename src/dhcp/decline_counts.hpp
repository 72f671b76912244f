// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

namespace hcpnet::dhcp {

/// How many of the addresses that rest each client has declined: one that declines whatever it gets would use up the
/// pool. A client is known by a key, which the owner makes. The time must not go back.
class DeclineCounts {
 public:
  using Time = std::chrono::sys_seconds;

  /// `hold`: how long an address rests.
  explicit DeclineCounts(std::chrono::seconds hold) : hold_(hold) {}

  [[nodiscard]] std::size_t count(const std::string& client, Time now) {
    for (; !ends_.empty() && ends_.front().first <= now; ends_.pop_front()) {
      const auto over = counts_.find(ends_.front().second);
      if (--over->second == 0) counts_.erase(over);
    }
    const auto found = counts_.find(client);
    return found == counts_.end() ? 0 : found->second;
  }
  void add(std::string client, Time now) {
    ++counts_[client];
    ends_.emplace_back(now + hold_, std::move(client));
  }

 private:
  std::chrono::seconds hold_;
  std::deque<std::pair<Time, std::string>> ends_;  // ascending: all rest for the same time
  std::unordered_map<std::string, std::size_t> counts_;
};

}  // namespace hcpnet::dhcp
