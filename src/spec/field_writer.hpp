// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/spec/model.hpp>
#include <nlohmann/json_fwd.hpp>

/// The model as the object that load() reads into it again: apiVersion, kind, name and namespace, and of spec what
/// differs from the defaults.
namespace hcpnet::spec {

[[nodiscard]] nlohmann::json to_json(const Infra& object);
[[nodiscard]] nlohmann::json to_json(const InfraClusterAttachment& object);
[[nodiscard]] nlohmann::json to_json(const DHCPServer& object);
[[nodiscard]] nlohmann::json to_json(const DNSServer& object);
[[nodiscard]] nlohmann::json to_json(const ProxyServer& object);
[[nodiscard]] nlohmann::json to_json(const DHCPPolicy& object);
[[nodiscard]] nlohmann::json to_json(const DNSPolicy& object);
[[nodiscard]] nlohmann::json to_json(const ProxyPolicy& object);
[[nodiscard]] nlohmann::json to_json(const AppsPolicy& object);

}  // namespace hcpnet::spec
