// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/system/error_code.hpp>
#include <type_traits>

namespace hcpnet::dns {

enum class Errc {
  bad_name = 1,      ///< not a domain name: a label or the name too long, an empty label, a wrong escape, or not ASCII
  malformed,         ///< a message whose lengths, counts or pointers disagree
  too_large,         ///< does not fit into 65535 bytes
  duplicate_prefix,  ///< two views claim the same client prefix
  duplicate_zone,    ///< two zones of one view have the same apex
  upstream_is_self,  ///< queries would be forwarded to one of the server's own listeners
  bad_rdata,         ///< text that is not RDATA of its type
};
boost::system::error_code make_error_code(Errc code) noexcept;

}  // namespace hcpnet::dns
template <>
struct boost::system::is_error_code_enum<hcpnet::dns::Errc> : std::true_type {};
