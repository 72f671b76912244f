// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/socket.h>

#include <boost/asio/ip/address.hpp>
#include <hcpnet/net.hpp>

/// Addresses of ours to those of Asio and of the system's calls, and back.
namespace hcpnet::dns {

[[nodiscard]] boost::asio::ip::address to_asio(const IpAddress& address);
[[nodiscard]] IpAddress from_asio(const boost::asio::ip::address& address);
/// Precondition: the family is AF_INET or AF_INET6.
[[nodiscard]] IpAddress address_of(const sockaddr_storage& from) noexcept;

}  // namespace hcpnet::dns
