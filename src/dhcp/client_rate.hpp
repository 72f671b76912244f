// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/net.hpp>
#include <vector>

namespace hcpnet::dhcp {

/// How many messages each client may send: one bucket of tokens per hardware address.
///
/// The table has a fixed size. Of two clients that meet in one place the later one takes it over with a full bucket: a
/// client may get more than its share that way, never less.
class ClientRateLimiter {
 public:
  using Time = std::chrono::sys_seconds;

  ClientRateLimiter(const ClientRateLimit& limit, std::size_t max_clients) : limit_(limit), buckets_(max_clients) {}

  [[nodiscard]] bool has_limit(const ClientRateLimit& limit) const noexcept {
    return limit.messages_per_second == limit_.messages_per_second && limit.burst == limit_.burst;
  }
  /// Counts one message. False: it is one too many.
  [[nodiscard]] bool admit(const MacAddress& mac, Time now) noexcept {
    Bucket& bucket = buckets_[std::hash<MacAddress>()(mac) % buckets_.size()];
    if (bucket.mac != mac) {
      bucket = {mac, limit_.burst, now};
    } else if (now > bucket.filled) {
      const auto seconds = static_cast<std::uint64_t>((now - bucket.filled).count());
      const std::uint64_t tokens = bucket.tokens + seconds * limit_.messages_per_second;
      bucket.tokens = static_cast<std::uint32_t>(std::min<std::uint64_t>(tokens, limit_.burst));
      bucket.filled = now;
    }
    if (bucket.tokens == 0) return false;
    --bucket.tokens;
    return true;
  }

 private:
  struct Bucket {
    MacAddress mac;
    std::uint32_t tokens = 0;
    Time filled{};
  };
  ClientRateLimit limit_;
  std::vector<Bucket> buckets_;
};

}  // namespace hcpnet::dhcp
