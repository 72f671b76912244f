// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dns/name.hpp>

namespace hcpnet::dns {

/// A name that a hosts file can have: labels of letters, digits, "-" and "_", without "-" at their ends (RFC 1123
/// section 2.1; "_" is none of its characters, but is used). The last of several labels is no number, else the name is
/// an address, or a mistake in one. The root is none.
[[nodiscard]] bool is_host_name(const Name& name);

}  // namespace hcpnet::dns
