// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <hcpnet/dns/zone.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace hcpnet::dns {

/// Finds records that a file gives twice. Those of a small RRset are compared one by one; a large one has a table of
/// its own, so that the work stays linear.
class GivenRdata {
 public:
  /// Whether `set` has the RDATA already. Precondition: the caller adds to the set what it has not. `position` tells
  /// sets apart, and stays that of its set.
  [[nodiscard]] bool was_given(const RRset& set, std::size_t position, const std::string& rdata) {
    static constexpr std::size_t kFew = 16;
    if (set.rdata.size() < kFew) return std::ranges::find(set.rdata, rdata) != set.rdata.end();
    auto& given = given_[position];
    if (given.empty()) given.insert(set.rdata.begin(), set.rdata.end());
    return !given.insert(rdata).second;
  }

 private:
  std::unordered_map<std::size_t, std::unordered_set<std::string>> given_;  ///< by position of a large RRset
};

}  // namespace hcpnet::dns
