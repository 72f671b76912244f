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

std::vector<Listener> merged_listeners(const std::vector<Listener>& listeners,
                                       const std::function<void(const std::string&)>& warn) {
  std::vector<Listener> merged;
  std::set<Endpoint> closed;  // those of `merged` that may serve nothing
  for (const Listener& listener : listeners) {
    const auto known = std::ranges::find_if(merged, [&](const Listener& other) {
      return other.address.port == listener.address.port && protocol_of(other.kind) == protocol_of(listener.kind);
    });
    if (known == merged.end()) {
      merged.push_back(listener);
      continue;
    }
    if (known->only_names == listener.only_names) continue;
    warn("port " + std::to_string(listener.address.port) + ": names that are allowed on some of its addresses only");
    if (auto names = allowed_by_both(known->only_names, listener.only_names))
      known->only_names = std::move(*names);
    else
      closed.insert(known->address);
  }
  std::erase_if(merged, [&](const Listener& listener) {
    return !listener.only_names.empty() && closed.contains(listener.address);
  });
  return merged;
}

}  // namespace hcpnet::proxy
