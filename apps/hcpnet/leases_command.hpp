// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/dhcp6/lease.hpp>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "admin_client.hpp"
#include "command.hpp"

/// What the commands about leases share. They ask the running process, and open the state folder where none runs.
namespace hcpnet::app {

/// True where nobody answers on the admin socket: the folder may be opened instead, and its lock tells whether it may.
[[nodiscard]] inline bool is_nobody(const AdminAnswer& answer) {
  return answer.status == 0;
}
/// Prints why there is no good answer, or the diagnostics of a refusal. Returns the exit status.
int report_failure(const AdminAnswer& answer, const std::string& socket);
/// Prints an answer: JSON, or what `print_text` makes of it. Returns the exit status.
int print_answer(const nlohmann::json& body, const FormatArguments& format, const std::string& socket,
                 void (*print_text)(const nlohmann::json&, std::ostream& out));

void add_leases_import(CLI::App& leases, int& status);
void add_leases_reserve(CLI::App& leases, int& status);

}  // namespace hcpnet::app
