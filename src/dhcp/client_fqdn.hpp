// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hcpnet::dhcp {

/// Flags of option 81 (RFC 4702 section 2.1).
namespace fqdn_flag {
inline constexpr std::uint8_t server_updates = 1;  ///< S: the server sees to the name of the client's address
inline constexpr std::uint8_t overridden = 2;      ///< O: in a reply, S is not what the client asked for
inline constexpr std::uint8_t encoded = 4;         ///< E: the name is in the form of DNS; else it is text
inline constexpr std::uint8_t no_updates = 8;      ///< N: the server sees to no name at all
}  // namespace fqdn_flag

/// Client FQDN, option 81 (RFC 4702).
struct ClientFqdn {
  std::uint8_t flags = 0;
  std::string name;  ///< labels with dots between them and none at the end; may be one label, or empty
};

/// nullopt for what is too short, or has a name that is none: a label beyond its end or over 63 bytes, a pointer, or
/// more than 253 bytes. Bytes of a label are not looked at. Throws only std::bad_alloc.
[[nodiscard]] std::optional<ClientFqdn> parse_client_fqdn(ByteView data);
/// In the form that the flag E asks for. Precondition: labels of 1 to 63 bytes, 253 in all, or no name.
[[nodiscard]] std::vector<std::uint8_t> encode_client_fqdn(const ClientFqdn& fqdn);
/// The option as it was sent, its name byte for byte, with other flags. Precondition: parse_client_fqdn() takes it.
[[nodiscard]] std::vector<std::uint8_t> echo_client_fqdn(ByteView data, std::uint8_t flags);

}  // namespace hcpnet::dhcp
