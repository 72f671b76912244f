// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/net.hpp>
#include <vector>

namespace hcpnet::dns {

/// Whether a datagram to `endpoint` would come to one of the bound `listeners`: the same address, or any address of
/// this host where a listener is bound to all of them. Asks the system for its addresses at each call; on failure only
/// loopback counts as its own.
[[nodiscard]] bool is_own_endpoint(const std::vector<Endpoint>& listeners, const Endpoint& endpoint);

}  // namespace hcpnet::dns
