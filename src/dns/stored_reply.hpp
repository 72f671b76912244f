// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/responder.hpp>
#include <optional>
#include <span>
#include <vector>

#include "dns/query.hpp"

namespace hcpnet::dns {

/// What the TTLs of an upstream's reply are brought into.
struct TtlBounds {
  std::uint32_t min = 0;  ///< for positive answers
  std::uint32_t max = 86400;
};

/// An upstream's reply, checked and written anew, ready to be given to any client that asks the same question.
///
/// Nothing of the upstream's own bytes survives: counts, pointers, header flags and OPT are ours. Immutable.
class StoredReply {
 public:
  /// No TTL is given out that is longer than this (RFC 8767 section 4).
  static constexpr std::uint32_t kMaxTtl = 86400;
  static constexpr std::uint32_t kMaxNegativeTtl = 3600;
  /// In a stale answer (RFC 8767 section 4).
  static constexpr std::uint32_t kStaleTtl = 30;

  /// nullopt when it does not fit into a message. Precondition: one question; an RCODE below 16.
  [[nodiscard]] static std::optional<StoredReply> make(Message reply, TtlBounds bounds = {});

  /// Writes the reply to `query`, whose question is the same but for case, with TTLs `age_seconds` shorter. Returns its
  /// size.
  [[nodiscard]] std::size_t render(const Query& query, Transport transport, std::uint32_t age_seconds,
                                   std::span<std::uint8_t> out) const noexcept;
  /// The same once its time is over: every TTL is kStaleTtl.
  [[nodiscard]] std::size_t render_stale(const Query& query, Transport transport,
                                         std::span<std::uint8_t> out) const noexcept;

  /// For how long it may be given out, in seconds; 0: only to those who wait for it now.
  [[nodiscard]] std::uint32_t lifetime_seconds() const noexcept { return lifetime_seconds_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  struct Place {
    std::uint16_t ttl_at;
    std::uint16_t end;
    std::uint8_t section;
  };

  template <class SetTtl>
  std::size_t write(const Query& query, Transport transport, std::span<std::uint8_t> out,
                    SetTtl set_ttl) const noexcept;

  std::vector<std::uint8_t> message_;
  std::vector<Place> records_;
  Rcode rcode_ = Rcode::noerror;
  std::uint32_t lifetime_seconds_ = 0;
};

}  // namespace hcpnet::dns
