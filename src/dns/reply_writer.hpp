// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <span>

#include "dns/query.hpp"
#include "dns/zone_store.hpp"

namespace hcpnet::dns {

inline constexpr std::size_t kOptBytes = 11;

/// How many records the answer, authority and additional section hold; OPT not counted.
using SectionCounts = std::array<std::uint16_t, 3>;

/// How much of `out` a reply to `query` may take before its OPT record.
[[nodiscard]] std::size_t room_for_records(const Query& query, Transport transport, std::size_t out_bytes) noexcept;

/// Puts header, question and OPT record around records that end at `size`. `flags` come on top of those copied from the
/// query. Returns the size of the reply.
[[nodiscard]] std::size_t complete_reply(const Query& query, std::uint16_t flags, Rcode rcode,
                                         const SectionCounts& counts, std::span<std::uint8_t> out,
                                         std::size_t size) noexcept;

enum class Section : std::uint8_t { answer, authority, additional };

/// Writes the reply to a query into a buffer: whole records as long as they fit.
class ReplyWriter {
 public:
  ReplyWriter(const Query& query, Transport transport, std::span<std::uint8_t> out) noexcept;

  /// Of a record, besides owner and RDATA.
  static constexpr std::size_t kFixedBytes = 10;

  /// One record whose owner stands at `owner_at` in this message. False, and TC from now on, when it does not fit.
  bool add(Section section, std::size_t owner_at, Type type, std::uint32_t ttl, ByteView rdata) noexcept;
  /// The same with the owner in full.
  bool add_named(Section section, ByteView owner, Type type, std::uint32_t ttl, ByteView rdata) noexcept;
  /// A whole RRset of class IN, whose owner stands at `owner_at`, or as much of it as fits: then false, and TC.
  bool add(Section section, std::size_t owner_at, const StoredRRset& rrset) noexcept;
  /// What records may still take.
  [[nodiscard]] std::size_t room() const noexcept { return writer_.capacity() - writer_.size(); }
  /// Where the RDATA of the record, or of the first of the RRset, that was added last begins.
  [[nodiscard]] std::size_t rdata_at() const noexcept { return rdata_at_; }
  void set_authoritative() noexcept { flags_ |= flag::kAuthoritative; }
  void clear_authoritative() noexcept { flags_ = static_cast<std::uint16_t>(flags_ & ~flag::kAuthoritative); }
  void set_truncated() noexcept { flags_ |= flag::kTruncated; }
  void set_recursion_available() noexcept { flags_ |= flag::kRecursionAvailable; }
  /// Takes back every record, and what was said of them.
  void clear() noexcept;

  /// Completes the message and returns its size.
  [[nodiscard]] std::size_t finish(Rcode rcode) noexcept;

 private:
  bool add_rest(Section section, std::size_t before, Type type, std::uint32_t ttl, ByteView rdata) noexcept;

  const Query& query_;
  std::span<std::uint8_t> out_;
  ByteWriter writer_;
  SectionCounts counts_{};
  std::uint16_t flags_ = 0;
  std::size_t rdata_at_ = 0;
};

}  // namespace hcpnet::dns
