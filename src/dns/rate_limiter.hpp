// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/dns/config.hpp>
#include <hcpnet/dns/responder.hpp>
#include <hcpnet/net.hpp>
#include <vector>

#include "dns/siphash.hpp"

namespace hcpnet::dns {

/// Response rate limiting: how many replies of one kind the clients of one network get over UDP, so that queries with
/// forged senders do not become a flood for the one they name.
///
/// One bucket of tokens for each IPv4 /24 or IPv6 /56 and kind of reply, which holds as many as a second brings. The
/// table has a fixed number of buckets, four for each hash; the one used least recently gives way. The hash is keyed:
/// nobody can choose networks that push each other out.
class RateLimiter {
 public:
  enum class Verdict : std::uint8_t {
    send,
    shorten,  ///< respond_with_less()
    drop,
  };

  RateLimiter(const RateLimit& limit, const SipKey& key);

  /// Counts one reply. `now_ms`: a clock that does not go back.
  [[nodiscard]] Verdict check(const IpAddress& client, ReplyKind kind, std::uint64_t now_ms) noexcept;
  [[nodiscard]] const RateLimit& limit() const noexcept { return limit_; }

 private:
  static constexpr std::size_t kWays = 4;
  struct Bucket {
    std::uint64_t hash = 0;  ///< 0: unused
    std::uint64_t filled_ms = 0;
    std::uint32_t millitokens = 0;
    std::uint32_t limited = 0;  ///< in a row
  };
  Bucket& find(std::uint64_t hash, std::uint64_t now_ms) noexcept;

  RateLimit limit_;
  SipKey key_;
  std::vector<Bucket> buckets_;
};

}  // namespace hcpnet::dns
