// SPDX-License-Identifier: Apache-2.0
#include "proxy/any_address.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace hcpnet::proxy {
namespace {

/// What both lists allow; an empty list allows everything. Absent: nothing.
std::optional<std::vector<std::string>> allowed_by_both(const std::vector<std::string>& one,
                                                        const std::vector<std::string>& other) {
  if (one.empty()) return other;
  if (other.empty()) return one;
  std::set<std::string> both;
  for (const std::string& a : one)
    for (const std::string& b : other) {
      if (is_covered(a, b)) both.insert(a);
      if (is_covered(b, a)) both.insert(b);
    }
  if (both.empty()) return std::nullopt;
  return std::vector<std::string>(both.begin(), both.end());
}

}  // namespace

bool is_covered(const std::string& name, const std::string& pattern) {
  return name == pattern || (pattern.starts_with("*.") && name.ends_with(pattern.substr(1)));
}

std::vector<MergedListener> merged_listeners(const std::vector<Listener>& listeners) {
  std::vector<MergedListener> merged;
  for (const Listener& listener : listeners) {
    const auto known = std::ranges::find_if(merged, [&](const MergedListener& other) {
      return other.listener.address.port == listener.address.port &&
             protocol_of(other.listener.kind) == protocol_of(listener.kind);
    });
    if (known == merged.end()) {
      merged.push_back({listener});
      continue;
    }
    std::vector<std::string>& names = known->listener.only_names;
    if (names == listener.only_names) continue;
    known->differs = true;
    if (auto both = allowed_by_both(names, listener.only_names))
      names = std::move(*both);
    else
      known->is_closed = true;
  }
  return merged;
}

}  // namespace hcpnet::proxy
