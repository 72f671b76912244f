// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hcpnet::tls {

/// A ClientHello that any server of our time answers with a ServerHello: TLS 1.3 and 1.2, X25519. Only for asking
/// whether somebody is there: `random` are bytes that nobody has to keep secret, half for the random, half as the key
/// share, and the handshake cannot be finished. `server_name`: at most 253 bytes; empty: none.
[[nodiscard]] std::vector<std::uint8_t> make_client_hello(std::string_view server_name,
                                                          std::span<const std::uint8_t, 64> random);

}  // namespace hcpnet::tls
