// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <hcpnet/dns/name.hpp>

namespace hcpnet::dns {

constexpr std::uint8_t fold(std::uint8_t byte) noexcept {
  return byte >= 'A' && byte <= 'Z' ? static_cast<std::uint8_t>(byte | 0x20) : byte;
}

/// fold() of eight bytes at once, whatever their order.
constexpr std::uint64_t fold8(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  const std::uint64_t low = bytes & 0x7f * kOnes;
  const std::uint64_t above_z = low + (0x7f - 'Z') * kOnes;  // the top bit of each byte tells
  const std::uint64_t from_a = low + (0x80 - 'A') * kOnes;
  const std::uint64_t upper = ~bytes & (from_a ^ above_z) & 0x80 * kOnes;
  return bytes | upper >> 2;
}

/// A name as it is looked up: wire form in lower case, with a hash of itself and of each name above it.
///
/// Label lengths are at most 63, below 'A', so whole names are folded without looking at labels. Lives on the stack: no
/// allocation.
class FoldedName {
 public:
  static constexpr std::size_t kMaxLabels = 127;

  FoldedName() noexcept {}  // not `= default`, which would let {} clear a kilobyte per query
  explicit FoldedName(const Name& name) noexcept { static_cast<void>(read(name.wire())); }

  /// Takes an uncompressed name from the front of `bytes`. Returns its length, or 0 when there is none: a pointer or
  /// another label type, more than 255 bytes, or the end of the bytes inside it.
  std::size_t read(ByteView bytes) noexcept;

  [[nodiscard]] std::size_t label_count() const noexcept { return label_count_; }
  [[nodiscard]] ByteView wire() const noexcept { return {bytes_.data(), size_}; }
  /// The last `labels` labels and the root. Precondition here and below: labels <= label_count().
  [[nodiscard]] ByteView suffix(std::size_t labels) const noexcept { return wire().subspan(offset(labels)); }
  [[nodiscard]] std::size_t offset(std::size_t labels) const noexcept { return offsets_[label_count_ - labels]; }
  [[nodiscard]] std::uint32_t hash(std::size_t labels) const noexcept { return hashes_[labels]; }

 private:
  void hash_suffixes() noexcept;

  // Eight bytes more than a name needs, so that the last label can be loaded in whole words.
  std::array<std::uint8_t, Name::kMaxBytes + 1 + 8> bytes_;
  std::array<std::uint8_t, kMaxLabels + 1> offsets_;  // of the i-th label from the left; the last is the root
  std::array<std::uint32_t, kMaxLabels + 1> hashes_;  // by number of labels
  std::uint8_t size_;
  std::uint8_t label_count_;
};

/// Whether `wire`, in any case, equals `folded`, which is in lower case. Same size is a precondition.
[[nodiscard]] inline bool equals_folded(const std::uint8_t* wire, ByteView folded) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= folded.size(); i += 8) {
    std::uint64_t left;
    std::uint64_t right;
    std::memcpy(&left, wire + i, 8);
    std::memcpy(&right, folded.data() + i, 8);
    if (fold8(left) != right) return false;
  }
  for (; i < folded.size(); ++i)
    if (fold(wire[i]) != folded[i]) return false;
  return true;
}

}  // namespace hcpnet::dns
