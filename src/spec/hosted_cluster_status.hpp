// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/spec/hosted_cluster.hpp>
#include <hcpnet/text/value.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace hcpnet::spec {

/// The number at `pointer` below `object` if it is a port: 1 to 65535.
[[nodiscard]] std::optional<std::uint16_t> port_at(const text::Value& object, std::string_view pointer);
/// `text` in lower case if it is a host name or an address; empty otherwise.
[[nodiscard]] std::string host_of(std::string_view text);

/// What a HostedCluster's status says; a part that makes no sense is left out, as the cluster will write it again.
[[nodiscard]] HostedClusterStatus read_status(const text::Value& hosted_cluster);

}  // namespace hcpnet::spec
