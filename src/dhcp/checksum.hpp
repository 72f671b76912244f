// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/bytes.hpp>

namespace hcpnet::dhcp {

/// RFC 1071: adds 16-bit words to a sum; an odd byte counts as the high one. No more than 64 KiB in all.
[[nodiscard]] inline std::uint32_t add_words(std::uint32_t sum, ByteView bytes) noexcept {
  ByteReader reader(bytes);
  while (reader.remaining() >= 2) sum += reader.u16();
  if (reader.remaining() == 1) sum += std::uint32_t{reader.u8()} << 8;
  return sum;
}

/// What goes into the checksum field; 0 for a sum over something that holds its right checksum.
[[nodiscard]] inline std::uint16_t to_checksum(std::uint32_t sum) noexcept {
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace hcpnet::dhcp
