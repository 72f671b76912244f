// SPDX-License-Identifier: Apache-2.0
// hcpnet leases list, show, export, release, watch
#include "leases_command.hpp"

#include <algorithm>
#include <cstdint>
#include <hcpnet/dhcp/lease_file.hpp>
#include <hcpnet/dhcp/stopped_server.hpp>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <utility>

#include "admin_output.hpp"
#include "stack/to_json.hpp"

namespace hcpnet::app {
namespace {

using Json = nlohmann::json;

struct Arguments {
  StateArguments state;
  FormatArguments format;
  std::string key;
};

std::shared_ptr<Arguments> arguments_of(CLI::App& command) {
  auto a = std::make_shared<Arguments>();
  a->state.add_to(command);
  a->format.add_to(command);
  return a;
}

void print_problems(const dhcp::StoppedServer& stopped) {
  for (const std::string& problem : stopped.problems()) std::cerr << "hcpnet: lease database: " << problem << '\n';
}

/// Who has the lease: a client of DHCPv6 may have no known hardware address.
std::string client_of(const Json& lease) {
  const std::string mac = text_of(lease, "mac");
  return mac.empty() ? text_of(lease, "duid") : mac;
}

void print_leases(const Json& leases, std::ostream& out) {
  // An IPv6 address can be longer than an IPv4 address and its column, and so can a DUID.
  std::size_t width = 15, client_width = 17;
  for (const Json& l : leases.at("leases")) {
    width = std::max(width, text_of(l, "address").size());
    client_width = std::max(client_width, client_of(l).size());
  }
  const auto address = std::setw(static_cast<int>(width) + 2), client = std::setw(static_cast<int>(client_width) + 2);
  out << std::left << address << "ADDRESS" << client << "CLIENT" << std::setw(10) << "STATE" << std::setw(22)
      << "EXPIRES" << std::setw(28) << "SUBNET" << "HOST NAME\n";
  for (const Json& l : leases.at("leases"))
    out << address << text_of(l, "address") << client << client_of(l) << std::setw(10) << text_of(l, "state")
        << std::setw(22) << text_of(l, "expires") << std::setw(28) << text_of(l, "subnet") << text_of(l, "hostName")
        << '\n';
}

void print_lease(const Json& lease, std::ostream& out) {
  static constexpr std::pair<const char*, const char*> kLines[] = {
      {"address", "address"}, {"mac", "MAC"},     {"clientId", "client identifier"},
      {"duid", "DUID"},       {"iaid", "IAID"},   {"hostName", "host name"},
      {"subnet", "subnet"},   {"state", "state"}, {"started", "started"},
      {"expires", "expires"}};
  for (const auto& [key, title] : kLines) {
    const auto value = lease.find(key);
    if (value == lease.end() || (value->is_string() && value->get<std::string>().empty())) continue;
    out << std::left << std::setw(19) << title << (value->is_string() ? value->get<std::string>() : value->dump())
        << '\n';
  }
}

void print_lease_details(const Json& leases, std::ostream& out) {
  bool is_first = true;
  for (const Json& lease : leases.at("leases")) {
    if (!std::exchange(is_first, false)) out << '\n';
    print_lease(lease, out);
  }
}

Json leases_of(const dhcp::StoppedServer& stopped, const std::string& key) {
  Json all = Json::array();
  for (const dhcp::Lease& lease : stopped.leases())
    if (key.empty() || is_lease_of(lease, key)) all.push_back(to_json(lease));
  for (const dhcp6::Lease& lease : stopped.leases6())
    if (key.empty() || is_lease_of(lease, key)) all.push_back(to_json(lease));
  return {{"leases", std::move(all)}};
}

/// GET /leases, or the same from the folder. Returns an exit status; `body` counts when it is kGood.
int read_leases(const StateArguments& state, const std::string& key, Json& body) {
  const std::string target = key.empty() ? "/leases" : "/leases?of=" + percent_encoded(key);
  AdminAnswer answer = ask_admin(state.admin_socket(), "GET", target);
  if (is_nobody(answer)) {
    const dhcp::StoppedServer stopped(state.lease_database());
    print_problems(stopped);
    body = leases_of(stopped, key);
    return kGood;
  }
  if (answer.status != 200 || !answer.body.is_object()) return report_failure(answer, state.admin_socket());
  body = std::move(answer.body);
  return kGood;
}

int list(const Arguments& a) {
  Json body;
  const int status = read_leases(a.state, {}, body);
  return status == kGood ? print_answer(body, a.format, a.state.admin_socket(), print_leases) : status;
}

int show(const Arguments& a) {
  Json body;
  if (const int status = read_leases(a.state, a.key, body); status != kGood) return status;
  const auto leases = body.find("leases");
  if (leases != body.end() && leases->is_array() && leases->empty()) {
    std::cerr << "hcpnet: no lease has the address, hardware address, client identifier, DUID or host name " << a.key
              << '\n';
    return kProblems;
  }
  return print_answer(body, a.format, a.state.admin_socket(), print_lease_details);
}

struct Leases {
  std::vector<dhcp::Lease> v4;
  std::vector<dhcp6::Lease> v6;
};

int read_lease_file(const StateArguments& state, Leases& out) {
  const AdminAnswer answer = ask_admin(state.admin_socket(), "GET", "/leases/export");
  if (is_nobody(answer)) {
    const dhcp::StoppedServer stopped(state.lease_database());
    print_problems(stopped);
    out = {stopped.leases(), stopped.leases6()};
    return kGood;
  }
  if (answer.status != 200) return report_failure(answer, state.admin_socket());
  dhcp::LeaseFileLimits limits;  // whatever the process has
  limits.max_file_bytes = limits.max_leases = SIZE_MAX;
  auto list = dhcp::parse_lease_file(dhcp::LeaseFileFormat::hcpnet, state.admin_socket(), answer.text, limits);
  if (!list) {
    print(list.error());
    return kProblems;
  }
  for (dhcp::ListedLease& listed : list->leases) out.v4.push_back(std::move(listed.lease));
  for (dhcp::ListedLease6& listed : list->leases6) out.v6.push_back(std::move(listed.lease));
  return kGood;
}

int export_leases(const StateArguments& state, const std::string& format) {
  Leases leases;
  if (const int status = read_lease_file(state, leases); status != kGood) return status;
  if (format == "hcpnet")
    std::cout << dhcp::render_lease_file(leases.v4, leases.v6);
  else if (format == "kea6")
    std::cout << dhcp::render_kea_leases6(leases.v6);
  else
    std::cout << dhcp::render_lease_file(*dhcp::parse_lease_file_format(format), leases.v4);
  return kGood;
}

void print_ended(const Json& body, std::ostream& out) {
  const Json& lease = body.at("ended");
  out << text_of(lease, "address") << " is free; the last to have it was " << client_of(lease) << '\n';
}

int release(const Arguments& a) {
  const auto address = parse_ip_address(a.key);
  if (!address) {
    std::cerr << "hcpnet: " << a.key << " is no address\n";
    return kWrongUse;
  }
  const AdminAnswer answer =
      ask_admin(a.state.admin_socket(), "POST", "/leases/release?address=" + percent_encoded(a.key));
  if (!is_nobody(answer)) {
    if (answer.status != 200) return report_failure(answer, a.state.admin_socket());
    return print_answer(answer.body, a.format, a.state.admin_socket(), print_ended);
  }
  dhcp::StoppedServer stopped(a.state.lease_database());
  const auto ended = stopped.release(*address);
  if (!ended) {
    print(ended.error());
    return kProblems;
  }
  return print_answer({{"ended", to_json(*ended)}}, a.format, a.state.admin_socket(), print_ended);
}

void print_event(const Json& event, bool is_json) {
  if (is_json) {
    std::cout << event.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
    return;
  }
  const Json& lease = event.at("lease");
  std::cout << text_of(event, "time") << ' ' << std::left << std::setw(9) << text_of(event, "event")
            << text_of(lease, "address") << ' ' << client_of(lease) << ' ' << text_of(lease, "subnet") << ' '
            << text_of(lease, "hostName") << std::endl;
}

/// Until the process ends, or nobody reads any more.
int watch(const Arguments& a) try {
  const std::string socket = a.state.admin_socket();
  std::string target = "/leases/events";
  while (std::cout) {
    const AdminAnswer answer = ask_admin(socket, "GET", target);
    if (answer.status != 200 || !answer.body.is_object()) return report_failure(answer, socket);
    if (const auto missed = answer.body.at("missed").get<std::uint64_t>(); missed != 0)
      std::cerr << "hcpnet: " << missed << " events were missed\n";
    for (const Json& event : answer.body.at("events")) print_event(event, a.format.is_json());
    target = "/leases/events?after=" + std::to_string(answer.body.at("last").get<std::uint64_t>());
  }
  return kProblems;
} catch (const Json::exception&) {
  std::cerr << "hcpnet: " << unexpected_answer(a.state.admin_socket()) << '\n';
  return kProblems;
}

void add_export(CLI::App& leases, int& status) {
  struct ExportArguments {
    StateArguments state;
    std::string format = "hcpnet";
  };
  auto a = std::make_shared<ExportArguments>();
  CLI::App* command = leases.add_subcommand(
      "export", "write the leases as a lease file to standard output; isc, dnsmasq and kea have those of IPv4");
  a->state.add_to(*command);
  command->add_option("-o", a->format, "whose format; hcpnet, the default, has all there is")
      ->check(CLI::IsMember({"hcpnet", "isc", "dnsmasq", "kea", "kea6"}))
      ->type_name("hcpnet|isc|dnsmasq|kea|kea6");
  command->callback([a, &status] { status = export_leases(a->state, a->format); });
}

}  // namespace

int report_failure(const AdminAnswer& answer, const std::string& socket) {
  try {
    if (answer.body.is_object() && answer.body.contains("diagnostics")) {
      print_diagnostics(answer.body.at("diagnostics"), std::cerr);
      return kProblems;
    }
    std::cerr << "hcpnet: " << (answer.body.is_object() ? answer.error() : unexpected_answer(socket)) << '\n';
  } catch (const Json::exception&) {
    std::cerr << "hcpnet: " << unexpected_answer(socket) << '\n';
  }
  return kProblems;
}

int print_answer(const Json& body, const FormatArguments& format, const std::string& socket,
                 void (*print_text)(const Json&, std::ostream& out)) {
  std::ostringstream text;  // all or nothing
  try {
    print_text(body, text);
  } catch (const Json::exception&) {
    std::cerr << "hcpnet: " << unexpected_answer(socket) << '\n';
    return kProblems;
  }
  std::cout << (format.is_json() ? body.dump(2, ' ', false, Json::error_handler_t::replace) + '\n' : text.str());
  return kGood;
}

void add_leases(CLI::App& app, int& status) {
  CLI::App* leases =
      app.add_subcommand("leases", "DHCP leases, of the running process or, where none runs, in the state folder");
  leases->require_subcommand(1);
  CLI::App* list_command = leases->add_subcommand("list", "every lease, by address");
  list_command->callback([a = arguments_of(*list_command), &status] { status = list(*a); });

  CLI::App* show_command = leases->add_subcommand("show", "all about the leases of one client or address");
  auto shown = arguments_of(*show_command);
  show_command->add_option("KEY", shown->key, "an address, a hardware address, a DUID or a host name")
      ->required()
      ->type_name("");
  show_command->callback([shown, &status] { status = show(*shown); });

  add_leases_import(*leases, status);
  add_export(*leases, status);

  CLI::App* release_command = leases->add_subcommand(
      "release", "end the lease on an address, or let a declined address rest no longer; its client has to be gone");
  auto released = arguments_of(*release_command);
  release_command->add_option("ADDRESS", released->key, "an address with a lease in use")->required()->type_name("");
  release_command->callback([released, &status] { status = release(*released); });

  add_leases_reserve(*leases, status);

  CLI::App* watch_command = leases->add_subcommand(
      "watch", "what happens to leases, one line for each event, until the running process ends");
  watch_command->callback([a = arguments_of(*watch_command), &status] { status = watch(*a); });
}

}  // namespace hcpnet::app
