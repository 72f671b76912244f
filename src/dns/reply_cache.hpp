// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "dns/stored_reply.hpp"

namespace hcpnet::dns {

/// What a cached reply is found by: the question in lower case, and the flags that change the reply.
[[nodiscard]] std::string make_cache_key(const Query& query);

/// Replies of upstreams, and failures to get one, each until its time; the least recently used go first when bytes run
/// out.
class ReplyCache {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Entry {
    std::shared_ptr<const StoredReply> reply;  ///< null: no upstream had an answer (RFC 9520)
    Time stored;
    Time expires;
    Time gone = expires;  ///< until then it is kept: between the two it is stale (RFC 8767)
    Time retry = stored;  ///< a stale entry is used without asking before this
    std::uint32_t uses = 0;
    [[nodiscard]] bool is_fresh(Time now) const noexcept { return now < expires; }
    [[nodiscard]] std::uint32_t age_seconds(Time now) const noexcept;
  };

  /// `seed` keeps strangers from choosing names that collide.
  ReplyCache(std::size_t max_bytes, std::uint64_t seed);

  /// The entry if it is kept at `now`, fresh or stale; valid until the next call.
  [[nodiscard]] Entry* find(std::string_view key, Time now);
  /// Replaces what is there. Not stored when it alone is larger than the cache.
  void put(std::string key, Entry entry);

  [[nodiscard]] std::size_t entries() const noexcept { return order_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t evictions() const noexcept { return evictions_; }

 private:
  struct Item {
    std::string key;
    Entry entry;
    std::size_t bytes;
  };
  using Order = std::list<Item>;  ///< most recently used first
  struct Hash {
    std::uint64_t seed;
    std::size_t operator()(std::string_view key) const noexcept;
  };
  void erase(Order::iterator item);

  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::uint64_t evictions_ = 0;
  Order order_;
  std::unordered_map<std::string_view, Order::iterator, Hash> index_;
};

}  // namespace hcpnet::dns
