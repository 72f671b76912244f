// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/system/error_code.hpp>
#include <type_traits>

namespace hcpnet::tls {

/// Why a ClientHello could not be read. A decision is made at the earliest byte that allows it.
enum class Errc {
  need_more = 1,  ///< valid so far; supply more bytes
  not_tls,        ///< the first two bytes do not begin a TLS handshake record
  malformed,      ///< lengths disagree, or a field breaks its RFC; close the connection
  too_large,      ///< more than ClientHelloLimits allow, or it declares to become so
};
[[nodiscard]] const boost::system::error_category& error_category() noexcept;
[[nodiscard]] boost::system::error_code make_error_code(Errc code) noexcept;

}  // namespace hcpnet::tls

template <>
struct boost::system::is_error_code_enum<hcpnet::tls::Errc> : std::true_type {};
