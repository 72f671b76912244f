// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/name.hpp>
#include <string>

namespace hcpnet::dns {

/// Appends the name at `reader`'s place, expanded, to `wire`, and moves `reader` behind it. `reader` reads inside
/// `message`. False for what RFC 1035 section 4.1.4 does not allow; `wire` is then of no use.
[[nodiscard]] bool append_name(ByteView message, ByteReader& reader, std::string& wire);

/// Moves `reader` behind a name without expanding it: what it points to is of no interest.
inline void skip_name(ByteReader& reader) noexcept {
  for (std::uint8_t length = reader.u8(); length != 0; length = reader.u8()) {
    if (length >= 0xc0) {
      reader.skip(1);
      return;
    }
    reader.skip(length > Name::kMaxLabelBytes ? reader.remaining() + 1 : length);  // other label types fail
  }
}

}  // namespace hcpnet::dns
