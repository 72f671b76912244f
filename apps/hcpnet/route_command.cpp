// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/stack/config.hpp>
#include <hcpnet/stack/explain.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "admin_client.hpp"
#include "command.hpp"
#include "stack/to_json.hpp"

namespace hcpnet::app {
namespace {

using Json = nlohmann::json;

struct Arguments {
  std::string name, from;
  std::uint16_t port = 0;
  FileArguments files;
  StateArguments state;
  FormatArguments format;
};

std::optional<Json> routes_from_files(const Arguments& a, const IpAddress& source) {
  const auto checked = a.files.check();
  if (!checked) return std::nullopt;
  auto config = make_stack_config(checked->set, checked->observed, unknown_place());
  if (config.has_error()) {
    print(config.error());
    return std::nullopt;
  }
  Json routes = Json::array();
  for (const ProxyServerConfig& proxy : config->proxies)
    for (const RouteExplanation& answer :
         explain_routes(proxy.owner, *proxy.table, proxy.workers, a.name, a.port, source))
      routes.push_back(to_json(answer));
  return routes;
}

std::optional<Json> routes_from_process(const Arguments& a) {
  const std::string query =
      "/routes?port=" + std::to_string(a.port) + "&sni=" + percent_encoded(a.name) + "&from=" + percent_encoded(a.from);
  const AdminAnswer answer = ask_admin(a.state.admin_socket(), "GET", query);
  if (answer.status == 200) return answer.body.is_object() ? answer.body.value("routes", Json()) : Json();
  std::cerr << "hcpnet: " << answer.error() << '\n';
  return std::nullopt;
}

void print_text(const Json& routes, std::uint16_t port, std::ostream& out) {
  for (const Json& r : routes) {
    const std::string backend = r.at("backend");
    out << r.at("proxy").get<std::string>() << ' ' << r.at("listener").get<std::string>()
        << (r.at("protocol") == "UDP" ? "/UDP: " : ": ") << (backend.empty() ? "closed" : backend) << " ("
        << r.at("rule").get<std::string>();
    if (const std::string matched = r.at("matched"); !matched.empty()) out << ' ' << matched;
    if (const std::string cluster = r.at("sourceCluster"); !cluster.empty()) out << ", source belongs to " << cluster;
    out << ")\n";
    for (const Json& target : r.at("targets")) out << "  " << target.get<std::string>() << '\n';
    if (!backend.empty() && r.at("targets").empty()) out << "  nothing serves it\n";
  }
  if (routes.empty()) out << "no proxy listens on port " << port << '\n';
}

int run(const Arguments& a) {
  const auto source = a.from.empty() ? IpAddress{} : parse_ip_address(a.from);
  if (!source) {
    std::cerr << "hcpnet: --from: " << a.from << " is not an address\n";
    return kWrongUse;
  }
  const auto routes = a.files.files.empty() ? routes_from_process(a) : routes_from_files(a, *source);
  if (!routes) return kProblems;
  std::ostringstream text;  // all or nothing
  try {
    if (!routes->is_array()) throw std::invalid_argument("routes");
    print_text(*routes, a.port, text);
  } catch (const std::exception&) {
    std::cerr << "hcpnet: " << unexpected_answer(a.state.admin_socket()) << '\n';
    return kProblems;
  }
  std::cout << (a.format.is_json() ? Json{{"routes", *routes}}.dump(2) + '\n' : text.str());
  return kGood;
}

}  // namespace

void add_route(CLI::App& app, int& status) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("route", "say where a connection would go, and why; from files, or from the running process");
  command->add_option("NAME", a->name, "server name as a client sends it; \"\" for none")->required()->type_name("");
  command->add_option("--port", a->port, "port that the client connects to")
      ->required()
      ->type_name("N")
      ->check(CLI::Range(1, 65535));
  command->add_option("--from", a->from, "address of the client")->type_name("ADDRESS");
  a->files.add_to(*command, false);
  a->state.add_to(*command);
  a->format.add_to(*command);
  command->callback([a, &status] { status = run(*a); });
}

}  // namespace hcpnet::app
