// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <span>
#include <vector>

#include "dns/query.hpp"

namespace hcpnet::dns {

/// A query whose answer begins with aliases of our zones and ends at a name of none: the second question, and what
/// becomes of both answers.
class AliasQuery {
 public:
  /// `aliases`: a reply of ours whose answer section ends with a CNAME.
  AliasQuery(ByteView query, ByteView aliases, Transport transport);
  AliasQuery(AliasQuery&&) noexcept = default;
  AliasQuery(const AliasQuery&) = delete;
  AliasQuery& operator=(const AliasQuery&) = delete;

  /// The question for the target, as the client would ask it.
  [[nodiscard]] ByteView bytes() const noexcept { return question_; }
  [[nodiscard]] const Query& query() const noexcept { return query_; }
  /// Writes our aliases and what an upstream said of their target; returns the size. The aliases alone, or not even
  /// they, with TC where that is more than the client takes (RFC 2181 section 9), or SERVFAIL where no client could.
  /// `out` has room for kMinUdpBytes.
  [[nodiscard]] std::size_t complete(ByteView reply, std::span<std::uint8_t> out) const;

 private:
  [[nodiscard]] std::vector<std::uint8_t> aliases_within(std::size_t room) const;

  std::size_t max_bytes_ = 0;
  std::vector<std::uint8_t> aliases_;
  std::vector<std::uint8_t> question_;
  Query query_;  ///< refers to question_
};

}  // namespace hcpnet::dns
