// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/zone.hpp>
#include <string>

/// What only SOA records have.
namespace hcpnet::dns {

/// Behind two names: serial, refresh, retry, expire and minimum (RFC 1035 section 3.3.13).
inline constexpr std::size_t kSoaNumbersBytes = 20;

/// 0 where the RDATA is too short for one.
[[nodiscard]] inline std::uint32_t serial_in(ByteView soa) noexcept {
  return soa.size() < kSoaNumbersBytes ? 0 : ByteReader(soa.last(kSoaNumbersBytes)).u32();
}

/// Leaves RDATA alone that is too short for one.
inline void put_serial(std::string& soa, std::uint32_t serial) {
  if (soa.size() < kSoaNumbersBytes) return;
  ByteWriter({reinterpret_cast<std::uint8_t*>(soa.data() + soa.size() - kSoaNumbersBytes), 4}).u32(serial);
}

/// Where the RRset of a type stands among those of one owner: the SOA first, the others by number.
[[nodiscard]] constexpr std::uint32_t rank_at_owner(Type type) noexcept {
  return type == Type::soa ? 0 : static_cast<std::uint32_t>(type);
}

}  // namespace hcpnet::dns
