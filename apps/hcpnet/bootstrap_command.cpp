// SPDX-License-Identifier: Apache-2.0
// hcpnet bootstrap render, graph, kubeconfig, pointer; hcpnet pki expiry
#include <chrono>
#include <hcpnet/bootstrap/kubeconfig.hpp>
#include <hcpnet/bootstrap/render.hpp>
#include <hcpnet/bootstrap/stages.hpp>
#include <hcpnet/clock.hpp>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "stack/to_json.hpp"

namespace hcpnet::app {
namespace {

/// Splits what is wanted off a Result, or prints the problems.
template <class T>
std::optional<T> printed(Result<T, Diagnostics> result) {
  if (result) return *std::move(result);
  print(result.error());
  return std::nullopt;
}

const spec::ValidBootstrapCluster* find_cluster(const CheckedFiles& files, const std::string& name) {
  const auto& clusters = files.set.bootstrap_clusters;
  if (name.empty() && clusters.size() == 1) return &clusters.front();
  for (const spec::ValidBootstrapCluster& cluster : clusters)
    if (cluster.metadata.name == name) return &cluster;
  std::cerr << (name.empty() ? "hcpnet: the files describe " + std::to_string(clusters.size()) +
                                   " objects of the kind BootstrapCluster; --name says which one is meant\n"
                             : "hcpnet: the files describe no BootstrapCluster " + name + '\n');
  return nullptr;
}

void print_changes(const bootstrap::Rendered& rendered, const pki::Written& written) {
  for (const pki::StoreChange& change : rendered.changes)
    if (change.action != pki::StoreAction::kept)
      std::cout << "pki/" << change.name << ": " << to_string(change.action)
                << (change.reason.empty() ? "" : ": " + change.reason) << '\n';
  for (const bootstrap::IgnitionReport& config : rendered.ignition)
    std::cout << "ignition/" << config.name << ": version " << config.version << ", " << config.files << " files, "
              << config.units << " units, " << config.bytes << " bytes\n";
  std::cout << written.changed.size() << " files written, " << written.unchanged << " as they were\n";
}

void print_changes_as_json(const bootstrap::Rendered& rendered, const pki::Written& written) {
  nlohmann::json changes = nlohmann::json::array();
  for (const pki::StoreChange& change : rendered.changes)
    changes.push_back({{"name", change.name}, {"action", to_string(change.action)}, {"reason", change.reason}});
  nlohmann::json configs = nlohmann::json::array();
  for (const bootstrap::IgnitionReport& config : rendered.ignition)
    configs.push_back({{"name", config.name},
                       {"version", config.version},
                       {"files", config.files},
                       {"units", config.units},
                       {"bytes", config.bytes}});
  std::cout << nlohmann::json{{"pki", changes},
                              {"ignition", configs},
                              {"written", written.changed},
                              {"unchanged", written.unchanged}}
                   .dump(2)
            << '\n';
}

struct RenderArguments {
  FileArguments files;
  FormatArguments format;
  std::string output_dir, name;
};
int render(const RenderArguments& a) {
  const auto checked = a.files.check();
  const spec::ValidBootstrapCluster* cluster = checked ? find_cluster(*checked, a.name) : nullptr;
  if (cluster == nullptr) return kProblems;
  const auto inputs = printed(bootstrap::read_inputs(*cluster, a.output_dir, system_clock().system_now()));
  if (!inputs) return kProblems;
  const auto rendered = printed(bootstrap::render(*cluster, *inputs, a.output_dir));
  if (!rendered) return kProblems;
  print(rendered->warnings);
  const auto written = printed(pki::write_files(a.output_dir, rendered->files));
  if (!written) return kProblems;
  a.format.is_json() ? print_changes_as_json(*rendered, *written) : print_changes(*rendered, *written);
  return kGood;
}

struct GraphArguments {
  FileArguments files;
  std::string format = "mermaid", name;
};
int graph(const GraphArguments& a) {
  const auto checked = a.files.check();
  const spec::ValidBootstrapCluster* cluster = checked ? find_cluster(*checked, a.name) : nullptr;
  if (cluster == nullptr) return kProblems;
  const auto stages = bootstrap::make_stages(*cluster, bootstrap::plan_pki(*cluster));
  std::cout << bootstrap::render_graph(stages, bootstrap::parse_graph_format(a.format).value());
  return kGood;
}

/// Writes a file for its owner only.
int write_secret(const std::string& path, const pki::Secret& text) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return printed(pki::write_files(folder, {{path.substr(slash + 1), text, 0600}})) ? kGood : kProblems;
}

struct PointerArguments {
  std::string endpoint, authority_file, token_file, output;
};
int point(const PointerArguments& a) {
  constexpr std::size_t kMaxBytes = 1024 * 1024;
  constexpr std::string_view kHostCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.:[]";
  if (a.endpoint.empty() || a.endpoint.find_first_not_of(kHostCharacters) != std::string::npos) {
    std::cerr << "hcpnet: " << a.endpoint << " is no host, with a port or without\n";
    return kWrongUse;
  }
  Diagnostics problems;
  const auto read = [&](const std::string& path) {
    auto text = pki::read_file(path, kMaxBytes, problems);
    if (!text && !problems.has_errors()) std::cerr << "hcpnet: " << path << " is not there\n";
    return text;
  };
  const auto authority = read(a.authority_file), token = read(a.token_file);
  print(problems);
  if (!authority || !token) return kProblems;
  if (pki::parse_certificates(authority->reveal()).has_error()) {
    std::cerr << "hcpnet: " << a.authority_file << " holds no certificate\n";
    return kProblems;
  }
  const auto config = bootstrap::make_hypershift_pointer(a.endpoint, authority->reveal(), *token);
  return write_secret(a.output, pki::Secret(config.dump(2) + '\n'));
}

struct KubeconfigArguments {
  std::string file, proxy, token_secret, output;
};
/// The kubeconfig with what was asked to be changed. Prints what is wrong and returns nullopt.
std::optional<pki::Secret> change_kubeconfig(const KubeconfigArguments& a, const std::optional<Endpoint>& proxy) {
  std::vector<std::string> files{a.file};
  if (!a.token_secret.empty()) files.push_back(a.token_secret);
  const auto sources = read_sources(files);
  if (!sources) {
    print(sources.error());
    return {};
  }
  pki::Secret config(sources->front().text);
  if (proxy) {
    auto changed = printed(bootstrap::retarget_kubeconfig(a.file, config.reveal(), *proxy));
    if (!changed) return {};
    config = std::move(*changed);
  }
  if (a.token_secret.empty()) return config;
  const auto token = printed(bootstrap::read_account_token(a.token_secret, sources->back().text));
  if (!token) return {};
  auto changed = printed(bootstrap::replace_kubeconfig_users(a.file, config.reveal(), *token));
  if (!changed) return {};
  return std::move(*changed);
}
int write_kubeconfig(const KubeconfigArguments& a) {
  std::optional<Endpoint> proxy;
  if (!a.proxy.empty() && !(proxy = parse_endpoint(a.proxy, 6443))) {
    std::cerr << "hcpnet: --server: " << a.proxy << " is no ADDRESS or ADDRESS:PORT\n";
    return kWrongUse;
  }
  if (!proxy && a.token_secret.empty()) {
    std::cerr << "hcpnet: there is nothing to change: give --server, --token-secret or both\n";
    return kWrongUse;
  }
  const auto config = change_kubeconfig(a, proxy);
  if (!config) return kProblems;
  return write_secret(a.output, *config);
}

struct ExpiryArguments {
  std::string folder;
  FormatArguments format;
  unsigned days = 30;
};
int expiry(const ExpiryArguments& a) {
  Diagnostics problems;
  const auto entries =
      pki::report_expiry(a.folder, system_clock().system_now(), std::chrono::hours(24) * a.days, problems);
  bool is_good = !problems.has_errors();
  nlohmann::json list = nlohmann::json::array();
  for (const pki::ExpiryEntry& entry : entries) {
    is_good &= entry.state == pki::ExpiryState::valid;
    if (a.format.is_json())
      list.push_back({{"file", entry.file},
                      {"commonName", entry.subject.common_name},
                      {"isAuthority", entry.is_authority},
                      {"notBefore", pki::to_string(entry.not_before)},
                      {"notAfter", pki::to_string(entry.not_after)},
                      {"state", to_string(entry.state)}});
    else
      std::cout << pki::to_string(entry.not_after) << "  " << std::left << std::setw(13) << to_string(entry.state)
                << "  " << entry.file << "  " << entry.subject.common_name << '\n';
  }
  if (a.format.is_json()) std::cout << list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  print(problems);
  if (entries.empty() && !problems.has_errors()) {
    std::cerr << "hcpnet: " << a.folder << " holds no certificate (files *.crt and *.pem)\n";
    return kProblems;
  }
  return is_good ? kGood : kProblems;
}

void add_bootstrap_render(CLI::App& bootstrap, int& status) {
  auto a = std::make_shared<RenderArguments>();
  CLI::App* command = bootstrap.add_subcommand(
      "render", "write what a cluster boots from; keys and certificates that are there and right stay");
  a->files.add_to(*command, true);
  a->format.add_to(*command);
  command->add_option("--output-dir", a->output_dir, "where everything goes, or nothing")->required()->type_name("DIR");
  command->add_option("--name", a->name, "of the BootstrapCluster, where the files hold several")->type_name("NAME");
  command->callback([a, &status] { status = render(*a); });
}

void add_bootstrap_graph(CLI::App& bootstrap, int& status) {
  auto a = std::make_shared<GraphArguments>();
  CLI::App* command = bootstrap.add_subcommand("graph", "draw the stages of an installation, and what each needs");
  a->files.add_to(*command, true);
  command
      ->add_option("-o", a->format, "output format: for Graphviz, or as a Mermaid flowchart, which it is unless given")
      ->check(CLI::IsMember({"dot", "mermaid"}))
      ->type_name("dot|mermaid");
  command->add_option("--name", a->name, "of the BootstrapCluster, where the files hold several")->type_name("NAME");
  command->callback([a, &status] { status = graph(*a); });
}

void add_bootstrap_pointer(CLI::App& bootstrap, int& status) {
  auto a = std::make_shared<PointerArguments>();
  CLI::App* command = bootstrap.add_subcommand(
      "pointer", "write the Ignition config with which a hosted cluster's node fetches its own");
  command->add_option("ENDPOINT", a->endpoint, "the ignition server, with its port unless that is 443")
      ->required()
      ->type_name("");
  command->add_option("--ca-file", a->authority_file, "who vouches for the server, in PEM")
      ->required()
      ->type_name("FILE");
  command->add_option("--token-file", a->token_file, "the node pool's token, as it is")->required()->type_name("FILE");
  command->add_option("--output", a->output, "the file to write, for its owner only")->required()->type_name("FILE");
  command->callback([a, &status] { status = point(*a); });
}

void add_bootstrap_kubeconfig(CLI::App& bootstrap, int& status) {
  auto a = std::make_shared<KubeconfigArguments>();
  CLI::App* command = bootstrap.add_subcommand(
      "kubeconfig",
      "make a hosted cluster's kubeconfig go through a proxy, its server name kept, or be one for another account");
  command->add_option("FILE", a->file, "the kubeconfig")->required()->type_name("");
  command->add_option("--server", a->proxy, "where the proxy listens; port 6443 unless given")
      ->type_name("ADDRESS[:PORT]");
  command
      ->add_option("--token-secret", a->token_secret,
                   "a Secret with the token of a service account, which takes the place of every user's credentials")
      ->type_name("FILE");
  command->add_option("--output", a->output, "the file to write, for its owner only")->required()->type_name("FILE");
  command->callback([a, &status] { status = write_kubeconfig(*a); });
}

}  // namespace

void add_bootstrap(CLI::App& app, int& status) {
  CLI::App* bootstrap = app.add_subcommand("bootstrap", "what a self-managed cluster boots from");
  bootstrap->require_subcommand(1);
  add_bootstrap_render(*bootstrap, status);
  add_bootstrap_graph(*bootstrap, status);
  add_bootstrap_kubeconfig(*bootstrap, status);
  add_bootstrap_pointer(*bootstrap, status);
}

void add_pki(CLI::App& app, int& status) {
  CLI::App* pki = app.add_subcommand("pki", "keys and certificates");
  pki->require_subcommand(1);
  auto a = std::make_shared<ExpiryArguments>();
  CLI::App* command = pki->add_subcommand("expiry", "when the certificates of a folder end, the first in front");
  command->add_option("DIR", a->folder, "the folder")->required()->type_name("");
  command->add_option("--days", a->days, "how long before its end a certificate is due; 30 unless given")
      ->type_name("N");
  a->format.add_to(*command);
  command->callback([a, &status] { status = expiry(*a); });
}

}  // namespace hcpnet::app
