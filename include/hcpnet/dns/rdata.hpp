// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dns/zone.hpp>
#include <string>
#include <string_view>

namespace hcpnet::dns {

/// RDATA in presentation form: addresses, names and SOA fields as zone files write them, every other type in the
/// generic form
/// "\# LENGTH HEX" (RFC 3597 section 5), and so is RDATA that is not what its type asks for.
[[nodiscard]] std::string rdata_to_string(Type type, std::string_view rdata);

}  // namespace hcpnet::dns
