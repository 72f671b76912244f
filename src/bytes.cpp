// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bytes.hpp>

#include <algorithm>
#include <boost/assert.hpp>

namespace hcpnet {

std::span<std::uint8_t> ByteWriter::reserve(std::size_t count) noexcept {
  if (failed_ || count > buffer_.size() - size_) {
    failed_ = true;
    return {};
  }
  const std::span<std::uint8_t> place = buffer_.subspan(size_, count);
  size_ += count;
  return place;
}

void ByteWriter::number(std::uint64_t value, std::size_t width) noexcept {
  for (std::size_t shift = 8 * width; std::uint8_t& byte : reserve(width))
    byte = static_cast<std::uint8_t>(value >> (shift -= 8));
}

void ByteWriter::bytes(ByteView value) noexcept {
  const std::span<std::uint8_t> place = reserve(value.size());
  std::copy_n(value.begin(), place.size(), place.begin());
}

void ByteWriter::zeros(std::size_t count) noexcept {
  std::ranges::fill(reserve(count), std::uint8_t{0});
}

void ByteWriter::put_u16(std::size_t offset, std::uint16_t value) noexcept {
  BOOST_ASSERT(offset + 2 <= size_);
  buffer_[offset] = static_cast<std::uint8_t>(value >> 8);
  buffer_[offset + 1] = static_cast<std::uint8_t>(value);
}

void ByteWriter::rewind(std::size_t size) noexcept {
  BOOST_ASSERT(size <= size_);
  size_ = size;
  failed_ = false;
}

}  // namespace hcpnet
