// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/bytes.hpp>
#include <optional>
#include <span>
#include <string>

#include "dns/zone_lexer.hpp"

/// The parameters of SVCB and HTTPS records (RFC 9460 sections 2.1 and 7): mandatory, alpn, no-default-alpn, port,
/// ipv4hint and ipv6hint by name; all others, ech among them, as keyNNNNN="bytes".
namespace hcpnet::dns {

/// Nothing for no parameters, else a blank before each; nullopt when the bytes are none.
[[nodiscard]] std::optional<std::string> svc_params_to_string(ByteView wire);

/// In wire form, in the order of their keys; nullopt when a word is none, or they do not go together.
[[nodiscard]] std::optional<std::string> parse_svc_params(std::span<const ZoneToken> tokens);

}  // namespace hcpnet::dns
