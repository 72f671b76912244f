// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/system/error_code.hpp>
#include <type_traits>

namespace hcpnet::proxy {

/// Why the beginning of a connection could not be read. A decision is made at the earliest byte that allows it.
enum class Errc {
  need_more = 1,   ///< valid so far; supply more bytes
  other_protocol,  ///< the first bytes begin something else
  malformed,       ///< begins right and goes on wrong; close the connection
  too_large,       ///< more than the limits allow, or it declares to become so
};
[[nodiscard]] const boost::system::error_category& error_category() noexcept;
[[nodiscard]] boost::system::error_code make_error_code(Errc code) noexcept;

}  // namespace hcpnet::proxy

template <>
struct boost::system::is_error_code_enum<hcpnet::proxy::Errc> : std::true_type {};
