// SPDX-License-Identifier: Apache-2.0
#include "proxy/any_address.hpp"

#include <algorithm>

namespace hcpnet::proxy {

std::vector<Listener> merged_listeners(const std::vector<Listener>& listeners,
                                       const std::function<void(const std::string&)>& warn) {
  std::vector<Listener> merged;
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
    if (known->only_names.empty()) known->only_names = listener.only_names;
  }
  return merged;
}

}  // namespace hcpnet::proxy
