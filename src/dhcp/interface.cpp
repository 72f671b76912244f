// SPDX-License-Identifier: Apache-2.0
#include "dhcp/interface.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netpacket/packet.h>

#include <algorithm>
#include <array>
#include <boost/system/system_error.hpp>
#include <cstring>
#include <memory>
#include <string_view>
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

/// nullopt: it is no Ethernet interface.
std::optional<MacAddress> find_mac(const ifaddrs* list, std::string_view name) noexcept {
  for (; list != nullptr; list = list->ifa_next) {
    if (list->ifa_name != name || list->ifa_addr == nullptr || list->ifa_addr->sa_family != AF_PACKET) continue;
    sockaddr_ll address{};
    std::memcpy(&address, list->ifa_addr, sizeof address);
    std::array<std::uint8_t, 6> bytes{};
    if (address.sll_hatype != ARPHRD_ETHER || address.sll_halen != bytes.size()) return std::nullopt;
    std::copy_n(address.sll_addr, bytes.size(), bytes.begin());
    return MacAddress(bytes);
  }
  return std::nullopt;
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
    // The list may have the label of an address, such as "eth0:1", which is no name that a socket can be bound to.
    const unsigned index = ::if_nametoindex(entry->ifa_name);
    std::array<char, IF_NAMESIZE> name{};
    if (::if_indextoname(index, name.data()) == nullptr) continue;  // gone meanwhile
    return Interface{name.data(), static_cast<int>(index), (entry->ifa_flags & IFF_LOOPBACK) != 0,
                     find_mac(list.get(), name.data())};
  }
  return std::nullopt;
}

Interface find_interface(Ipv4 address) {
  if (auto found = look_for_interface(address)) return *std::move(found);
  throw boost::system::system_error(EADDRNOTAVAIL, boost::system::system_category(),
                                    "dhcp: no interface has the server address " + address.to_string());
}

}  // namespace hcpnet::dhcp
