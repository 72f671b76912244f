// SPDX-License-Identifier: Apache-2.0
#include "dns/endpoints.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <cstring>

namespace hcpnet::dns {
namespace asio = boost::asio;

asio::ip::address to_asio(const IpAddress& address) {
  if (address.is_v4()) return asio::ip::address_v4(address.v4().value());
  return asio::ip::address_v6(address.v6().bytes());
}

IpAddress from_asio(const asio::ip::address& address) {
  if (address.is_v4()) return Ipv4(address.to_v4().to_uint());
  return Ipv6(address.to_v6().to_bytes());
}

IpAddress address_of(const sockaddr_storage& from) noexcept {
  if (from.ss_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &from, sizeof v4);
    return Ipv4(ntohl(v4.sin_addr.s_addr));
  }
  sockaddr_in6 v6;
  std::memcpy(&v6, &from, sizeof v6);
  std::array<std::uint8_t, 16> bytes;
  std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
  return Ipv6(bytes);
}

}  // namespace hcpnet::dns
