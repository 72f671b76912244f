// SPDX-License-Identifier: Apache-2.0
// hcpnet names
#include <hcpnet/manifest/published_names.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "spec/names.hpp"

namespace hcpnet::app {
namespace {

using Json = nlohmann::json;

struct Arguments {
  FileArguments files;
  FormatArguments format;
  std::string apps_domain;
  bool is_services = false;
};

std::string port_text(std::uint16_t port) {
  return port == 0 ? "?" : std::to_string(port);
}

/// "host:port"; an IPv6 address in brackets, what only the cluster knows as "?".
std::string place_of(const manifest::PublishedName& name) {
  const auto address = parse_ip_address(name.host);
  const std::string host = name.host.empty() ? "?" : address && address->is_v6() ? '[' + name.host + ']' : name.host;
  return host + ':' + port_text(name.port);
}

void print_text(const manifest::ClusterNames& cluster, std::ostream& out) {
  out << cluster.hosted_cluster << " (control plane " << cluster.control_plane_namespace << ")\n";
  for (const manifest::PublishedName& name : cluster.names) {
    out << "  " << place_of(name) << " -> " << (name.target ? name.target->to_string() : "the guest's router") << " ("
        << name.service << (name.strategy.empty() ? "" : " by " + name.strategy) << ", " << to_string(name.source)
        << (name.needs_record ? "" : ", no record") << ")\n";
  }
  for (const manifest::PortFallback& fallback : cluster.fallbacks)
    out << "  no or any other name, port " << fallback.port << " -> "
        << (fallback.target ? fallback.target->to_string() : "closed") << '\n';
}

int print_names(const Arguments& a, const CheckedFiles& checked) {
  const auto names = manifest::make_published_names(checked.set, checked.observed, {a.apps_domain});
  print(names ? names->warnings : names.error());
  if (!names) return kProblems;
  if (a.format.is_json()) {
    Json clusters = Json::array();
    for (const manifest::ClusterNames& cluster : names->clusters) clusters.push_back(manifest::to_json(cluster));
    std::cout << Json{{"clusters", std::move(clusters)}}.dump(2) << '\n';
  } else {
    for (const manifest::ClusterNames& cluster : names->clusters) print_text(cluster, std::cout);
  }
  return kGood;
}

int print_services(const Arguments& a, const CheckedFiles& checked) {
  const auto made = manifest::make_publishing_strategies(checked.set);
  print(made ? made->warnings : made.error());
  if (!made) return kProblems;
  std::cout << (a.format.is_json() ? Json{{"hostedClusters", made->hosted_clusters}}.dump(2) + '\n'
                                   : text::render_yaml_documents(made->hosted_clusters));
  return kGood;
}

int run(const Arguments& a) {
  if (!a.apps_domain.empty())
    if (const auto wrong = spec::host_name_problem(a.apps_domain, spec::HostForm::exact)) {
      std::cerr << "hcpnet: --apps-domain: " << a.apps_domain << " is no domain: " << *wrong << '\n';
      return kWrongUse;
    }
  const auto checked = a.files.check(spec::KindSet::names);
  if (!checked) return kProblems;
  return a.is_services ? print_services(a, *checked) : print_names(a, *checked);
}

}  // namespace

void add_names(CLI::App& app, int& status) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "names", "say under which names HyperShift publishes hosted clusters, or what makes it publish wanted ones");
  CLI::Option* services = command->add_flag(
      "--services", a->is_services,
      "the other way: the spec.services of new HostedClusters, for the names that the Infras of the set serve");
  command
      ->add_option("--apps-domain", a->apps_domain,
                   "what the management cluster's router serves: Routes without a host name are below it")
      ->type_name("DOMAIN")
      ->excludes(services);
  a->files.add_to(*command, true);
  a->format.add_to(*command);
  command->callback([a, &status] { status = run(*a); });
}

}  // namespace hcpnet::app
