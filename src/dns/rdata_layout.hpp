// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/zone.hpp>
#include <optional>
#include <string>

namespace hcpnet::dns {

/// What is known of a type's RDATA: bytes, then character strings, then names, then bytes again.
struct RdataLayout {
  Type type;
  std::uint8_t bytes_before;
  std::uint8_t strings;
  std::uint8_t names;
  std::uint8_t bytes_after;
  bool is_compressible;  ///< of RFC 1035 itself: only there may a sender compress names (RFC 3597 section 4)
};
/// Null for a type whose RDATA is only carried.
[[nodiscard]] const RdataLayout* find_rdata_layout(Type type) noexcept;

/// RDATA with its names expanded; nullopt when it is not what its type asks for. `rdata` reads inside `message`.
[[nodiscard]] std::optional<std::string> expand_rdata(ByteView message, ByteReader rdata, Type type);

}  // namespace hcpnet::dns
