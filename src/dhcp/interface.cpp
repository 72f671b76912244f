// SPDX-License-Identifier: Apache-2.0
#include "dhcp/interface.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <boost/system/system_error.hpp>
#include <cstring>
#include <memory>
#include <utility>

namespace hcpnet::dhcp {
namespace {

struct FreeAddresses {
  void operator()(ifaddrs* list) const noexcept { ::freeifaddrs(list); }
};

bool has_address(const ifaddrs& entry, Ipv4 address) noexcept {
  if (entry.ifa_addr == nullptr || entry.ifa_addr->sa_family != AF_INET) return false;
  sockaddr_in socket_address{};
  std::memcpy(&socket_address, entry.ifa_addr, sizeof socket_address);
  const Ipv4 held(ntohl(socket_address.sin_addr.s_addr));
  const bool is_loopback = (entry.ifa_flags & IFF_LOOPBACK) != 0;
  return held == address || (is_loopback && address.is_loopback());
}

}  // namespace

std::optional<Interface> look_for_interface(Ipv4 address) {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) {
    throw boost::system::system_error(errno, boost::system::system_category(), "dhcp: cannot list interfaces");
  }
  const std::unique_ptr<ifaddrs, FreeAddresses> list(raw);
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    if (!has_address(*entry, address)) continue;
    const int index = static_cast<int>(::if_nametoindex(entry->ifa_name));
    return Interface{entry->ifa_name, index, (entry->ifa_flags & IFF_LOOPBACK) != 0};
  }
  return std::nullopt;
}

Interface find_interface(Ipv4 address) {
  if (auto found = look_for_interface(address)) return *std::move(found);
  throw boost::system::system_error(EADDRNOTAVAIL, boost::system::system_category(),
                                    "dhcp: no interface has the server address " + address.to_string());
}

}  // namespace hcpnet::dhcp
