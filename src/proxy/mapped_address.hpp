// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/net.hpp>

namespace hcpnet::proxy {

/// Every address as an IPv6 one, IPv4 ones mapped (RFC 4291 section 2.5.5.2): the other way of IpAddress::unmapped().
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
