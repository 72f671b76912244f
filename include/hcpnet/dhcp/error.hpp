// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/system/error_code.hpp>
#include <type_traits>

namespace hcpnet::dhcp {

/// Why a message is not understood, or can't be written.
enum class Errc {
  too_short = 1,    ///< ends before the options (RFC 2131 section 2)
  too_large,        ///< more than MessageLimits::max_bytes
  no_cookie,        ///< the magic cookie is missing: plain BOOTP (RFC 951), or no DHCP at all
  malformed,        ///< an option's length disagrees with the message or with the option's definition
  no_room,          ///< encoding: a mandatory option does not fit
  too_many_relays,  ///< DHCPv6: came through more relays than RFC 8415 section 7.6 allows
};
[[nodiscard]] boost::system::error_code make_error_code(Errc code) noexcept;

}  // namespace hcpnet::dhcp

template <>
struct boost::system::is_error_code_enum<hcpnet::dhcp::Errc> : std::true_type {};
