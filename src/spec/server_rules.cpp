// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "spec/format.hpp"
#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

const std::string kNetwork = "/spec/networkConfig";
const std::string kLease = "/spec/leaseConfig";

/// Networks and who they belong to, asked for overlaps. Two networks overlap when one holds the other.
class PrefixIndex {
 public:
  void add(const Cidr& network, std::size_t owner) { owners_.emplace(network, owner); }
  [[nodiscard]] std::optional<std::pair<Cidr, std::size_t>> find_overlap(const Cidr& network) const {
    for (unsigned length = 0; length <= network.prefix_length(); ++length)
      if (const auto holder = owners_.find(Cidr(network.network(), length)); holder != owners_.end()) return *holder;
    const auto held = owners_.lower_bound(network);
    if (held != owners_.end() && network.contains(held->first.network())) return *held;
    return {};
  }

 private:
  std::map<Cidr, std::size_t> owners_;
};

/// One host name of one backend, in the order of the text.
struct NameUse {
  std::size_t backend = 0;
  std::string pointer;
  std::string name;
};

std::string backend_pointer(std::size_t index, std::string_view field) {
  return "/spec/backends/" + std::to_string(index) + '/' + std::string(field);
}

std::vector<NameUse> names_of(const Subject& subject, const std::vector<ProxyBackend>& backends) {
  std::vector<NameUse> uses;
  for (std::size_t i = 0; i < backends.size(); ++i) {
    const auto add = [&](std::string pointer, const std::string& name) {
      if (subject.is_good(pointer)) uses.push_back({i, std::move(pointer), lower(name)});
    };
    add(backend_pointer(i, "hostname"), backends[i].hostname);
    for (std::size_t j = 0; j < backends[i].alternate_hostnames.size(); ++j)
      add(backend_pointer(i, "alternateHostnames/" + std::to_string(j)), backends[i].alternate_hostnames[j]);
  }
  std::ranges::stable_sort(uses, {}, [&](const NameUse& use) { return subject.place(use.pointer); });
  return uses;
}

/// Who answers one name on one port: one backend for everybody, and others for sources that do not overlap.
struct Claims {
  std::optional<std::size_t> everybody;
  PrefixIndex sources;
  std::set<std::size_t> backends;  ///< that have the name already: a name twice in one backend does no harm
};

std::string claim(Claims& claims, const Subject& subject, const NameUse& use, const ProxyBackend& backend) {
  if (!claims.backends.insert(use.backend).second) return {};
  if (backend.source_prefix_ranges.empty()) {
    if (!claims.everybody) claims.everybody = use.backend;
    if (*claims.everybody == use.backend) return {};
    return "backend " + std::to_string(*claims.everybody) + " has this name on this port";
  }
  std::string problem;
  std::vector<Cidr> mine;
  for (std::size_t i = 0; i < backend.source_prefix_ranges.size(); ++i) {
    if (!subject.is_good(backend_pointer(use.backend, "sourcePrefixRanges/" + std::to_string(i)))) continue;
    const auto source = parse_cidr(backend.source_prefix_ranges[i]);
    if (!source) continue;
    const auto other = claims.sources.find_overlap(*source);
    if (!other)
      mine.push_back(*source);
    else if (problem.empty())
      problem = "backend " + std::to_string(other->second) + " has this name on this port for " +
                other->first.to_string() + ", which overlaps " + source->to_string();
  }
  for (const Cidr& source : mine) claims.sources.add(source, use.backend);
  return problem;
}

/// Of a server that has no CIDR: what network it is in, the length in serverIP alone says.
void check_server_address(Subject& subject, const std::string& server_ip) {
  const std::string pointer = kNetwork + "/serverIP";
  if (!subject.is_good(pointer)) return;
  const auto parsed = parse_ipv4_with_length(server_ip);
  if (parsed && parsed->prefix_length)
    check_inside(subject, Ipv4Cidr(parsed->address, *parsed->prefix_length), parsed->address, pointer);
}

/// Listeners are the ports of the backends: whoever writes another one expects something of it.
void check_port_is_used(Subject& subject, const ProxyServer& server) {
  const std::string pointer = "/spec/port";
  if (!subject.is_good(pointer) || !subject.is_written(pointer, false)) return;
  for (std::size_t i = 0; i < server.backends.size(); ++i)
    if (server.backends[i].port == server.port || !subject.is_good(backend_pointer(i, "port"))) return;
  subject.warning(code::unused_port, pointer, "no backend has this port, and alone it opens nothing");
}

}  // namespace

void check_dhcp_server(Examined<DHCPServer>& examined) {
  Subject& subject = examined.subject;
  const DHCPServer& server = examined.value;
  check_options(subject, "/spec/options", server.options);
  if (!subject.is_good(kNetwork)) return;
  const auto cidr = subject.is_good(kNetwork + "/cidr") ? parse_ipv4_cidr(server.cidr) : std::nullopt;
  std::vector<OwnedAddress> owned;
  const std::string gateway_pointer = kNetwork + "/gateway", server_pointer = kNetwork + "/serverIP";
  if (const auto gateway = parse_ipv4(server.gateway); gateway && subject.is_good(gateway_pointer))
    owned.push_back({"networkConfig.gateway", gateway_pointer, *gateway});
  if (const auto address = parse_ipv4_with_length(server.server_ip); address && subject.is_good(server_pointer)) {
    if (cidr && address->prefix_length && *address->prefix_length != cidr->prefix_length())
      subject.error(code::prefix_mismatch, server_pointer,
                    "the prefix length is " + std::to_string(*address->prefix_length) + " here and " +
                        std::to_string(cidr->prefix_length()) + " in networkConfig.cidr " + cidr->to_string());
    else
      owned.push_back({"networkConfig.serverIP", server_pointer, address->address});
  }
  std::optional<RangeFields> range;
  if (subject.is_good(kLease)) {
    range = {.start_pointer = kLease + "/rangeStart", .end_pointer = kLease + "/rangeEnd", .start = {}, .end = {}};
    if (subject.is_good(range->start_pointer)) range->start = parse_ipv4(server.range_start);
    if (subject.is_good(range->end_pointer)) range->end = parse_ipv4(server.range_end);
  }
  examined.plan = check_network(subject, cidr, std::move(owned), range);
}

void check_dns_server(Examined<DNSServer>& examined) {
  check_server_address(examined.subject, examined.value.server_ip);
}

void check_proxy_server(Examined<ProxyServer>& examined) {
  Subject& subject = examined.subject;
  check_server_address(subject, examined.value.server_ip);
  check_port_is_used(subject, examined.value);
  const std::vector<ProxyBackend>& backends = examined.value.backends;
  std::map<std::string, std::size_t> names;
  for (std::size_t i = 0; i < backends.size(); ++i) {
    const std::string pointer = backend_pointer(i, "name");
    if (!subject.is_good(pointer)) continue;
    const auto [first, is_new] = names.emplace(backends[i].name, i);
    if (!is_new)
      subject.error(code::duplicate_name, pointer, "backend " + std::to_string(first->second) + " has this name");
  }
  std::map<std::pair<std::uint16_t, std::string>, Claims> claims;
  for (const NameUse& use : names_of(subject, backends)) {
    const ProxyBackend& backend = backends[use.backend];
    if (!subject.is_good(backend_pointer(use.backend, "port")) ||
        !subject.is_good(backend_pointer(use.backend, "sourcePrefixRanges")))
      continue;
    const std::string problem = claim(claims[{backend.port, use.name}], subject, use, backend);
    if (!problem.empty()) subject.error(code::duplicate_hostname, use.pointer, problem);
  }
}

}  // namespace hcpnet::spec
