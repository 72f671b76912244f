// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <hcpnet/dhcp6/duid.hpp>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/dns/zone.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/spec/load.hpp>
#include <hcpnet/spec/model.hpp>
#include <hcpnet/spec/origin.hpp>
#include <hcpnet/spec/record_files.hpp>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

/// What has passed every rule: addresses are addresses, names are names, nothing collides. Inner code takes only these.
namespace hcpnet::spec {

/// A resolver that the spec names.
enum class ResolverWord : std::uint8_t { resolv_conf, node };  ///< the process's /etc/resolv.conf; the node's
using Resolver = std::variant<Endpoint, ResolverWord>;         ///< port 53 unless given

/// One hosted cluster on a network, from an attachment or from a legacy Infra.
struct ValidCluster {
  Origin origin;               ///< of the attachment, or of the legacy Infra
  std::string name;            ///< of the attachment; of a legacy Infra: dns.clusterName
  std::string hosted_cluster;  ///< "namespace/name" of the HostedCluster: the identity of the cluster everywhere
  std::string domain;          ///< "<clusterName>.<baseDomain>", lower case
  std::string control_plane_namespace;
  std::optional<Ipv4Range> apps_pool;   ///< enabled appsIngress, or the static VIP alone
  std::optional<Ipv4> static_apps_vip;  ///< of an AppsPolicy
  std::optional<Ipv4> apps_vip;         ///< static, else observed; absent until the load balancer has given one
  std::uint16_t apps_http_port = 80, apps_https_port = 443;
  /// Enabled externalService: where the proxy listens for it on the management side, for the names it is for alone.
  std::optional<std::uint16_t> external_port;
};
/// Where external_port comes from: by name, so that it stays when other clusters come and go.
inline constexpr std::uint16_t kFirstExternalPort = 20'000, kExternalPorts = 10'000;

struct ValidDhcp {
  Ipv4 server_ip;
  Ipv4Range pool;
  std::chrono::seconds lease_time{3600};
  std::vector<DhcpOption> options;
};
struct ValidDns {
  Ipv4 server_ip;
};
struct ValidProxy {
  Ipv4 server_ip;
  std::optional<std::string>
      internal_proxy_service;  ///< an IPv4 address, or "service.namespace" with anything after it
};

/// A DHCPPolicy, DNSPolicy or ProxyPolicy after parsing; every field has its default where there is no policy.
struct ValidDhcpPolicy {
  bool authoritative = true;
  std::vector<DhcpOption> options;
  DhcpBootFields boot;
  std::vector<Ipv4Range> exclusions;
  struct Pool {
    Ipv4Range range;
    std::vector<std::string> client_classes;
    std::vector<DhcpOption> options;
  };
  std::vector<Pool> pools;
  struct Subnet {
    Ipv4Cidr cidr;
    std::optional<Ipv4> gateway, server_ip;
    std::vector<Pool> pools;
    std::vector<DhcpOption> options;
  };
  std::vector<Subnet> subnets;
  std::vector<DHCPPolicy::ClientClass> client_classes;
  std::optional<DHCPPolicy::RateLimit> client_rate_limit;
  std::optional<DHCPPolicy::Probe> probe;
  std::optional<DHCPPolicy::SharedStore> shared_store;  ///< with the files as they can be opened
  DHCPPolicy::ClientIdentity client_identity = DHCPPolicy::ClientIdentity::mac;
  struct Reservation {
    std::optional<MacAddress> mac;
    std::string client_id;  ///< instead: the bytes of option 61
    Ipv4 address;
    std::string host_name;
  };
  std::vector<Reservation> reservations;

  struct Reservation6 {
    std::optional<MacAddress> mac;
    std::optional<dhcp6::Duid> duid;
    Ipv6 address;
    std::string host_name;
  };
  struct V6 {
    Cidr cidr;
    Ipv6 first, last;
    std::vector<Ipv6> dns_servers;
    std::vector<std::string> domain_search;
    bool rapid_commit = false;
    DHCPPolicy::Identity identity = DHCPPolicy::Identity::mac;
    std::vector<Reservation6> reservations;
  };
  std::optional<V6> ipv6;
  std::optional<DHCPPolicy::RouterAdvertisement> router_advertisement;
};
struct ValidDnsPolicy {
  Origin origin;  ///< for problems that show later
  std::chrono::seconds record_ttl{30};
  struct Entry {
    std::string hostname;  ///< may begin with "*."
    Ipv4 address;
  };
  std::vector<Entry> entries;
  struct ExtraView {
    std::string name;
    std::vector<Cidr> clients;
    std::optional<Ipv4> proxy_address;
    std::vector<dns::RRset> records;
  };
  std::vector<ExtraView> views;
  std::vector<dns::RRset> records;
  /// What a zone file or hosts file shows to a view.
  struct FileRecords {
    std::string view;
    std::string pointer;  ///< where the policy names the file
    std::shared_ptr<const RecordFile> file;
  };
  std::vector<FileRecords> zone_files, hosts_files;
  bool reverse = false;
  bool cookies = true;
  std::string nsid, version;
  std::optional<DNSPolicy::RateLimit> response_rate_limit;
  std::vector<Cidr> transfer_clients;
  std::vector<Endpoint> notify;
  struct Forwarding {
    DNSPolicy::Forwarding::Policy policy = DNSPolicy::Forwarding::Policy::sequential;
    std::chrono::seconds min_ttl{0}, max_ttl{86'400}, serve_stale{0};
    bool prefetch = false, randomize_case = false;
    std::vector<std::pair<dns::Name, std::vector<Endpoint>>> zones;
  };
  std::optional<Forwarding> forwarding;
  struct Access {
    std::string view;
    std::vector<Cidr> allowed;  ///< empty: every client
    bool forward = true;
    std::vector<Cidr> forwarded;  ///< empty: every client
  };
  std::vector<Access> access;
  bool query_log = false;
  std::uint32_t workers = 1;
  std::optional<dns::Name> lease_domain;
};
/// As ProxyPolicy, with texts parsed.
struct ValidProxyPolicy {
  Origin origin;  ///< for problems that show later
  std::optional<std::chrono::seconds> connect_timeout, idle_timeout, inspect_timeout;
  std::uint32_t max_connections = 10000;
  bool publish_api_on_443 = false;
  std::uint32_t max_connections_per_listener = 0, max_connections_per_source = 0, max_connections_per_backend = 0;
  std::uint32_t max_hello_bytes = 16'384, max_connect_attempts = 3, keepalive_probes = 4;
  std::chrono::seconds keepalive_idle{60}, keepalive_interval{15};
  std::optional<std::size_t> receive_buffer_bytes, send_buffer_bytes;
  std::vector<Cidr> allowed_sources, denied_sources;
  struct AllowedNames {
    std::uint16_t port = 0;
    std::optional<IpAddress> address;
    std::optional<ProxyPolicy::Side> side;
    std::vector<std::string> names;  ///< lower case
  };
  std::vector<AllowedNames> allowed_names;  ///< in the order of the policy, like `backends`
  std::vector<ProxyPolicy::Backend> backends;
  ProxyPolicy::Balance balance = ProxyPolicy::Balance::round_robin;
  std::optional<ProxyPolicy::HealthCheck> health_check;
  std::uint32_t ejection_failures = 5;
  std::chrono::seconds ejection_duration{30}, drain_timeout{600}, udp_idle_timeout{60};
  std::map<std::uint16_t, ProxyPolicy::ListenerKind> listeners{{80, ProxyPolicy::ListenerKind::http}};
  std::vector<Cidr> trusted_proxies;
  std::optional<ProxyPolicy::ProxyHeader> send_proxy_header;
  std::vector<std::string> proxy_header_to;
  std::string interface;
  std::vector<IpAddress> dial_from;
  std::uint32_t workers = 1;
  ProxyPolicy::AccessLog access_log = ProxyPolicy::AccessLog::text;
  std::optional<std::string> access_log_template;
};

struct ValidInfra {
  ObjectMeta metadata;
  Origin origin;  ///< for problems that show later
  Ipv4Cidr cidr;
  std::optional<Ipv4> gateway;
  std::vector<Resolver> dns_servers;
  std::optional<ValidDhcp> dhcp;  ///< only what is present and enabled
  std::optional<ValidDns> dns;
  std::optional<ValidProxy> proxy;
  std::vector<ValidCluster> clusters;  ///< ordered by name
  ValidDhcpPolicy dhcp_policy;
  ValidDnsPolicy dns_policy;
  ValidProxyPolicy proxy_policy;
  Infra spec;  ///< as written: images, attachment names, what only manifests need
  /// Of the link: `cidr`, then those of the DHCPPolicy.
  [[nodiscard]] std::vector<Ipv4Cidr> networks() const;
  /// Whether one of them holds the address.
  [[nodiscard]] bool is_on_link(const IpAddress& address) const;
};

struct ValidDhcpServer {
  ObjectMeta metadata;
  Origin origin;  ///< for problems that show later
  Ipv4Cidr cidr;
  Ipv4 gateway;
  ValidDhcp dhcp;
  std::vector<Ipv4> dns_servers;
  ValidDhcpPolicy policy;
  DHCPServer spec;  ///< as written
};
struct ValidDnsServer {
  ObjectMeta metadata;
  Origin origin;  ///< for problems that show later
  Ipv4 server_ip, proxy_ip;
  std::optional<Ipv4> internal_proxy_ip;
  std::optional<Cidr> secondary_network;
  std::uint16_t port = 53;
  std::string domain;  ///< hostedClusterDomain, lower case
  std::vector<ValidDnsPolicy::Entry> entries;
  std::vector<Resolver> upstreams;
  std::chrono::seconds cache_ttl{30};
  ValidDnsPolicy policy;
  DNSServer spec;  ///< as written
};
struct ValidProxyBackend {
  std::string name;
  std::vector<std::string> hostnames;  ///< hostname first, then the alternates; lower case
  std::uint16_t port = 0;
  std::string target_service;  ///< a Service name, or an IPv4 address
  std::string target_namespace;
  std::uint16_t target_port = 0;
  Protocol protocol = Protocol::tcp;
  std::chrono::seconds connect_timeout{30};
  std::vector<Cidr> sources;  ///< empty: every client
};
struct ValidProxyServer {
  ObjectMeta metadata;
  Origin origin;  ///< for problems that show later
  Ipv4 server_ip;
  std::vector<ValidProxyBackend> backends;
  ValidProxyPolicy policy;
  ProxyServer spec;  ///< as written
};

/// One machine of a BootstrapCluster.
struct ValidNode {
  std::string name;
  NodeRole role = NodeRole::worker;
  MacAddress mac;
  Ipv4 address;
  std::string disk;
  std::string interface;
};
struct ValidBootstrapCluster {
  ObjectMeta metadata;
  Origin origin;       ///< for problems that show later
  std::string domain;  ///< "<clusterName>.<baseDomain>"
  unsigned minor = 0;  ///< of OpenShift 4
  Ipv4Cidr machine_network, pod_network, service_network;
  std::optional<Ipv4> gateway;
  std::vector<Ipv4> dns_servers;
  std::optional<Ipv4Range> dhcp;
  Ipv4 api_vip, ingress_vip;
  std::vector<ValidNode> nodes;  ///< one with the role bootstrap, one control plane at least
  std::string bridge;            ///< of the machine network on a host with libvirt
  std::string folder;            ///< of the file that it came from, which relative file names start at; "" for none
  BootstrapCluster spec;         ///< as written: images and file names
  [[nodiscard]] const ValidNode& bootstrap() const;
  [[nodiscard]] std::vector<const ValidNode*> with_role(NodeRole role) const;
};

/// A HostedCluster that has passed. Its names are made of it by manifest/published_names.
struct ValidHostedCluster {
  ObjectMeta metadata;
  Origin origin;                        ///< for problems that show later
  std::string control_plane_namespace;  ///< "<namespace>-<name>", dots as dashes
  HostedCluster spec;                   ///< as written
};

/// A virtual machine on a primary network.
struct ValidUdnMachine {
  std::string name, network;
  std::vector<IpAddress> addresses;  ///< as many as the network has subnets, in their order; or none
  std::optional<MacAddress> mac;
  std::vector<std::string> additional_networks;
};
struct ValidPrimaryUdn {
  ObjectMeta metadata;
  Origin origin;                        ///< for problems that show later
  std::string name;                     ///< of the UserDefinedNetwork or ClusterUserDefinedNetwork
  std::string network;                  ///< OVN-Kubernetes' name for it, which annotations and IPAMClaims have
  std::vector<std::string> namespaces;  ///< the first is that of the control plane or of the virtual machines
  std::string hosted_cluster;           ///< "namespace/name"; empty: none
  std::vector<Cidr> subnets;            ///< IPv4 before IPv6
  std::vector<Cidr> reserved, infrastructure, join;
  std::vector<IpAddress> gateways;
  std::vector<IpAddress> dns_addresses;  ///< of the management cluster's DNS Service
  std::vector<ValidUdnMachine> machines;
  bool is_persistent = false;  ///< addresses outlive pods
  PrimaryUDN spec;             ///< as written
};

struct ValidSet {
  std::vector<ValidInfra> infras;
  std::vector<ValidDhcpServer> dhcp_servers;
  std::vector<ValidDnsServer> dns_servers;
  std::vector<ValidProxyServer> proxy_servers;
  std::vector<ValidBootstrapCluster> bootstrap_clusters;
  std::vector<ValidHostedCluster> hosted_clusters;  ///< in the order of the text
  std::vector<ValidPrimaryUdn> primary_udns;        ///< in the order of the text
  std::vector<InfraClusterAttachment> attachments;  ///< as written, for manifests; like the four below
  std::vector<DHCPPolicy> dhcp_policies;
  std::vector<DNSPolicy> dns_policies;
  std::vector<ProxyPolicy> proxy_policies;
  std::vector<AppsPolicy> apps_policies;
  Diagnostics warnings;  ///< what is accepted and yet worth a look
};

/// Checks every rule of docs/spec.md over the whole set. All problems at once; the error holds the warnings too.
/// `records` has a text for each of record_file_paths(); one that is not there is an error.
[[nodiscard]] Result<ValidSet, Diagnostics> validate(const SpecSet& set, std::span<const RecordText> records = {});

/// load() and validate() in one: problems of both kinds at once. For sets that name no files of records.
[[nodiscard]] Result<ValidSet, Diagnostics> check(const std::vector<SourceText>& sources, const LoadLimits& limits = {},
                                                  KindSet kinds = KindSet::network);

}  // namespace hcpnet::spec
