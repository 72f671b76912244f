// SPDX-License-Identifier: Apache-2.0
// hcpnet dns zone, and where every part of `hcpnet dns` gets its zones from.
#include "dns_command.hpp"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "admin_client.hpp"
#include "stack/to_json.hpp"

namespace hcpnet::app {
namespace {

using Json = nlohmann::json;

struct Arguments {
  FileArguments files;
  StateArguments state;
  FormatArguments format;
};

std::optional<Json> zones_of_process(const StateArguments& state) {
  const AdminAnswer answer = ask_admin(state.admin_socket(), "GET", "/zones");
  if (answer.status == 200) return answer.body.at("zones");
  std::cerr << "hcpnet: " << answer.error() << '\n';
  return std::nullopt;
}

std::optional<Json> zones_of_files(const FileArguments& files) {
  const auto source = dns_from_files(files);
  if (!source) return std::nullopt;
  Json zones = Json::array();
  for (const DnsServerConfig& server : *source)
    for (const dns::View& view : server.config.views)
      for (const auto& zone : view.zones)
        zones.push_back(to_json(StackZone{server.owner, view.name, view.clients, zone}));
  return zones;
}

void print_zones(const Json& zones) {
  for (const Json& zone : zones) {
    std::cout << "; " << zone.at("server").get<std::string>() << ", view " << zone.at("view").get<std::string>()
              << " (";
    const char* separator = "";
    for (const Json& prefix : zone.at("clients")) {
      std::cout << separator << prefix.get<std::string>();
      separator = " ";
    }
    std::cout << "), zone " << zone.at("apex").get<std::string>()
              << (zone.at("available").get<bool>() ? "\n" : ", not available: SERVFAIL\n");
    for (const Json& r : zone.at("records"))
      std::cout << r.at("name").get<std::string>() << ' ' << r.at("ttl") << " IN " << r.at("type").get<std::string>()
                << ' ' << r.at("data").get<std::string>() << '\n';
  }
}

int run_zone(const Arguments& a) {
  const auto zones = a.files.files.empty() ? zones_of_process(a.state) : zones_of_files(a.files);
  if (!zones) return kProblems;
  if (a.format.is_json())
    print_json({{"zones", *zones}});
  else
    print_zones(*zones);
  return kGood;
}

}  // namespace

void print_json(const Json& body) {
  std::cout << body.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

std::optional<std::vector<DnsServerConfig>> dns_from_files(const FileArguments& files) {
  const auto checked = files.check();
  if (!checked) return std::nullopt;
  auto config = make_stack_config(checked->set, checked->observed, unknown_place());
  if (config.has_error()) {
    print(config.error());
    return std::nullopt;
  }
  print(config->warnings);
  if (config->dns.empty()) {
    std::cerr << "hcpnet: the files describe no DNS server\n";
    return std::nullopt;
  }
  return std::move(config->dns);
}

void add_dns(CLI::App& app, int& status) {
  CLI::App* dns = app.add_subcommand("dns", "names: what is served, to whom and why, and the same for other servers");
  dns->require_subcommand(1);
  auto a = std::make_shared<Arguments>();
  CLI::App* zone = dns->add_subcommand("zone", "every record of each view; from files, or from the running process");
  a->files.add_to(*zone, false);
  a->state.add_to(*zone);
  a->format.add_to(*zone);
  zone->callback([a, &status] { status = run_zone(*a); });
  add_dns_render(*dns, status);
  add_dns_explain(*dns, status);
  add_dns_query(*dns, status);
}

}  // namespace hcpnet::app
