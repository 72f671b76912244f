// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <hcpnet/clock.hpp>
#include <hcpnet/proxy/engine.hpp>
#include <string>
#include <vector>

namespace hcpnet::proxy {

/// The name servers to ask now, the first ones first.
using NameServers = std::function<std::vector<Endpoint>(Clock::SteadyTime now)>;
[[nodiscard]] NameServers servers_of_resolv_conf(const std::string& path);

/// Looks names up by DNS, as absolute names: IPv4 and IPv6 at the same time, the time to live being the least of all
/// records that led there; one second where nobody answered about one of the two. What DNS does not know, and names of
/// less than two labels, go to `otherwise`: it knows hosts files and search lists, but no time to live. The error is
/// host_not_found where DNS says that there is nothing, whatever `otherwise` fails with. On one executor; the clock
/// must outlive what this returns.
[[nodiscard]] Resolve make_dns_resolve(const boost::asio::any_io_executor& executor, Clock& clock, NameServers servers,
                                       Resolve otherwise);

}  // namespace hcpnet::proxy
