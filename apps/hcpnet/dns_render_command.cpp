// SPDX-License-Identifier: Apache-2.0
// hcpnet dns render
#include <chrono>
#include <filesystem>
#include <fstream>
#include <hcpnet/dns/renderer.hpp>
#include <iostream>
#include <iterator>
#include <memory>

#include "dns_command.hpp"

namespace hcpnet::app {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string target, output_dir, file_prefix;
  std::vector<std::string> pod_addresses;
  bool any_address = false;
  FileArguments files;
};

std::uint32_t today() {
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  return static_cast<std::uint32_t>(static_cast<int>(day.year())) * 10000 + static_cast<unsigned>(day.month()) * 100 +
         static_cast<unsigned>(day.day());
}

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
  if (fs::exists(path) && read(path) == text) return;
  fs::create_directories(path.parent_path());
  const fs::path incomplete = path.string() + ".new";
  std::ofstream stream(incomplete, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw std::runtime_error(incomplete.string() + ": can't be written");
  fs::rename(incomplete, path);
}

/// The cacheTTL of a DNSServer; an Infra has none, and gets the default.
std::chrono::seconds cache_ttl_of(const CheckedFiles& files, const std::string& owner) {
  for (const spec::ValidDnsServer& server : files.set.dns_servers)
    if (server.metadata.key() == owner) return server.cache_ttl;
  return dns::CoreDnsOptions{}.cache_ttl;
}

std::string folder_of(const std::string& owner) {
  std::string folder = owner;
  folder[folder.find('/')] = '-';
  return folder;
}

int run(const Arguments& a) {
  Surroundings surroundings;
  for (const std::string& text : a.pod_addresses) {
    const auto address = parse_ip_address(text);
    if (!address) {
      std::cerr << "hcpnet: --pod-address: " << text << " is not an address\n";
      return kWrongUse;
    }
    surroundings.pod_addresses.push_back(*address);
  }
  const auto source = dns_from_files(a.files, surroundings);
  if (!source) return kProblems;
  if (source->servers.empty()) {
    std::cerr << "hcpnet: the files describe no DNS server\n";
    return kProblems;
  }
  std::vector<dns::RenderedFile> files;
  bool is_good = true;
  for (const DnsServerConfig& server : source->servers) {
    const std::string folder = source->servers.size() > 1 ? folder_of(server.owner) : std::string{};
    dns::RenderOptions options;
    options.any_address = a.any_address;
    options.file_prefix = a.file_prefix;
    options.coredns.cache_ttl = cache_ttl_of(source->files, server.owner);
    if (!a.output_dir.empty()) {
      options.previous = previous_files(fs::path(a.output_dir) / folder);
      options.day = today();
    }
    auto rendered = dns::render(server.config, *dns::parse_render_target(a.target), options);
    if (!rendered) {
      print(rendered.error());
      is_good = false;
      continue;
    }
    print(rendered->warnings);
    for (dns::RenderedFile& file : rendered->files)
      files.push_back({folder.empty() ? file.name : folder + '/' + file.name, std::move(file.text)});
  }
  if (!is_good) return kProblems;  // nothing is written in part
  const char* comment = a.target == "zonefile" ? "; " : "# ";
  for (const dns::RenderedFile& file : files) {
    if (!a.output_dir.empty())
      write(fs::path(a.output_dir) / file.name, file.text);
    else
      std::cout << (files.size() > 1 ? comment + file.name + '\n' : std::string{}) << file.text;
  }
  return kGood;
}

}  // namespace

void add_dns_render(CLI::App& dns, int& status) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = dns.add_subcommand("render", "write zones and views as the configuration of another server");
  std::vector<std::string> targets;
  for (const dns::RenderTarget target : dns::kRenderTargets) targets.emplace_back(to_string(target));
  command->add_option("--target", a->target, "for whom: zonefile, hosts, coredns, bind, unbound or dnsmasq")
      ->required()
      ->check(CLI::IsMember(targets))
      ->type_name("TARGET");
  command
      ->add_option("--output-dir", a->output_dir,
                   "write files here, and go on from the serials of those that lie there; else everything goes to "
                   "standard output")
      ->type_name("DIR");
  command
      ->add_option("--file-prefix", a->file_prefix,
                   "in front of file names inside the configuration, such as /etc/bind/")
      ->type_name("PREFIX");
  command
      ->add_option("--pod-address", a->pod_addresses,
                   "listen here as well: an address on the management side; repeatable")
      ->type_name("ADDRESS")
      ->allow_extra_args(false)
      ->take_all();
  command->add_flag("--any-address", a->any_address, "listen on every address");
  a->files.add_to(*command, true);
  command->callback([a, &status] { status = run(*a); });
}

}  // namespace hcpnet::app
