// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dns/config.hpp>
#include <hcpnet/stack/config.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"

/// The parts of `hcpnet dns`, one file each.
namespace hcpnet::app {

/// What the DNS servers of the files are told. Prints what is wrong and returns nullopt; prints warnings otherwise.
[[nodiscard]] std::optional<std::vector<DnsServerConfig>> dns_from_files(const FileArguments& files);
/// Prints JSON, whatever bytes are in it.
void print_json(const nlohmann::json& body);

void add_dns_render(CLI::App& dns, int& status);
void add_dns_explain(CLI::App& dns, int& status);
void add_dns_query(CLI::App& dns, int& status);

}  // namespace hcpnet::app
