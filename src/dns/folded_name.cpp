// SPDX-License-Identifier: Apache-2.0
#include "dns/folded_name.hpp"

namespace hcpnet::dns {
namespace {

std::uint64_t load8(const std::uint8_t* from) noexcept {
  std::uint64_t word;
  std::memcpy(&word, from, 8);
  return word;
}

/// A loaded word with all but its first `count` bytes, in memory order, set to zero. 1 to 8.
std::uint64_t first_bytes(std::uint64_t word, std::size_t count) noexcept {
  const std::size_t unwanted = 8 * (8 - count);
  return word &
         (std::endian::native == std::endian::little ? ~std::uint64_t{0} >> unwanted : ~std::uint64_t{0} << unwanted);
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) noexcept {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15;
  return hash ^ hash >> 32;
}

}  // namespace

std::size_t FoldedName::read(ByteView bytes) noexcept {
  std::size_t at = 0;
  std::size_t labels = 0;
  while (true) {
    if (at >= bytes.size() || at >= Name::kMaxBytes) return 0;
    offsets_[labels] = static_cast<std::uint8_t>(at);
    const std::uint8_t length = bytes[at];
    if (length == 0) break;
    if (length > Name::kMaxLabelBytes) return 0;
    at += 1 + std::size_t{length};
    ++labels;  // at most 127, since each takes two bytes of 254
  }
  size_ = static_cast<std::uint8_t>(at + 1);
  label_count_ = static_cast<std::uint8_t>(labels);
  std::memcpy(bytes_.data(), bytes.data(), size_);
  std::memset(bytes_.data() + size_, 0, 8);
  for (std::size_t i = 0; i < size_; i += 8) {
    const std::uint64_t word = fold8(load8(bytes_.data() + i));
    std::memcpy(bytes_.data() + i, &word, 8);
  }
  hash_suffixes();
  return size_;
}

void FoldedName::hash_suffixes() noexcept {
  std::uint64_t hash = 0x243F6A8885A308D3;
  hashes_[0] = static_cast<std::uint32_t>(hash);
  for (std::size_t labels = 1; labels <= label_count_; ++labels) {
    const std::uint8_t* label = bytes_.data() + offset(labels);
    std::size_t left = 1 + std::size_t{*label};
    for (; left > 8; left -= 8, label += 8) hash = mix(hash, load8(label));
    // The label's length is in its first word, so the zeros that fill up the last one are not ambiguous.
    hash = mix(hash, first_bytes(load8(label), left));
    hashes_[labels] = static_cast<std::uint32_t>(hash);
  }
}

}  // namespace hcpnet::dns
