// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/net.hpp>

/// DNS cookies (RFC 7873) with the server cookies of RFC 9018, so that several servers that share a secret understand
/// each other's. All functions are pure and never allocate.
namespace hcpnet::dns {

inline constexpr std::size_t kClientCookieBytes = 8;
inline constexpr std::size_t kServerCookieBytes = 16;
/// A whole option: client cookie, then server cookie.
using Cookie = std::array<std::uint8_t, kClientCookieBytes + kServerCookieBytes>;
using CookieSecret = std::array<std::uint8_t, 16>;

/// New cookies are made with `current`; those made with `previous` are still taken.
struct CookieSecrets {
  CookieSecret current{};
  CookieSecret previous{};
};

enum class CookieState : std::uint8_t {
  none,         ///< the query has no cookie, or cookies are off
  client_only,  ///< a client that has not seen this server lately
  invalid,      ///< a server cookie that is not ours, for another address, or too old
  valid,        ///< the client receives what is sent to its address
};

/// Whether the data of a COOKIE option has a length that RFC 7873 section 4 knows: 8, or 16 to 40 bytes.
[[nodiscard]] bool is_cookie_length(std::size_t bytes) noexcept;

/// For a client cookie of 8 bytes; `now` in seconds since 1970 (RFC 9018 section 4).
[[nodiscard]] Cookie make_cookie(ByteView client_cookie, const IpAddress& client, std::uint32_t now,
                                 const CookieSecret& secret) noexcept;

/// Judges the data of a COOKIE option. Cookies are valid from an hour back to five minutes ahead (RFC 9018
/// section 4.3). Precondition: is_cookie_length().
[[nodiscard]] CookieState check_cookie(ByteView option, const IpAddress& client, std::uint32_t now,
                                       const CookieSecrets& secrets) noexcept;

}  // namespace hcpnet::dns
