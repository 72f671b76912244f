// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <hcpnet/dns/message.hpp>
#include <span>

namespace hcpnet::dns {

/// Writes one message from its first byte on, with name compression.
///
/// Remembers up to kMaxRemembered places of names; what comes after is written out whole, so that the work stays
/// linear.
class MessageWriter {
 public:
  static constexpr std::size_t kMaxRemembered = 384;

  explicit MessageWriter(std::span<std::uint8_t> buffer) noexcept : out_(buffer) {}

  void header(const Message& message) noexcept;
  void question(const Question& question) noexcept;
  /// Returns where in the message the record's TTL stands.
  std::size_t record(const Record& record) noexcept;
  void edns(const Edns& edns, std::uint8_t extended_rcode) noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return out_.size(); }
  [[nodiscard]] bool ok() const noexcept { return out_.ok(); }

 private:
  void name(ByteView wire) noexcept;
  void rdata(const Record& record) noexcept;
  [[nodiscard]] std::size_t find(ByteView folded, std::uint32_t hash) const noexcept;
  [[nodiscard]] bool is_at(std::size_t place, ByteView folded) const noexcept;
  void remember(std::uint32_t hash, std::size_t place) noexcept;

  struct Slot {
    std::uint32_t hash = 0;
    std::uint16_t place = 0;  ///< never 0 once used: that is the header
  };
  ByteWriter out_;
  std::array<Slot, 512> slots_{};
  std::size_t remembered_ = 0;
};

}  // namespace hcpnet::dns
