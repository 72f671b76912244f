// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <span>

#include "dns/query.hpp"

namespace hcpnet::dns {

enum class Section : std::uint8_t { answer, authority };

/// Writes the reply to a query into a buffer: header, question as sent, whole records as long as they fit, OPT if the query had one.
class ReplyWriter {
 public:
  static constexpr std::size_t kOptBytes = 11;

  ReplyWriter(const Query& query, Transport transport, std::span<std::uint8_t> out) noexcept;

  /// One record whose owner stands at `owner_at` in this message. False, and TC from now on, when it does not fit.
  bool add(Section section, std::size_t owner_at, Type type, std::uint32_t ttl, ByteView rdata) noexcept;
  /// Where the RDATA of the last record begins.
  [[nodiscard]] std::size_t rdata_at() const noexcept { return rdata_at_; }
  void set_authoritative() noexcept { flags_ |= flag::kAuthoritative; }
  void set_recursion_available() noexcept { flags_ |= flag::kRecursionAvailable; }
  void set_truncated() noexcept { flags_ |= flag::kTruncated; }
  /// Takes back every record.
  void clear() noexcept;

  /// Completes the message and returns its size.
  [[nodiscard]] std::size_t finish(Rcode rcode) noexcept;

 private:
  const Query& query_;
  std::span<std::uint8_t> out_;
  ByteWriter writer_;
  std::uint16_t flags_;
  std::uint16_t counts_[2] = {0, 0};
  std::size_t rdata_at_ = 0;
};

}  // namespace hcpnet::dns
