// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dhcp6/lease.hpp>
#include <hcpnet/dhcp6/message.hpp>
#include <optional>

namespace hcpnet::dhcp6 {

/// The Ethernet address that a link-local address was made of (RFC 4291 appendix A).
[[nodiscard]] std::optional<MacAddress> mac_of_link_local(const Ipv6& address) noexcept;

/// Who sent a packet: DUID and hardware address, IAID 0. The hardware address is the one that the relay beside the
/// client saw (RFC 6939), else the one in the DUID, else the one in the client's link-local address. nullopt: there is
/// no client identifier, or it is no DUID.
[[nodiscard]] std::optional<Client> identify(const Packet& packet, const Ipv6& source);

}  // namespace hcpnet::dhcp6
