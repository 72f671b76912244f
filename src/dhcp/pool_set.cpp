// SPDX-License-Identifier: Apache-2.0
#include "dhcp/pool_set.hpp"

#include <algorithm>
#include <boost/assert.hpp>
#include <iterator>
#include <utility>

namespace hcpnet::dhcp {
namespace {

/// Ranges sorted and joined where they touch or overlap.
std::vector<Ipv4Range> joined(std::vector<Ipv4Range> ranges) {
  std::ranges::sort(ranges);
  std::vector<Ipv4Range> out;
  for (const Ipv4Range& range : ranges) {
    if (range.last < range.first) continue;
    const bool touches = !out.empty() && range.first.value() <= std::uint64_t{out.back().last.value()} + 1;
    if (touches)
      out.back().last = std::max(out.back().last, range.last);
    else
      out.push_back(range);
  }
  return out;
}

/// Adds one to ranges that are ascending and disjoint, which they stay.
void merge(Ipv4Range added, std::vector<Ipv4Range>& ranges) {
  const auto first = std::ranges::lower_bound(ranges, added.first, {}, &Ipv4Range::last);
  auto after = first;
  for (; after != ranges.end() && after->first <= added.last; ++after) {
    added.first = std::min(added.first, after->first);
    added.last = std::max(added.last, after->last);
  }
  ranges.insert(ranges.erase(first, after), added);
}

/// What no pool of these subnets gives.
std::vector<Ipv4Range> never_given(std::span<const Subnet> subnets) {
  std::vector<Ipv4Range> out;
  const auto add = [&](Ipv4 address) { out.push_back({address, address}); };
  for (const Subnet& subnet : subnets) {
    for (const Ipv4 server : subnet.dns_servers) add(server);
    add(subnet.server_id);
    if (subnet.router) add(*subnet.router);
    for (const Reservation& reservation : subnet.reservations) add(reservation.address);
    if (!subnet.cidr.is_host(subnet.cidr.network())) add(subnet.cidr.network());
    if (!subnet.cidr.is_host(subnet.cidr.broadcast())) add(subnet.cidr.broadcast());
    out.insert(out.end(), subnet.exclusions.begin(), subnet.exclusions.end());
  }
  return joined(std::move(out));
}

/// `range` without `holes`, which are ascending and disjoint.
std::vector<Ipv4Range> without(Ipv4Range range, const std::vector<Ipv4Range>& holes) {
  std::vector<Ipv4Range> out;
  std::uint64_t next = range.first.value();  // wider than an address: a pool may end at 255.255.255.255
  const auto add_until = [&](std::uint64_t end) {
    if (next < end) out.push_back({Ipv4(static_cast<std::uint32_t>(next)), Ipv4(static_cast<std::uint32_t>(end - 1))});
  };
  auto hole = std::ranges::lower_bound(holes, range.first, {}, &Ipv4Range::last);
  for (; hole != holes.end() && hole->first <= range.last; ++hole) {
    add_until(hole->first.value());
    next = std::max(next, std::uint64_t{hole->last.value()} + 1);
  }
  add_until(std::uint64_t{range.last.value()} + 1);
  return out;
}

ClassSet guard_of(const Pool& pool, const std::vector<ClientClass>& classes) {
  ClassSet out;
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (std::ranges::find(pool.client_classes, classes[i].name) != pool.client_classes.end()) out.set(i);
  return out;
}

}  // namespace

PoolSet::PoolSet(std::span<const Subnet> subnets) {
  const std::vector<Ipv4Range> holes = never_given(subnets);
  std::vector<Ipv4Range> earlier;  // pools
  for (std::size_t i = 0; i < subnets.size(); ++i) {
    const Ipv4Cidr& cidr = subnets[i].cidr;
    for (const Pool& pool : subnets[i].pools) {
      BOOST_ASSERT(pools_.size() < kMaxPools);
      const Ipv4Range inside{std::max(pool.range.first, cidr.network()), std::min(pool.range.last, cidr.broadcast())};
      std::vector<Ipv4Range> own;
      if (inside.first <= inside.last) {
        for (const Ipv4Range& left : without(inside, earlier))
          std::ranges::move(without(left, holes), std::back_inserter(own));
        merge(inside, earlier);
      }
      for (const Ipv4Range& range : own) pieces_.push_back({range, static_cast<std::uint16_t>(pools_.size())});
      pools_.push_back({pool.range, i, !pool.client_classes.empty(), guard_of(pool, subnets.front().client_classes),
                        FreePool(std::move(own))});
    }
  }
  std::ranges::sort(pieces_, {}, &Piece::range);
}

std::optional<std::size_t> PoolSet::find(Ipv4 address) const noexcept {
  const auto after = std::ranges::upper_bound(pieces_, address, {}, [](const Piece& p) { return p.range.first; });
  if (after == pieces_.begin() || !std::prev(after)->range.contains(address)) return std::nullopt;
  return std::prev(after)->pool;
}

bool PoolSet::has_layout_of(const PoolSet& other) const noexcept {
  return pools_.size() == other.pools_.size() && pieces_ == other.pieces_;
}

void PoolSet::claim(Ipv4 address) {
  if (const auto pool = find(address)) pools_[*pool].free.claim(address);
}

void PoolSet::give_back(Ipv4 address) {
  if (const auto pool = find(address)) pools_[*pool].free.give_back(address);
}

}  // namespace hcpnet::dhcp
