// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/dns/config.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/proxy/engine_settings.hpp>
#include <hcpnet/proxy/route_table.hpp>
#include <hcpnet/ra/advertisement.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/spec/observed.hpp>
#include <hcpnet/spec/validate.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

/// What the three servers are told, derived from a validated set and from what was observed. Pure.
namespace hcpnet {

/// What only the place of running knows.
struct Surroundings {
  /// Addresses of this process on the management side, where DNS and proxy listen as well: a pod's own address.
  std::vector<IpAddress> pod_addresses;
  /// internalProxyService as written -> its address, as far as DNS has told it.
  std::map<std::string, Ipv4> internal_proxies;
  /// Goes before what was observed and what endpoint maps say.
  spec::EndpointMap endpoints = {};
  /// What is configured listens on every address of its host, so there may be more than `pod_addresses`.
  bool has_any_address = false;
  /// The set is only looked at: where it will be served, and with which `pod_addresses`, is not known.
  bool is_place_unknown = false;
};
/// For a set that is only looked at.
[[nodiscard]] Surroundings unknown_place();

/// What of a file asks for a server, for problems that show when servers come together. Members as in Diagnostic.
struct DeclaredAt {
  std::string file;
  std::uint32_t line = 0, column = 0;
  std::string path;
};

/// Where leases appear as names.
struct LeaseZone {
  dns::Name domain;                  ///< a zone of the view
  std::string view;                  ///< the name of the view
  std::vector<std::string> subnets;  ///< dhcp::Subnet::name: whose leases
  std::vector<dns::Name> reverse;    ///< zones of the view that get PTR records
  std::uint32_t ttl = 30;            ///< seconds
  /// Labels that the configuration gives to clients, by what they are known by: a MAC address, or what owner_by_duid()
  /// and owner_by_client_id() (stack/lease_names.hpp) make of an identifier.
  std::map<std::string, std::set<std::string>> reserved;
};
struct DnsServerConfig {
  std::string owner;  ///< the Infra or DNSServer, "namespace/name"
  dns::Config config;
  std::size_t workers = 1;  ///< dns::ServerOptions::workers; a server takes it at start only
  DeclaredAt declared_at = {};
  std::optional<LeaseZone> lease_zone = {};
  std::chrono::seconds cache_ttl{30};  ///< cacheTTL: dns::CoreDnsOptions::cache_ttl; hcpnet itself goes by the answers
};
struct ProxyServerConfig {
  std::string owner;  ///< the Infra or ProxyServer, "namespace/name"
  std::shared_ptr<const proxy::RouteTable> table;
  proxy::EngineSettings settings;
  std::size_t worker_threads = 1;  ///< proxy::EngineOptions::workers; an engine takes it at start only
  /// Clients known by their address: observed workers.
  proxy::SourceClusters workers;
  DeclaredAt declared_at = {};
};

struct StackConfig {
  dhcp::Config dhcp;  ///< no subnets: no DHCP
  std::vector<ra::Network> advertisements;
  std::vector<DnsServerConfig> dns;
  std::vector<ProxyServerConfig> proxies;
  /// Hosted cluster ("namespace/name") by the hardware address of a VM's interface: a lease of that address makes its
  /// holder known.
  std::unordered_map<MacAddress, std::string> mac_clusters;
  /// internalProxyService values whose address only DNS can tell. Until Surroundings has it, the names that lead there
  /// answer SERVFAIL on the pod side.
  std::vector<std::string> proxies_by_dns;
  Diagnostics warnings;
};

/// Derives the configuration. Errors are what only shows when everything comes together: a pod address claimed by two
/// servers, a DHCP option value that does not fit its code, two servers on one address and port. Rules:
/// docs/architecture.md, "From spec to servers".
[[nodiscard]] Result<StackConfig, Diagnostics> make_stack_config(const spec::ValidSet& set,
                                                                 const spec::Observed& observed,
                                                                 const Surroundings& surroundings);

}  // namespace hcpnet
