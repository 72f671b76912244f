// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dhcp6/duid.hpp>
#include <string>

namespace hcpnet::dhcp6 {

/// The server's own DUID (RFC 8415 section 11.5: a UUID), kept as hexadecimal text in a file of its own, so that it
/// outlives interfaces and lease databases: clients renew only with the server they know. Made, synced, where there is
/// none. Throws boost::system::system_error, or std::runtime_error for a file that holds no DUID, with what to do.
[[nodiscard]] Duid load_server_id(const std::string& path);

}  // namespace hcpnet::dhcp6
