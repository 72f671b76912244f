// SPDX-License-Identifier: Apache-2.0
// A table made of the input decides as a plain walk over all its routes does.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <hcpnet/bytes.hpp>
#include <hcpnet/proxy/route_table.hpp>
#include <hcpnet/tls/client_hello.hpp>
#include <string>

namespace {

using namespace hcpnet;
using namespace hcpnet::proxy;

void require(bool ok) {
  if (!ok) std::abort();
}

std::string read_name(ByteReader& in) {
  static constexpr const char* kLabels[] = {"a", "B", "c-d", "*", "x", "", "\xff", "apps"};
  std::string name;
  for (unsigned count = in.u8() % 4; count > 0; --count)
    name += std::string(kLabels[in.u8() % 8]) + (count > 1 ? "." : "");
  return name;
}

SourceMatch read_source(ByteReader& in) {
  SourceMatch source;
  const std::uint8_t kind = in.u8();
  if ((kind & 3) == 1) source.cluster = std::string(1, static_cast<char>('k' + (kind >> 2) % 3));
  if ((kind & 3) == 2)
    source.prefixes.emplace_back(Ipv4(10, static_cast<std::uint8_t>(kind >> 2 & 3), 0, 0), 8 + 8 * (kind >> 4 & 1));
  return source;
}

bool is_routable(std::string_view name) {
  if (name.starts_with("*.")) name.remove_prefix(2);
  return name.find('*') == std::string_view::npos && tls::classify_host(name) == tls::HostKind::dns_name;
}

RouteConfig read_config(ByteReader& in) {
  RouteConfig config;
  for (unsigned count = in.u8() % 8; count > 0; --count) {
    Route& route = config.routes.emplace_back();
    const std::uint8_t flags = in.u8();
    route.port = flags & 1 ? 443 : 6443;
    route.no_sni = (flags & 2) != 0;
    route.other_sni = (flags & 4) != 0;
    route.not_tls = (flags & 8) != 0;
    for (unsigned names = flags >> 4 & 3; names > 0; --names) {
      std::string name = read_name(in);
      // Most tables should build, so names that can't be routed stay in one of four routes only.
      if (flags >> 6 == 3 || is_routable(name)) route.names.push_back(std::move(name));
    }
    route.source = read_source(in);
    route.backend = std::to_string(config.backends.size());
    Backend& backend = config.backends.emplace_back();
    backend.name = route.backend;
    backend.endpoints = {{Ipv4(10, 0, 0, 1), 443}};
  }
  return config;
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

/// How narrowly a route is meant for this client: 0 not at all, 1 as one of all, 2 by prefix, 3 by cluster.
int fit(const Route& route, const IpAddress& source, const std::string& cluster) {
  if (route.source.is_everyone()) return 1;
  if (!route.source.cluster.empty() && route.source.cluster == cluster) return 3;
  return std::ranges::any_of(route.source.prefixes, [&](const Cidr& p) { return p.contains(source); }) ? 2 : 0;
}

/// How closely a route claims the name: labels of an exact name count most, then those of a wildcard; other_sni is 1; 0
/// is no claim.
int closeness(const Route& route, const std::string& name) {
  int best = route.other_sni ? 1 : 0;
  for (const std::string& pattern : route.names) {
    const std::string p = lower(pattern);
    if (p == name) return 1000;
    if (p.starts_with("*.") && name.size() > p.size() - 1 && name.ends_with(p.substr(1)))
      best = std::max(best, static_cast<int>(p.size()));
  }
  return best;
}

const Route* expected(const RouteConfig& config, std::uint16_t port, const std::string& name, const IpAddress& source,
                      const std::string& cluster) {
  std::vector<int> levels;
  for (const Route& route : config.routes) {
    if (route.port == port) levels.push_back(closeness(route, name));
  }
  std::ranges::sort(levels, std::greater<>());
  bool is_claimed = false;
  for (const int level : levels) {
    if (level == 0) break;
    const Route* best = nullptr;
    for (const Route& route : config.routes) {
      // A route may claim the name on several levels; the closest is tried first, and failing there it fails below as
      // well.
      if (route.port != port || closeness(route, name) != level) continue;
      const int its_fit = fit(route, source, cluster);
      if (its_fit > (is_claimed ? 1 : 0) && (best == nullptr || its_fit > fit(*best, source, cluster))) best = &route;
    }
    if (best != nullptr) return best;
    is_claimed = true;
  }
  return nullptr;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteReader in({data, size});
  const RouteConfig config = read_config(in);
  const auto table = RouteTable::build(config);
  const SourceClusters clusters{{Ipv4(10, 0, 0, 1), "k"}, {Ipv4(10, 1, 0, 1), "l"}};
  for (unsigned queries = 0; queries < 8 && in.remaining() > 0; ++queries) {
    const std::uint16_t port = in.u8() & 1 ? 443 : 6443;
    const IpAddress source = Ipv4(10, in.u8() & 3, 0, 1);
    const std::string name = lower(read_name(in));
    if (!table || greeting_of(name) != Greeting::name) continue;
    const auto cluster = clusters.find(source);
    const Decision decision = (*table)->find({Ipv4(192, 0, 2, 1), port}, Greeting::name, name, source, clusters);
    const Route* route = expected(config, port, name, source, cluster == clusters.end() ? "" : cluster->second);
    require((decision.backend == nullptr) == (route == nullptr));
    require(route == nullptr || decision.backend->name == route->backend);
  }
  return 0;
}
