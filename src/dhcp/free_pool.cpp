// SPDX-License-Identifier: Apache-2.0
#include "dhcp/free_pool.hpp"

#include <algorithm>

namespace hcpnet::dhcp {
namespace {

std::vector<Ipv4> never_given(const Subnet& subnet) {
  std::vector<Ipv4> out = subnet.dns_servers;
  out.push_back(subnet.server_id);
  if (subnet.router) out.push_back(*subnet.router);
  for (const Reservation& reservation : subnet.reservations) out.push_back(reservation.address);
  if (!subnet.cidr.is_host(subnet.cidr.network())) out.push_back(subnet.cidr.network());
  if (!subnet.cidr.is_host(subnet.cidr.broadcast())) out.push_back(subnet.cidr.broadcast());
  std::ranges::sort(out);
  return out;
}

/// The pools, ascending and merged, cut to the subnet.
std::vector<Ipv4Range> merged_pools(const Subnet& subnet) {
  std::vector<Ipv4Range> pools = subnet.pools;
  std::ranges::sort(pools);
  std::vector<Ipv4Range> out;
  for (Ipv4Range pool : pools) {
    pool.first = std::max(pool.first, subnet.cidr.network());
    pool.last = std::min(pool.last, subnet.cidr.broadcast());
    if (!out.empty()) {
      if (pool.last <= out.back().last) continue;
      if (pool.first <= out.back().last) pool.first = Ipv4(out.back().last.value() + 1);
    }
    if (pool.first <= pool.last) out.push_back(pool);
  }
  return out;
}

}  // namespace

FreePool::FreePool(const Subnet& subnet) {
  const std::vector<Ipv4> holes = never_given(subnet);
  for (const Ipv4Range& pool : merged_pools(subnet)) {
    std::uint64_t next = pool.first.value();  // wider than an address: a pool may end at 255.255.255.255
    const auto add_until = [&](std::uint64_t end) {
      if (next >= end) return;
      ranges_.push_back({Ipv4(static_cast<std::uint32_t>(next)), Ipv4(static_cast<std::uint32_t>(end - 1))});
      size_ += end - next;
    };
    for (auto hole = std::ranges::lower_bound(holes, pool.first); hole != holes.end() && *hole <= pool.last; ++hole) {
      add_until(hole->value());
      next = std::uint64_t{hole->value()} + 1;
    }
    add_until(std::uint64_t{pool.last.value()} + 1);
  }
}

bool FreePool::contains(Ipv4 address) const noexcept {
  const auto after = std::ranges::upper_bound(ranges_, address, {}, &Ipv4Range::first);
  return after != ranges_.begin() && std::prev(after)->contains(address);
}

bool FreePool::is_passed(Ipv4 address) const noexcept {
  if (range_ >= ranges_.size()) return true;
  return address.value() < ranges_[range_].first.value() + offset_;
}

}  // namespace hcpnet::dhcp
