// SPDX-License-Identifier: Apache-2.0
#include "dns/rate_limiter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

namespace hcpnet::dns {
namespace {

constexpr std::uint32_t kToken = 1000;  // a token in the unit of the buckets
constexpr std::size_t kIpv4PrefixBytes = 3;
constexpr std::size_t kIpv6PrefixBytes = 7;

std::uint64_t hash_of(const SipKey& key, const IpAddress& client, ReplyKind kind) noexcept {
  std::array<std::uint8_t, 2 + kIpv6PrefixBytes> input;
  ByteWriter writer(input);
  writer.u8(static_cast<std::uint8_t>(kind));
  writer.u8(client.is_v4() ? 4 : 6);
  if (client.is_v4())
    writer.bytes(ByteView(client.v4().bytes()).first(kIpv4PrefixBytes));
  else
    writer.bytes(ByteView(client.v6().bytes()).first(kIpv6PrefixBytes));
  return siphash24(key, writer.written()) | 1;  // never 0, the mark of an unused bucket
}

}  // namespace

RateLimiter::RateLimiter(const RateLimit& limit, const SipKey& key)
    : limit_(limit), key_(key), buckets_(std::bit_ceil(std::max(limit.max_buckets, kWays))) {}

RateLimiter::Bucket& RateLimiter::find(std::uint64_t hash, std::uint64_t now_ms) noexcept {
  const std::size_t sets = buckets_.size() / kWays;
  const auto set = std::span(buckets_).subspan((hash >> 1 & (sets - 1)) * kWays, kWays);
  const auto known = std::ranges::find(set, hash, &Bucket::hash);
  if (known != set.end()) return *known;
  Bucket& oldest = *std::ranges::min_element(set, {}, &Bucket::filled_ms);
  oldest = {hash, now_ms, limit_.responses_per_second * kToken, 0};
  return oldest;
}

RateLimiter::Verdict RateLimiter::check(const IpAddress& client, ReplyKind kind, std::uint64_t now_ms) noexcept {
  Bucket& bucket = find(hash_of(key_, client, kind), now_ms);
  const std::uint64_t full = std::uint64_t{limit_.responses_per_second} * kToken;
  const std::uint64_t elapsed = std::min<std::uint64_t>(now_ms - std::min(now_ms, bucket.filled_ms), kToken);
  bucket.millitokens =
      static_cast<std::uint32_t>(std::min(full, bucket.millitokens + elapsed * limit_.responses_per_second));
  bucket.filled_ms = now_ms;
  if (bucket.millitokens >= kToken) {
    bucket.millitokens -= kToken;
    bucket.limited = 0;
    return Verdict::send;
  }
  ++bucket.limited;
  return limit_.slip != 0 && bucket.limited % limit_.slip == 0 ? Verdict::shorten : Verdict::drop;
}

}  // namespace hcpnet::dns
