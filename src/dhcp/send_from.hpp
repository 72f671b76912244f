// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/bytes.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>

namespace hcpnet::dhcp {

/// Sends one packet of an IPv4 socket in the name of an address of ours, out of an interface. `destination` is IPv4;
/// its port is ignored by sockets that have none.
[[nodiscard]] error_code send_from(int socket, Ipv4 source, int interface_index, const Endpoint& destination,
                                   ByteView packet) noexcept;

}  // namespace hcpnet::dhcp
