// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/bytes.hpp>
#include <string>

namespace hcpnet::dns {

/// Appends the name at `reader`'s place, expanded, to `wire`, and moves `reader` behind it. `reader` reads inside
/// `message`. False for what RFC 1035 section 4.1.4 does not allow; `wire` is then of no use.
[[nodiscard]] bool append_name(ByteView message, ByteReader& reader, std::string& wire);

}  // namespace hcpnet::dns
