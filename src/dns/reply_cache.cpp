// SPDX-License-Identifier: Apache-2.0
#include "dns/reply_cache.hpp"

#include <chrono>
#include <cstring>

namespace hcpnet::dns {
namespace {

/// What the containers need beside the entry itself.
constexpr std::size_t kOverheadBytes = 160;

}  // namespace

std::string make_cache_key(const Query& query) {
  std::string key(as_text(query.name.wire()));
  const auto type = static_cast<std::uint16_t>(query.type);
  const bool checking_disabled = (query.flags & flag::kCheckingDisabled) != 0;
  key += {static_cast<char>(type >> 8), static_cast<char>(type),
          static_cast<char>((query.dnssec_ok ? 1 : 0) | (checking_disabled ? 2 : 0))};
  return key;
}

std::uint32_t ReplyCache::Entry::age_seconds(Time now) const noexcept {
  return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(now - stored).count());
}

ReplyCache::ReplyCache(std::size_t max_bytes, std::uint64_t seed) : max_bytes_(max_bytes), index_(16, Hash{seed}) {}

std::size_t ReplyCache::Hash::operator()(std::string_view key) const noexcept {
  std::uint64_t hash = seed;
  while (!key.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = key.size() < 8 ? key.size() : 8;
    std::memcpy(&word, key.data(), size);
    key.remove_prefix(size);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29 ^ seed;
  }
  return hash ^ hash >> 32;
}

ReplyCache::Entry* ReplyCache::find(std::string_view key, Time now) {
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  if (found->second->entry.gone <= now) {
    erase(found->second);
    return nullptr;
  }
  order_.splice(order_.begin(), order_, found->second);
  return &found->second->entry;
}

void ReplyCache::put(std::string key, Entry entry) {
  if (const auto found = index_.find(key); found != index_.end()) erase(found->second);
  const std::size_t bytes = kOverheadBytes + key.capacity() + (entry.reply ? entry.reply->memory_bytes() : 0);
  if (bytes > max_bytes_) return;
  for (; bytes_ + bytes > max_bytes_; ++evictions_) erase(std::prev(order_.end()));
  order_.push_front({std::move(key), std::move(entry), bytes});
  index_.emplace(order_.front().key, order_.begin());
  bytes_ += bytes;
}

void ReplyCache::erase(Order::iterator item) {
  index_.erase(item->key);
  bytes_ -= item->bytes;
  order_.erase(item);
}

}  // namespace hcpnet::dns
