// SPDX-License-Identifier: Apache-2.0
#include "target_render.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <hcpnet/dns/renderer.hpp>
#include <hcpnet/stack/config.hpp>
#include <hcpnet/stack/render_proxy.hpp>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>

namespace hcpnet::app {
namespace {

namespace fs = std::filesystem;

/// The files of one server of the set; nullopt after printing why there are none.
using RenderServer = std::function<std::optional<std::vector<RenderedFile>>(const std::string& folder)>;
struct Server {
  std::string owner;
  RenderServer render;
};

/// The zone files of an earlier rendering, for their serials.
std::map<std::string, std::string> previous_files(const fs::path& folder) {
  std::map<std::string, std::string> files;
  if (!fs::is_directory(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().extension() != ".zone") continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    files[fs::relative(entry.path(), folder).generic_string()] = {std::istreambuf_iterator<char>(stream), {}};
  }
  return files;
}

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Servers reload when a file changes: it changes as a whole, and only when its text does.
void write(const fs::path& path, const std::string& text) {
  if (fs::is_regular_file(path) && read(path) == text) return;  // a FIFO would be waited for
  fs::create_directories(path.parent_path());
  const fs::path incomplete = path.string() + ".new";
  std::ofstream stream(incomplete, std::ios::binary);
  const bool is_open = stream.is_open();
  stream << text;
  stream.close();
  if (!stream) {
    std::error_code ignored;
    if (is_open) fs::remove(incomplete, ignored);
    throw std::runtime_error(path.string() + ": can't be written");
  }
  fs::rename(incomplete, path);
}

/// Looked at before the first one is written.
bool may_be_file(const fs::path& path) {
  if (!may_be_folder(path.parent_path())) return false;
  if (!fs::is_directory(path)) return true;
  std::cerr << "hcpnet: --output-dir: " << path.string() << " is a folder, and a file is needed here\n";
  return false;
}

std::string folder_of(const std::string& owner) {
  std::string folder = owner;
  folder[folder.find('/')] = '-';
  return folder;
}

/// Of the files of one server. Without a prefix their names are told from the folder of the configuration itself.
std::string prefix_in(const TargetArguments& a, const std::string& folder) {
  return a.file_prefix.empty() || folder.empty() ? a.file_prefix : a.file_prefix + folder + '/';
}

std::optional<std::vector<RenderedFile>> render_dns(const TargetArguments& a, const DnsServerConfig& server,
                                                    const std::string& folder) {
  dns::RenderOptions options;
  options.any_address = a.any_address;
  options.file_prefix = prefix_in(a, folder);
  options.coredns.cache_ttl = server.cache_ttl;
  if (!a.output_dir.empty()) {
    options.previous = previous_files(fs::path(a.output_dir) / folder);
    options.day = dns::serial_day(std::chrono::system_clock::now());
  }
  auto rendered = dns::render(server.config, *dns::parse_render_target(a.target), options);
  print(rendered ? rendered->warnings : rendered.error());
  if (!rendered) return std::nullopt;
  return std::move(rendered->files);
}

std::vector<Server> servers_for(const TargetArguments& a, const StackConfig& config) {
  std::vector<Server> servers;
  if (const auto target = parse_proxy_target(a.target)) {
    for (const ProxyServerConfig& server : config.proxies) {
      servers.push_back({server.owner, [&a, &server, target](const std::string& folder) {
                           Diagnostics warnings;
                           auto files = render_proxy(server, *target, {a.any_address, prefix_in(a, folder)}, warnings);
                           print(warnings);
                           return files;
                         }});
    }
    return servers;
  }
  for (const DnsServerConfig& server : config.dns) {
    servers.push_back(
        {server.owner, [&a, &server](const std::string& folder) { return render_dns(a, server, folder); }});
  }
  return servers;
}

void print_files(const std::vector<RenderedFile>& files, const char* comment) {
  for (const RenderedFile& file : files)
    std::cout << (files.size() > 1 ? comment + file.name + '\n' : std::string{}) << file.text;
}

std::optional<Surroundings> surroundings_of(const TargetArguments& a) {
  Surroundings surroundings;
  surroundings.has_any_address = a.any_address && parse_proxy_target(a.target).has_value();
  for (const std::string& text : a.pod_addresses) {
    const auto address = parse_ip_address(text);
    if (!address) {
      std::cerr << "hcpnet: --pod-address: " << text << " is not an address\n";
      return std::nullopt;
    }
    surroundings.pod_addresses.push_back(*address);
  }
  return surroundings;
}

}  // namespace

std::vector<std::string> dns_targets() {
  std::vector<std::string> targets;
  for (const dns::RenderTarget target : dns::kRenderTargets) targets.emplace_back(to_string(target));
  return targets;
}

std::vector<std::string> all_targets() {
  std::vector<std::string> targets = dns_targets();
  for (const ProxyTarget target : kProxyTargets) targets.emplace_back(to_string(target));
  return targets;
}

std::vector<CLI::Option*> add_target_options(CLI::App& command, TargetArguments& a) {
  return {command
              .add_option("--file-prefix", a.file_prefix,
                          "in front of file names inside the configuration, such as /etc/bind/")
              ->type_name("PREFIX"),
          command
              .add_option("--pod-address", a.pod_addresses,
                          "listen here as well: an address on the management side; repeatable")
              ->type_name("ADDRESS")
              ->allow_extra_args(false)
              ->take_all(),
          command.add_flag("--any-address", a.any_address, "listen on every address")};
}

bool may_be_folder(const std::string& output_dir) {
  for (fs::path there = output_dir; !there.empty(); there = there.parent_path()) {
    if (!fs::exists(there)) continue;
    if (fs::is_directory(there)) return true;
    std::cerr << "hcpnet: --output-dir: " << there.string() << " is a file, and a folder is needed here\n";
    return false;
  }
  return true;
}

int render_target(const TargetArguments& a) {
  const auto surroundings = surroundings_of(a);
  if (!surroundings) return kWrongUse;
  if (const auto target = parse_proxy_target(a.target); target && !may_be_file_prefix(*target, a.file_prefix)) {
    std::cerr << "hcpnet: --file-prefix: blanks, quotes, backslashes, \"#\", commas and parentheses can't stand in a "
                 "file name of a configuration for this program\n";
    return kWrongUse;
  }
  const auto checked = a.files.check();
  if (!checked) return kProblems;
  const auto config = make_stack_config(checked->set, checked->observed, *surroundings);
  print(config ? config->warnings : config.error());
  if (!config) return kProblems;
  const std::vector<Server> servers = servers_for(a, *config);
  if (servers.empty()) {
    std::cerr << "hcpnet: the files describe no " << (parse_proxy_target(a.target) ? "proxy" : "DNS server") << '\n';
    return kProblems;
  }
  std::vector<RenderedFile> files;
  bool is_good = true;
  for (const Server& server : servers) {
    const std::string folder = servers.size() > 1 ? folder_of(server.owner) : std::string{};
    auto rendered = server.render(folder);
    is_good = is_good && rendered;
    if (!rendered) continue;
    for (RenderedFile& file : *rendered)
      files.push_back({folder.empty() ? file.name : folder + '/' + file.name, std::move(file.text)});
  }
  if (!is_good) return kProblems;  // nothing is written in part
  if (a.output_dir.empty()) {
    print_files(files, a.target == "zonefile" ? "; " : "# ");
  } else {
    const auto may_write = [&](const RenderedFile& file) { return may_be_file(fs::path(a.output_dir) / file.name); };
    if (!std::ranges::all_of(files, may_write)) return kProblems;
    // The main file last: what it names is there when a program reads it.
    std::ranges::reverse(files);
    for (const RenderedFile& file : files) write(fs::path(a.output_dir) / file.name, file.text);
  }
  return kGood;
}

}  // namespace hcpnet::app
