// SPDX-License-Identifier: Apache-2.0
// hcpnet dns zone, and where every part of `hcpnet dns` gets its zones from.
#include "dns_command.hpp"

#include <hcpnet/dns/rdata.hpp>
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

dns::RRset to_rrset(const Json& record) {
  const dns::Type type = dns::parse_type(record.at("type").get<std::string>()).value();
  return {dns::parse_name(record.at("name").get<std::string>()).value(),
          type,
          record.at("ttl").get<std::uint32_t>(),
          {dns::parse_rdata(type, record.at("data").get<std::string>()).value()}};
}

std::shared_ptr<const dns::Zone> to_zone(const Json& zone) {
  std::vector<dns::RRset> rrsets;
  for (const Json& record : zone.at("records")) rrsets.push_back(to_rrset(record));
  return std::make_shared<const dns::Zone>(
      dns::parse_name(zone.at("apex").get<std::string>()).value(), std::move(rrsets), 1,
      zone.at("available").get<bool>() ? dns::Availability::available : dns::Availability::unavailable);
}

/// The last element, if it has that name; else a new one.
template <class Element>
Element& last_named(std::vector<Element>& all, std::string Element::* name, const std::string& value) {
  if (all.empty() || all.back().*name != value) {
    all.emplace_back();
    all.back().*name = value;
  }
  return all.back();
}

}  // namespace

void print_json(const Json& body) {
  std::cout << body.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

std::optional<std::vector<DnsServerConfig>> dns_from_files(const FileArguments& files) {
  const auto checked = files.check();
  if (!checked) return std::nullopt;
  auto config = make_stack_config(checked->set, checked->observed, {});
  if (config.has_error()) {
    print(config.error());
    return std::nullopt;
  }
  print(config->warnings);
  return std::move(config->dns);
}

std::optional<std::vector<DnsServerConfig>> dns_from_process(const StateArguments& state) {
  const auto zones = zones_of_process(state);
  if (!zones) return std::nullopt;
  std::vector<DnsServerConfig> servers;
  for (const Json& zone : *zones) {  // in the order of servers and views
    DnsServerConfig& server = last_named(servers, &DnsServerConfig::owner, zone.at("server").get<std::string>());
    dns::View& view = last_named(server.config.views, &dns::View::name, zone.at("view").get<std::string>());
    if (view.zones.empty())
      for (const Json& prefix : zone.at("clients"))
        view.clients.push_back(parse_cidr(prefix.get<std::string>()).value());
    view.zones.push_back(to_zone(zone));
  }
  return servers;
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
