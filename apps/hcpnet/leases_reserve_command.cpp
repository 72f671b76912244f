// SPDX-License-Identifier: Apache-2.0
// hcpnet leases reserve
#include <algorithm>
#include <hcpnet/dhcp/stopped_server.hpp>
#include <iomanip>
#include <iostream>
#include <memory>

#include "admin_output.hpp"
#include "dhcp/lease_file_reader.hpp"
#include "dhcp/lease_import.hpp"
#include "leases_command.hpp"
#include "stack/to_json.hpp"

namespace hcpnet::app {
namespace {

using Json = nlohmann::json;

struct Arguments {
  StateArguments state;
  FormatArguments format;
  std::string address, mac, client_id, duid, host_name;
  bool is_removal = false;
};

std::string client_of(const Json& kept) {
  std::string client = text_of(kept, "mac");
  if (client.empty()) client = text_of(kept, "duid");
  return client.empty() ? text_of(kept, "clientId") : client;
}

void print_all(const Json& body, std::ostream& out) {
  std::size_t width = 15, client_width = 17;
  for (const Json& kept : body.at("reservations")) {
    width = std::max(width, text_of(kept, "address").size());
    client_width = std::max(client_width, client_of(kept).size());
  }
  const auto address = std::setw(static_cast<int>(width) + 2), client = std::setw(static_cast<int>(client_width) + 2);
  out << std::left << address << "ADDRESS" << client << "CLIENT" << std::setw(9) << "BY" << std::setw(28) << "SUBNET"
      << "HOST NAME\n";
  for (const Json& kept : body.at("reservations"))
    out << address << text_of(kept, "address") << client << client_of(kept) << std::setw(9)
        << (kept.at("byHand").get<bool>() ? "hand" : "files") << std::setw(28) << text_of(kept, "subnet")
        << text_of(kept, "hostName") << '\n';
}

void print_reserved(const Json& body, std::ostream& out) {
  const Json& kept = body.at("reserved");
  out << text_of(kept, "address") << " is kept for " << client_of(kept) << '\n';
}

void print_unreserved(const Json& body, std::ostream& out) {
  const Json& kept = body.at("unreserved");
  out << text_of(kept, "address") << " is no longer kept for " << client_of(kept) << '\n';
}

using Change = Result<dhcp::KeptAddress, Diagnostics>;

/// Asks the running process, or has `stopped` do the same in the folder.
template <class Stopped>
int change(const Arguments& a, const std::string& target, const char* key, Stopped stopped,
           void (*print_text)(const Json&, std::ostream&)) {
  const AdminAnswer answer = ask_admin(a.state.admin_socket(), "POST", target);
  if (!is_nobody(answer)) {
    if (answer.status != 200) return report_failure(answer, a.state.admin_socket());
    return print_answer(answer.body, a.format, a.state.admin_socket(), print_text);
  }
  dhcp::StoppedServer server(a.state.lease_database());
  const Change result = stopped(server);
  if (!result) {
    print(result.error());
    return kProblems;
  }
  return print_answer({{key, to_json(*result)}}, a.format, a.state.admin_socket(), print_text);
}

int list(const Arguments& a) {
  AdminAnswer answer = ask_admin(a.state.admin_socket(), "GET", "/leases/reservations");
  if (is_nobody(answer)) {
    const dhcp::StoppedServer stopped(a.state.lease_database());
    Json all = Json::array();
    for (const dhcp::KeptAddress& kept : stopped.reservations()) all.push_back(to_json(kept));
    answer.body = {{"reservations", std::move(all)}};
  } else if (answer.status != 200) {
    return report_failure(answer, a.state.admin_socket());
  }
  return print_answer(answer.body, a.format, a.state.admin_socket(), print_all);
}

int wrong_use(const std::string& why) {
  std::cerr << "hcpnet: " << why << '\n';
  return kWrongUse;
}

int run(const Arguments& a) {
  const int clients = int{!a.mac.empty()} + int{!a.client_id.empty()} + int{!a.duid.empty()};
  if (a.address.empty()) {
    if (clients > 0 || a.is_removal || !a.host_name.empty()) return wrong_use("an address is needed");
    return list(a);
  }
  dhcp::KeptAddress wanted;
  const auto address = parse_ip_address(a.address);
  if (!address) return wrong_use(a.address + " is no address");
  wanted.address = *address;
  wanted.host_name = a.host_name;
  if (!a.mac.empty() && !(wanted.mac = parse_mac_address(a.mac)))
    return wrong_use("--mac: " + a.mac + " is no hardware address");
  if (!a.duid.empty() && !(wanted.duid = dhcp6::parse_duid(a.duid)))
    return wrong_use("--duid: " + a.duid + " is no DUID");
  if (!a.client_id.empty()) {
    auto bytes = dhcp::parse_hex_bytes(a.client_id, dhcp::kMaxStoredClientIdBytes);
    if (!bytes) return wrong_use("--client-id: hexadecimal bytes between colons are needed, as `leases show` has them");
    wanted.client_id = *std::move(bytes);
  }
  if (a.is_removal) {
    if (clients > 0 || !a.host_name.empty()) return wrong_use("--remove takes an address and nothing else");
    return change(
        a, "/leases/unreserve?address=" + percent_encoded(a.address), "unreserved",
        [&](dhcp::StoppedServer& server) { return server.unreserve(*address); }, print_unreserved);
  }
  if (clients != 1) return wrong_use("one of --mac, --client-id and --duid is needed");
  return change(
      a,
      "/leases/reserve?address=" + percent_encoded(a.address) + "&mac=" + percent_encoded(a.mac) +
          "&clientId=" + percent_encoded(a.client_id) + "&duid=" + percent_encoded(a.duid) +
          "&hostName=" + percent_encoded(a.host_name),
      "reserved", [&](dhcp::StoppedServer& server) { return server.reserve(wanted); }, print_reserved);
}

}  // namespace

void add_leases_reserve(CLI::App& leases, int& status) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = leases.add_subcommand(
      "reserve", "keep an address for one client, beside the reservations of the files; without ADDRESS list them all");
  command->add_option("ADDRESS", a->address, "the address")->type_name("");
  command->add_option("--mac", a->mac, "the client's hardware address")->type_name("MAC");
  command->add_option("--client-id", a->client_id, "the client's identifier (option 61), for an IPv4 address")
      ->type_name("HEX");
  command->add_option("--duid", a->duid, "the client's DUID, for an IPv6 address")->type_name("DUID");
  command->add_option("--host-name", a->host_name, "its host name, one label")->type_name("NAME");
  command->add_flag("--remove", a->is_removal, "keep the address no longer");
  a->state.add_to(*command);
  a->format.add_to(*command);
  command->callback([a, &status] { status = run(*a); });
}

}  // namespace hcpnet::app
