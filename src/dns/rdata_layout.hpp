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

/// Whether RDATA, with its names in full, has every field of its type, and a digest the length that its kind has: other
/// name servers load nothing of a zone where it has not. True for a type of which nothing is known here; of types with
/// a form of their own only what that form leaves open is looked at.
[[nodiscard]] bool has_all_fields(Type type, ByteView rdata) noexcept;

/// RDATA with its names expanded; nullopt when it is not what its type asks for. `rdata` reads inside `message`.
[[nodiscard]] std::optional<std::string> expand_rdata(ByteView message, ByteReader rdata, Type type);

}  // namespace hcpnet::dns
