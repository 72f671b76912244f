// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/message.hpp>
#include <span>
#include <vector>

#include "dns/query.hpp"

namespace hcpnet::dns {

/// A query whose answer begins with aliases and ends at a name that is for others to answer: the second question, and
/// what becomes of both answers.
class AliasQuery {
 public:
  /// `aliases`: a reply whose answer section ends with a CNAME.
  AliasQuery(ByteView query, ByteView aliases, Transport transport);
  /// Where the reply to bytes() leads further in turn.
  [[nodiscard]] AliasQuery then(ByteView aliases) const;
  AliasQuery(AliasQuery&&) noexcept = default;
  AliasQuery(const AliasQuery&) = delete;
  AliasQuery& operator=(const AliasQuery&) = delete;

  /// The question for the target, as the client would ask it.
  [[nodiscard]] ByteView bytes() const noexcept { return question_; }
  [[nodiscard]] const Query& query() const noexcept { return query_; }
  /// Writes the aliases and what is said of their target, which may be nothing; returns the size. The aliases alone, or
  /// not even they, with TC where that is more than the client takes (RFC 2181 section 9), or SERVFAIL where no client
  /// could. `out` has room for kMinUdpBytes.
  [[nodiscard]] std::size_t complete(ByteView reply, std::span<std::uint8_t> out) const;

 private:
  [[nodiscard]] std::vector<std::uint8_t> aliases_within(std::size_t room) const;

  std::size_t max_bytes_ = 0;
  Message aliases_;
  std::vector<std::uint8_t> question_;
  Query query_;  ///< refers to question_
};

}  // namespace hcpnet::dns
