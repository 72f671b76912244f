// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/tls/client_hello.hpp>

namespace hcpnet::tls {

/// Reads the body of one complete ClientHello message, without its record and handshake headers. consumed_bytes stays
/// 0. Errors: malformed, too_large.
[[nodiscard]] Result<ClientHello> parse_client_hello_body(ByteView body, const ClientHelloLimits& limits);

}  // namespace hcpnet::tls
