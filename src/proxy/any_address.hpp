// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <hcpnet/proxy/route_table.hpp>
#include <string>
#include <vector>

namespace hcpnet::proxy {

/// Whether `name`, a host name or a wildcard, is all below `pattern`.
[[nodiscard]] bool is_covered(const std::string& name, const std::string& pattern);

/// One listener for each port and protocol, for a program that listens on every address instead of those of the
/// configuration. The first of them is it, with the names that every one of them allows, as serving less is the safe
/// side; where there is no such name it is left out. `warn` is told where they differ in that.
[[nodiscard]] std::vector<Listener> merged_listeners(const std::vector<Listener>& listeners,
                                                     const std::function<void(const std::string&)>& warn);

}  // namespace hcpnet::proxy
