// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/claim_set.hpp"

namespace hcpnet::proxy {

/// A host name in lower case with the hash of every suffix that begins at a label, computed in one pass. On the stack,
/// no allocation.
class FoldedName {
 public:
  static constexpr std::size_t kMaxBytes = 253;
  static constexpr std::size_t kMaxLabels = 127;

  explicit FoldedName(std::string_view name) noexcept;
  /// False when it is no host name: a bad byte, an empty or overlong label or name.
  [[nodiscard]] bool is_valid() const noexcept { return label_count_ > 0; }
  [[nodiscard]] std::size_t label_count() const noexcept { return label_count_; }
  /// The last `labels` labels; precondition: 1 to label_count().
  [[nodiscard]] std::string_view suffix(std::size_t labels) const noexcept {
    return {text_.data() + offset_[labels - 1], size_ - offset_[labels - 1]};
  }
  [[nodiscard]] std::uint64_t hash(std::size_t labels) const noexcept { return hash_[labels - 1]; }

 private:
  std::array<char, kMaxBytes> text_;
  std::array<std::uint8_t, kMaxLabels> offset_;
  std::array<std::uint64_t, kMaxLabels> hash_;
  std::size_t size_ = 0;
  std::size_t label_count_ = 0;
};

/// Host names and wildcards of many separate scopes (a port, a listener) in one hash table. Built once, then only read.
///
/// A wildcard is kept under the name that follows its "*.", in a key space of its own: no name that a client sends,
/// "*.x" included, can be taken for a pattern.
class NameIndex {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// Makes room for `count` patterns of `text_bytes` in all.
  void reserve(std::size_t count, std::size_t text_bytes);
  /// The number of this pattern's entry, counted from 0; the same one each time. `pattern` is valid, in lower case, and
  /// copied.
  std::uint32_t add(std::uint32_t scope, std::string_view pattern);
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// Valid as long as nothing is added.
  [[nodiscard]] std::string_view pattern(std::uint32_t entry) const noexcept { return text_of(entries_[entry]); }
  [[nodiscard]] const ClaimSet& claims(std::uint32_t entry) const noexcept { return entries_[entry].claims; }
  void set_claims(std::uint32_t entry, ClaimSet claims) noexcept { entries_[entry].claims = std::move(claims); }

  [[nodiscard]] std::uint32_t find_exact(std::uint32_t scope, const FoldedName& name) const noexcept;
  /// The wildcard whose "x" is exactly the last `labels` labels of the name; precondition: not more than it has.
  [[nodiscard]] std::uint32_t find_wildcard(std::uint32_t scope, const FoldedName& name,
                                            std::size_t labels) const noexcept;

 private:
  // A look-up in a large table is nothing but cache misses: one for the slot, one for the entry, one for the text. All
  // three are kept small and together, apart from the configuration that they come from.
  struct alignas(32) Entry {  // in one cache line, not in two
    std::uint32_t text_begin;
    std::uint32_t text_bytes;
    std::uint32_t scope;
    ClaimSet claims;
  };
  struct Slot {
    std::uint32_t tag;  ///< upper half of the hash; the lower one is the place
    std::uint32_t entry = kNone;
  };
  [[nodiscard]] std::string_view text_of(const Entry& entry) const noexcept {
    return std::string_view(text_).substr(entry.text_begin, entry.text_bytes);
  }
  void grow(std::size_t slots);
  void place(std::uint64_t hash, std::uint32_t entry) noexcept;
  [[nodiscard]] std::uint32_t find(std::uint64_t hash, std::uint32_t scope, bool is_wildcard,
                                   std::string_view name) const noexcept;

  std::string text_;  ///< all patterns, one after the other
  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  ///< open addressing, a power of two, at most half full
};

[[nodiscard]] constexpr bool is_wildcard(std::string_view pattern) noexcept {
  return pattern.starts_with("*.");
}

}  // namespace hcpnet::proxy
