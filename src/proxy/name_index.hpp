// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

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

  /// Makes room for `count` patterns.
  void reserve(std::size_t count);
  /// The number of this pattern's entry, counted from 0; the same one each time. `pattern` is valid, in lower case, and
  /// must outlive the index.
  std::uint32_t add(std::uint32_t scope, std::string_view pattern);
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] std::string_view pattern(std::uint32_t entry) const noexcept { return entries_[entry].pattern; }

  [[nodiscard]] std::uint32_t find_exact(std::uint32_t scope, const FoldedName& name) const noexcept;
  /// The wildcard whose "x" is exactly the last `labels` labels of the name; precondition: fewer than all.
  [[nodiscard]] std::uint32_t find_wildcard(std::uint32_t scope, const FoldedName& name,
                                            std::size_t labels) const noexcept;

 private:
  struct Entry {
    std::string_view pattern;
    std::uint32_t scope;
  };
  struct Slot {
    std::uint64_t hash;
    std::uint32_t entry = kNone;
  };
  void rehash(std::size_t slots);
  [[nodiscard]] std::uint32_t find(std::uint64_t hash, std::uint32_t scope, bool is_wildcard,
                                   std::string_view name) const noexcept;

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  ///< open addressing, a power of two, at most half full
};

[[nodiscard]] constexpr bool is_wildcard(std::string_view pattern) noexcept {
  return pattern.starts_with("*.");
}

}  // namespace hcpnet::proxy
