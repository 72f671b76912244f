// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/proxy/route_table.hpp>
#include <string>
#include <vector>

namespace hcpnet::proxy {

/// Whether `name`, a host name or a wildcard, is all below `pattern`.
[[nodiscard]] bool is_covered(const std::string& name, const std::string& pattern);

/// The listeners of one port and protocol, for a program that listens on every address instead of theirs.
struct MergedListener {
  /// The first of them, with the names that every one of them allows, as serving less is the safe side.
  Listener listener;
  bool is_closed = false;  ///< there is no such name
  bool differs = false;    ///< they do not all allow the same
};
[[nodiscard]] std::vector<MergedListener> merged_listeners(const std::vector<Listener>& listeners);

}  // namespace hcpnet::proxy
