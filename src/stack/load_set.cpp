// SPDX-License-Identifier: Apache-2.0
#include "stack/load_set.hpp"

#include <algorithm>
#include <hcpnet/bytes.hpp>
#include <set>
#include <utility>

#include "dns/random_source.hpp"
#include "dns/siphash.hpp"
#include "dns/snapshot.hpp"
#include "dns/transfer.hpp"
#include "stack/derive.hpp"

namespace hcpnet {
namespace {

bool are_equal(const std::vector<spec::SourceText>& a, const std::vector<spec::SourceText>& b) {
  return std::ranges::equal(
      a, b, [](const spec::SourceText& x, const spec::SourceText& y) { return x.name == y.name && x.text == y.text; });
}

/// But for files of records.
bool are_equal(const SourceFiles& a, const SourceFiles& b) {
  return are_equal(a.specs, b.specs) && are_equal(a.observed, b.observed) && are_equal(a.endpoints, b.endpoints);
}

/// Objects may change their places in the files.
template <class Servers>
void sort_by_owner(Servers& servers) {
  std::ranges::stable_sort(servers, {}, [](const auto& server) -> const std::string& { return server.owner; });
}

Result<std::shared_ptr<SourceFiles>, Diagnostics> read_files(const LoadRequest& request) {
  Diagnostics problems;
  auto files = std::make_shared<SourceFiles>(
      read_source_files(request.files, request.observed, request.endpoints, problems, request.read_once.get()));
  if (problems.has_errors()) return problems;
  files->specs.insert(files->specs.end(), request.texts.begin(), request.texts.end());
  return files;
}

/// Under a key that nobody knows, so that nobody can write two files that look like one.
std::uint64_t digest_of(const std::string& text) {
  static const dns::SipKey key = [] {
    dns::RandomSource random;
    dns::SipKey bytes;
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.u16());
    return bytes;
  }();
  return dns::siphash24(key, as_bytes(text));
}

std::vector<RecordStamp> stamps_of(const std::vector<spec::RecordText>& records) {
  std::vector<RecordStamp> stamps;
  for (const spec::RecordText& record : records)
    stamps.push_back({record.path, record.trouble.empty() ? std::optional(digest_of(record.text)) : std::nullopt});
  return stamps;
}

std::vector<std::string> paths_of(const std::vector<RecordStamp>& records) {
  std::vector<std::string> paths;
  for (const RecordStamp& record : records) paths.push_back(record.path);
  return paths;
}

bool serves_anything(const StackConfig& config) {
  return !config.dhcp.subnets.empty() || !config.dns.empty() || !config.proxies.empty();
}

/// But for those of leases, whose names are not among the records yet.
void set_serials(DnsServerConfig& server, const dns::Config& served, std::uint32_t now) {
  std::vector<dns::View> as_read;
  if (server.lease_zone) as_read = server.config.views;
  dns::set_serials(server.config, dns::ZoneIndex(served), now);
  if (!server.lease_zone) return;
  std::set<dns::Name> of_leases(server.lease_zone->reverse.begin(), server.lease_zone->reverse.end());
  of_leases.insert(server.lease_zone->domain);
  for (std::size_t i = 0; i < as_read.size(); ++i)
    for (std::size_t j = 0; j < as_read[i].zones.size(); ++j)
      if (as_read[i].name == server.lease_zone->view && of_leases.contains(as_read[i].zones[j]->apex()))
        server.config.views[i].zones[j] = std::move(as_read[i].zones[j]);
}

void set_serials(StackConfig& config, const LoadRequest& request) {
  for (DnsServerConfig& server : config.dns)
    if (const auto served = request.dns_served.find(server.owner); served != request.dns_served.end())
      set_serials(server, served->second->config, request.now);
}

Diagnostic nothing_to_serve(const ServedParts& serve) {
  struct Part {
    bool is_wanted;
    const char* name;
    const char* kind;
  };
  const Part parts[] = {
      {serve.dhcp, "DHCP", "a DHCPServer"}, {serve.dns, "DNS", "a DNSServer"}, {serve.proxy, "proxy", "a ProxyServer"}};
  std::string missing, kinds;
  for (const Part& part : parts) {
    if (!part.is_wanted) continue;
    (missing += missing.empty() ? "no " : ", no ") += part.name;
    (kinds += ", ") += part.kind;
  }
  Diagnostic d;
  d.code = "nothing-to-serve";
  if (missing.empty()) {
    d.message = "there is nothing to serve: every part of the set is left to other processes";
    return d;
  }
  d.message = "there is nothing to serve here: the set has " + missing;
  d.expected = "infraComponents of an Infra that are enabled" + kinds;
  return d;
}

}  // namespace

Result<StackConfig, Diagnostics> make_served_config(const CheckedFiles& checked, const ServedParts& serve,
                                                    const Surroundings& surroundings) {
  auto config = make_stack_config(checked.set, checked.observed, surroundings);
  if (!config) return config;
  if (!serve.dhcp) {
    config->dhcp = {};
    config->advertisements.clear();  // they are those of its networks
  }
  if (!serve.dns) {
    config->dns.clear();
    config->proxies_by_dns.clear();
  }
  if (!serve.proxy) config->proxies.clear();
  sort_by_owner(config->dns);
  sort_by_owner(config->proxies);
  return config;
}

Result<std::vector<ProxyServerConfig>, Diagnostics> make_served_proxies(const CheckedFiles& checked,
                                                                        const ServedParts& serve,
                                                                        const Surroundings& surroundings) {
  StackConfig config;
  Diagnostics problems;
  if (serve.proxy) derive::proxy_config({checked.set, checked.observed, surroundings}, config, problems);
  if (problems.has_errors()) return problems;
  sort_by_owner(config.proxies);
  return std::move(config.proxies);
}

LoadOutcome load_set(const LoadRequest& request) {
  auto read = read_files(request);
  if (read.has_error()) return {read.error(), {}};
  SourceFiles& files = **read;
  auto loaded = std::make_shared<LoadedSet>();
  loaded->files = *read;
  if (request.served && are_equal(files, *request.served->files)) {  // and so they name the same files of records
    files.records = read_record_files(paths_of(request.served->records));
    loaded->records = stamps_of(files.records);
    loaded->is_served = loaded->records == request.served->records;
    if (loaded->is_served) return {loaded, paths_of(loaded->records)};
  }
  auto checked = check_files(files, {}, spec::KindSet::network, &files.records);
  loaded->records = stamps_of(files.records);
  files.records.clear();
  std::vector<std::string> record_files = paths_of(loaded->records);
  if (checked.has_error()) return {checked.error(), std::move(record_files)};
  auto config = make_served_config(*checked, request.serve, request.surroundings);
  if (config.has_error()) return {config.error(), std::move(record_files)};
  if (!serves_anything(*config)) {
    Diagnostics problems = std::move(checked->warnings);  // they may tell why
    problems.append(std::move(config->warnings));
    problems.add(nothing_to_serve(request.serve));
    return {problems, std::move(record_files)};
  }
  set_serials(*config, request);
  loaded->checked = std::move(*checked);
  loaded->config = std::move(*config);
  return {loaded, std::move(record_files)};
}

}  // namespace hcpnet
