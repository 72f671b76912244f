// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/bytes.hpp>
#include <hcpnet/net.hpp>
#include <vector>

namespace hcpnet::dhcp {

/// An IPv4 packet (RFC 791) with one UDP datagram (RFC 768), both checksums right: what a link-layer socket sends for
/// us. Preconditions: both endpoints are IPv4; the payload has at most 65,507 bytes.
[[nodiscard]] std::vector<std::uint8_t> encode_udp_packet(const Endpoint& source, const Endpoint& destination,
                                                          ByteView payload);

}  // namespace hcpnet::dhcp
