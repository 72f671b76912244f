// SPDX-License-Identifier: Apache-2.0
// Commands that ask the running process: status, reload, drain.
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>

#include "admin_client.hpp"
#include "admin_output.hpp"
#include "command.hpp"

namespace hcpnet::app {
namespace {

using Json = nlohmann::json;

struct Arguments {
  StateArguments state;
  FormatArguments format;
};

void print_pools(const Json& subnets, std::ostream& out) {
  for (const Json& subnet : subnets)
    for (const Json& pool : subnet.at("pools"))
      out << "pool " << text_of(pool, "pool") << " of " << text_of(subnet, "subnet") << ": " << pool.value("bound", 0)
          << " bound, " << pool.value("offered", 0) << " offered, " << pool.value("declined", 0) << " declined of "
          << pool.value("size", std::uint64_t{0}) << '\n';
}

void print_status(const Json& status, std::ostream& out) {
  out << "hcpnet " << text_of(status, "version") << ", reloads " << status.value("reloads", 0) << ", refused "
      << status.value("reloadsRefused", 0) << '\n';
  if (const auto last = status.find("lastReload"); last != status.end())
    out << "last reload " << text_of(*last, "time")
        << (last->at("applied").get<bool>() ? ": applied\n" : ": refused\n");
  for (const Json& l : status.at("listeners"))
    out << std::left << std::setw(8) << text_of(l, "service") << std::setw(28) << text_of(l, "bound")
        << text_of(l, "owner")
        << (text_of(l, "bound") == text_of(l, "configured") ? "" : "  for " + text_of(l, "configured")) << '\n';
  if (const auto dhcp = status.find("dhcp"); dhcp != status.end()) print_pools(dhcp->at("subnets"), out);
  for (const Json& trouble : status.at("troubles")) out << "trouble: " << trouble.get<std::string>() << '\n';
  print_diagnostics(status.at("warnings"), out);
}

int ask(const Arguments& a, const char* method, const char* target,
        void (*print_text)(const Json&, std::ostream& out)) {
  const AdminAnswer answer = ask_admin(a.state.admin_socket(), method, target);
  if (answer.status == 0 || (answer.status != 200 && !answer.body.is_object()) ||
      (answer.status != 200 && answer.body.contains("error"))) {
    std::cerr << "hcpnet: " << answer.error() << '\n';
    return kProblems;
  }
  std::ostringstream text;  // all or nothing
  try {
    print_text(answer.body, text);
  } catch (const Json::exception&) {
    std::cerr << "hcpnet: " << unexpected_answer(a.state.admin_socket()) << '\n';
    return kProblems;
  }
  std::cout << (a.format.is_json() ? answer.body.dump(2) + '\n' : text.str());
  return answer.status == 200 ? kGood : kProblems;
}

std::shared_ptr<Arguments> arguments_of(CLI::App& command) {
  auto a = std::make_shared<Arguments>();
  a->state.add_to(command);
  a->format.add_to(command);
  return a;
}

}  // namespace

void add_status(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("status", "show what the running process serves and what troubles it");
  command->callback([a = arguments_of(*command), &status] { status = ask(*a, "GET", "/status", print_status); });
}

void add_reload(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "reload", "let the running process read its files again; says why when it keeps the old state");
  command->callback([a = arguments_of(*command), &status] {
    status = ask(*a, "POST", "/reload", [](const Json& body, std::ostream& out) {
      print_diagnostics(body.at("diagnostics"), out);
      out << (body.at("applied").get<bool>() ? "reloaded\n" : "refused: the old state stays\n");
    });
  });
}

void add_drain(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "drain", "let the proxies of the running process take no new connections; tunnels, DHCP and DNS go on");
  command->callback([a = arguments_of(*command), &status] {
    status = ask(*a, "POST", "/drain", [](const Json& body, std::ostream& out) {
      out << "draining, " << body.value("active", std::uint64_t{0}) << " connections open\n";
    });
  });
}

}  // namespace hcpnet::app
