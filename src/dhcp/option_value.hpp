// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::dhcp {

/// The wire form of an option that a user wrote as text.
///
/// Codes whose type RFC 2132, 3397 or 3442 fixes take that type: addresses separated by commas, decimal numbers, true
/// or false, domain names, routes as "192.0.2.0/24 via 198.51.100.1". Every other code takes text as it stands. "hex:"
/// and pairs of digits works for all. The error says what the code expects.
[[nodiscard]] Result<std::vector<std::uint8_t>, std::string> encode_option_value(std::uint8_t code,
                                                                                 std::string_view text);

/// The same for bytes that have no type: text as it stands, or "hex:" and pairs of digits.
[[nodiscard]] Result<std::vector<std::uint8_t>, std::string> encode_option_bytes(std::string_view text);

}  // namespace hcpnet::dhcp
