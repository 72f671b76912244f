// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/stack.hpp>
#include <nlohmann/json_fwd.hpp>

#include "stack/lease_feed.hpp"

/// The one JSON form of what people and programs look at, shared by the admin pages and the commands' `-o json`.
namespace hcpnet {

[[nodiscard]] nlohmann::json to_json(const Diagnostics& diagnostics);
[[nodiscard]] nlohmann::json to_json(const dhcp::Lease& lease);
[[nodiscard]] nlohmann::json to_json(const dhcp6::Lease& lease);
[[nodiscard]] nlohmann::json to_json(const dhcp::LeaseImport& outcome);
[[nodiscard]] nlohmann::json to_json(const dhcp::EndedLease& ended);
[[nodiscard]] nlohmann::json to_json(const dhcp::KeptAddress& kept);
/// How full the subnets of DHCPv4 and their pools are.
[[nodiscard]] nlohmann::json subnets_to_json(const dhcp::ServerStats& stats);
[[nodiscard]] nlohmann::json to_json(const LeaseFeed::Event& event);
/// Whether `key` is the lease's address, its client's MAC address, client identifier or DUID, or its host name.
[[nodiscard]] bool is_lease_of(const dhcp::Lease& lease, const std::string& key);
[[nodiscard]] bool is_lease_of(const dhcp6::Lease& lease, const std::string& key);
[[nodiscard]] nlohmann::json to_json(const RouteExplanation& answer);
[[nodiscard]] nlohmann::json to_json(const StackZone& zone);
[[nodiscard]] nlohmann::json to_json(const std::string& server, const dns::Explanation& explanation);
[[nodiscard]] nlohmann::json to_json(const StackReload& reload);

/// The pages of the proxies on the admin listener (docs/commands.md).
[[nodiscard]] nlohmann::json to_json(const proxy::RouteConfig& config);
/// `granted`: Engine::granted_buffers().
[[nodiscard]] nlohmann::json to_json(const proxy::EngineSettings& settings, const proxy::SocketBuffers& granted);
[[nodiscard]] nlohmann::json to_json(const proxy::EngineStats& stats);
[[nodiscard]] nlohmann::json clusters_to_json(const proxy::EngineStats& stats);
[[nodiscard]] nlohmann::json listeners_to_json(const proxy::EngineStats& stats,
                                               const std::vector<proxy::BoundListener>& bound);

}  // namespace hcpnet
