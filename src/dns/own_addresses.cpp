// SPDX-License-Identifier: Apache-2.0
#include "dns/own_addresses.hpp"

#include <ifaddrs.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "dns/endpoints.hpp"

namespace hcpnet::dns {
namespace {

bool is_local(const IpAddress& address) {
  if (address.is_loopback() || address.is_unspecified()) return true;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const int family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    sockaddr_storage storage{};
    std::memcpy(&storage, entry->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    if (address_of(storage) == address) return true;
  }
  return false;
}

}  // namespace

bool is_own_endpoint(const std::vector<Endpoint>& listeners, const Endpoint& endpoint) {
  return std::ranges::any_of(listeners, [&](const Endpoint& listener) {
    if (listener.port != endpoint.port || listener.address.is_v4() != endpoint.address.is_v4()) return false;
    return listener.address == endpoint.address || (listener.address.is_unspecified() && is_local(endpoint.address));
  });
}

}  // namespace hcpnet::dns
