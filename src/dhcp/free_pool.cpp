// SPDX-License-Identifier: Apache-2.0
#include "dhcp/free_pool.hpp"

#include <algorithm>
#include <utility>

namespace hcpnet::dhcp {

FreePool::FreePool(std::vector<Ipv4Range> ranges) : ranges_(std::move(ranges)) {
  for (const Ipv4Range& range : ranges_) size_ += range.size();
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
