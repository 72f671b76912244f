// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/net.hpp>

namespace hcpnet::proxy {

/// The IPv4 address that an IPv4-mapped IPv6 address stands for (RFC 4291 section 2.5.5.2); any other as it is. Rules
/// are about who somebody is, not about how he is written.
[[nodiscard]] inline IpAddress unmapped(const IpAddress& address) noexcept {
  if (address.is_v4()) return address;
  ByteReader in(address.v6().bytes());
  const bool is_mapped = in.u32() == 0 && in.u32() == 0 && in.u32() == 0xFFFF;
  return is_mapped ? IpAddress(Ipv4(in.u32())) : address;
}

/// The other way: every address as an IPv6 one.
[[nodiscard]] inline IpAddress mapped(const IpAddress& address) noexcept {
  if (address.is_v6()) return address;
  std::array<std::uint8_t, 16> bytes{};
  ByteWriter out(bytes);
  out.u32(0);
  out.u32(0);
  out.u32(0xFFFF);
  out.u32(address.v4().value());
  return Ipv6(bytes);
}

}  // namespace hcpnet::proxy
