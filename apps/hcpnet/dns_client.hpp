// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/net.hpp>
#include <optional>

namespace hcpnet::app {

/// Asks over UDP, and over TCP when the reply is cut off. Throws boost::system::system_error when there is no good
/// reply in time, or `source` is no address of this machine.
[[nodiscard]] dns::Message ask_dns(const Endpoint& server, const std::optional<IpAddress>& source,
                                   const dns::Message& query,
                                   std::chrono::milliseconds timeout = std::chrono::seconds(5));

}  // namespace hcpnet::app
