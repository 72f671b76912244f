// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <hcpnet/proxy/route_table.hpp>
#include <string>
#include <vector>

namespace hcpnet::proxy {

/// One listener for each port and protocol, for a program that listens on every address instead of those of the
/// configuration. The first of them is it; a list of names holds for all of them, as serving less is the safe side.
/// `warn` is told where they differ in that.
[[nodiscard]] std::vector<Listener> merged_listeners(const std::vector<Listener>& listeners,
                                                     const std::function<void(const std::string&)>& warn);

}  // namespace hcpnet::proxy
