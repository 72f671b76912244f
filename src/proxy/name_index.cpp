// SPDX-License-Identifier: Apache-2.0
#include "proxy/name_index.hpp"

#include <algorithm>
#include <bit>
#include <boost/assert.hpp>

namespace hcpnet::proxy {
namespace {

constexpr std::size_t kMaxLabelBytes = 63;  // RFC 1035 section 2.3.4

/// The lower-case form of each byte that may stand in a label; 0 for the others. '*' may: it is just a byte in what a
/// client sends.
constexpr std::array<char, 256> kFold = [] {
  std::array<char, 256> fold{};
  for (char c = 'a'; c <= 'z'; ++c) {
    fold[static_cast<unsigned char>(c)] = c;
    fold[static_cast<unsigned char>(c - 'a' + 'A')] = c;
  }
  for (char c = '0'; c <= '9'; ++c) fold[static_cast<unsigned char>(c)] = c;
  for (const char c : {'-', '_', '*', '.'}) fold[static_cast<unsigned char>(c)] = c;
  return fold;
}();

// FNV-1a, from the last byte to the first, so that the hash of every suffix falls out on the way.
constexpr std::uint64_t kSeed = 0xcbf29ce484222325u;
constexpr std::uint64_t step(std::uint64_t hash, char c) noexcept {
  return (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
}

constexpr std::uint64_t keyed(std::uint64_t hash, std::uint32_t scope, bool is_wildcard) noexcept {
  hash ^= (std::uint64_t{scope} << 1 | std::uint64_t{is_wildcard}) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
  return hash ^ hash >> 32;
}

constexpr std::string_view key_text(std::string_view pattern) noexcept {
  return is_wildcard(pattern) ? pattern.substr(2) : pattern;
}

std::uint64_t hash_of(std::uint32_t scope, std::string_view pattern) noexcept {
  std::uint64_t hash = kSeed;
  const std::string_view text = key_text(pattern);
  for (std::size_t i = text.size(); i > 0; --i) hash = step(hash, text[i - 1]);
  return keyed(hash, scope, is_wildcard(pattern));
}

}  // namespace

FoldedName::FoldedName(std::string_view name) noexcept {
  if (name.empty() || name.size() > kMaxBytes) return;
  size_ = name.size();
  std::size_t labels = 0;
  std::size_t label_end = size_;
  std::uint64_t hash = kSeed;
  for (std::size_t i = size_; i > 0; --i) {
    const char c = kFold[static_cast<unsigned char>(name[i - 1])];
    if (c == 0) return;
    if (c == '.') {
      if (i == label_end || label_end - i > kMaxLabelBytes) return;
      offset_[labels] = static_cast<std::uint8_t>(i);
      hash_[labels++] = hash;
      label_end = i - 1;
    }
    text_[i - 1] = c;
    hash = step(hash, c);
  }
  if (label_end == 0 || label_end > kMaxLabelBytes) return;
  offset_[labels] = 0;
  hash_[labels++] = hash;
  label_count_ = labels;
}

void NameIndex::reserve(std::size_t count, std::size_t text_bytes) {
  entries_.reserve(count);
  text_.reserve(text_bytes);
  if (slots_.size() < 2 * count) grow(std::bit_ceil(2 * count));
}

void NameIndex::grow(std::size_t slots) {
  slots_.assign(slots, Slot{});
  for (std::uint32_t entry = 0; entry < entries_.size(); ++entry)
    place(hash_of(entries_[entry].scope, pattern(entry)), entry);
}

void NameIndex::place(std::uint64_t hash, std::uint32_t entry) noexcept {
  std::size_t at = hash & (slots_.size() - 1);
  while (slots_[at].entry != kNone) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {static_cast<std::uint32_t>(hash >> 32), entry};
}

std::uint32_t NameIndex::add(std::uint32_t scope, std::string_view pattern) {
  const std::uint64_t hash = hash_of(scope, pattern);
  const std::uint32_t known = find(hash, scope, is_wildcard(pattern), key_text(pattern));
  if (known != kNone) return known;
  if (slots_.size() < 2 * (entries_.size() + 1)) grow(std::max<std::size_t>(16, 2 * slots_.size()));
  const auto entry = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(pattern.size()), scope, {}});
  text_ += pattern;
  place(hash, entry);
  return entry;
}

std::uint32_t NameIndex::find(std::uint64_t hash, std::uint32_t scope, bool wildcard,
                              std::string_view name) const noexcept {
  if (slots_.empty()) return kNone;
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  for (std::size_t at = hash & (slots_.size() - 1); slots_[at].entry != kNone; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].tag != tag) continue;
    const Entry& entry = entries_[slots_[at].entry];
    const std::string_view pattern = text_of(entry);
    if (entry.scope == scope && is_wildcard(pattern) == wildcard && key_text(pattern) == name) return slots_[at].entry;
  }
  return kNone;
}

std::uint32_t NameIndex::find_exact(std::uint32_t scope, const FoldedName& name) const noexcept {
  const std::size_t all = name.label_count();
  return find(keyed(name.hash(all), scope, false), scope, false, name.suffix(all));
}

std::uint32_t NameIndex::find_wildcard(std::uint32_t scope, const FoldedName& name, std::size_t labels) const noexcept {
  BOOST_ASSERT(labels <= name.label_count());
  return find(keyed(name.hash(labels), scope, true), scope, true, name.suffix(labels));
}

}  // namespace hcpnet::proxy
