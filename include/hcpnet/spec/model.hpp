// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/net.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The kinds as a user writes them: plain values with every field, defaults applied, nothing checked across fields.
/// Sources: hostedcluster.densityops.com/v1alpha1 (oooi, both generations of its CRDs) and hcpnet.io/v1alpha1
/// (docs/spec.md). Text fields hold text: what is an address or a host name is decided by spec/validate, which yields
/// ValidSet.
namespace hcpnet::spec {

inline constexpr std::string_view kOooiApiVersion = "hostedcluster.densityops.com/v1alpha1";
inline constexpr std::string_view kHcpnetApiVersion = "hcpnet.io/v1alpha1";

using StringMap = std::map<std::string, std::string>;

struct ObjectMeta {
  std::string name;
  std::string namespace_ = "default";
  StringMap labels;
  StringMap annotations;
  std::string uid;
  /// RFC 3339 as the API server writes it; empty in a file that a person wrote. Decides who wins among observed
  /// objects.
  std::string creation_timestamp;
  /// "namespace/name"
  [[nodiscard]] std::string key() const { return namespace_ + '/' + name; }
};

// --- Infra
// --------------------------------------------------------------------------------------------------------------------

enum class AttachmentKind : std::uint8_t { network_attachment_definition, cluster_user_defined_network };
enum class Topology : std::uint8_t { localnet, layer2, layer3 };
enum class Role : std::uint8_t { secondary, primary };
enum class Exposure : std::uint8_t { layer2, bgp };
enum class Ipam : std::uint8_t { dhcp, external, ovn_kubernetes };

struct NetworkAttachment {
  AttachmentKind kind = AttachmentKind::network_attachment_definition;
  std::string name;
  std::optional<std::string> namespace_;
};

struct NetworkConfig {
  std::string cidr;
  std::optional<std::string> gateway;
  std::optional<std::string> network_attachment_definition;  ///< legacy form
  std::optional<std::string> network_attachment_namespace;   ///< legacy form
  std::optional<NetworkAttachment> attachment;               ///< structured form, like the five fields below
  std::optional<Topology> topology;
  std::optional<Role> role;
  std::optional<Exposure> exposure;
  std::optional<Ipam> ipam;
  std::optional<std::string> route_advertisements_ref;  ///< routeAdvertisementsRef.name
  std::vector<std::string> dns_servers;                 ///< addresses, "resolv.conf" or "node"
};

struct DhcpComponent {
  bool enabled = true;
  std::optional<std::string> server_ip, range_start, range_end, image;
  std::string lease_time = "1h";
};
struct DnsComponent {
  bool enabled = true;
  std::optional<std::string> server_ip, image;
  std::optional<std::string> base_domain, cluster_name;  ///< legacy Infra only: the one cluster it names itself
};
struct ProxyComponent {
  bool enabled = true;
  std::optional<std::string> server_ip, internal_proxy_service;
  std::optional<std::string> control_plane_namespace;  ///< legacy Infra only
  std::optional<std::string> api_server_service;       ///< legacy Infra only; nothing ever read it
  std::string proxy_image = "envoyproxy/envoy:v1.36.4";
  std::string manager_image = "quay.io/cldmnky/oooi:latest";
};

struct Infra {
  ObjectMeta metadata;
  NetworkConfig network;
  std::optional<DhcpComponent> dhcp;  ///< absent: not wanted
  std::optional<DnsComponent> dns;
  std::optional<ProxyComponent> proxy;
};

// --- InfraClusterAttachment
// ---------------------------------------------------------------------------------------------------

struct ExternalService {
  bool enabled = false;
  std::optional<std::string> address_pool_name;
  StringMap labels, annotations;
};
struct AppsIngress {
  bool enabled = false;
  std::optional<std::string> address_pool_name, address_pool_range;  ///< metallb.addressPoolName, .ipAddressPoolRange
  std::optional<std::string> l2_advertisement_name;
  std::string service_name = "oooi-ingress";
  std::string service_namespace = "openshift-ingress";
  StringMap service_labels, service_annotations;
  std::uint16_t http_port = 80, https_port = 443;
};

struct InfraClusterAttachment {
  ObjectMeta metadata;
  std::string infra_name;  ///< infraRef.name, in the attachment's own namespace
  std::string hosted_cluster_name;
  std::string hosted_cluster_namespace = "clusters";
  std::string cluster_name;  ///< dns.clusterName
  std::string base_domain;   ///< dns.baseDomain
  std::optional<std::string> control_plane_namespace;
  std::string api_server_service = "kube-apiserver";
  ExternalService external_service;
  AppsIngress apps_ingress;
  /// status.appsIngressStatus.externalIP, where the object was read from a cluster
  std::optional<std::string> observed_apps_ip;
};

// --- single servers
// -----------------------------------------------------------------------------------------------------------

struct DhcpOption {
  std::uint8_t code = 0;  ///< 1 to 254
  std::string value;
};
struct DHCPServer {
  ObjectMeta metadata;
  std::string cidr, gateway, server_ip;  ///< server_ip may carry a prefix length
  std::vector<std::string> dns_servers;
  std::optional<std::string> network_attachment_name, network_attachment_namespace;
  std::string range_start, range_end, lease_time = "1h";
  std::vector<DhcpOption> options;
  std::string image = "ghcr.io/cldmnky/hyperdhcp:latest";
};

struct StaticEntry {
  std::string hostname, ip;
};
struct DNSServer {
  ObjectMeta metadata;
  std::string server_ip, proxy_ip;  ///< server_ip may carry a prefix length
  std::optional<std::string> internal_proxy_ip, secondary_network_cidr, network_attachment_name,
      network_attachment_namespace;
  std::uint16_t dns_port = 53;
  std::string hosted_cluster_domain;
  std::vector<StaticEntry> static_entries;
  std::vector<std::string> upstream_dns;  ///< addresses with optional port, "resolv.conf" or "node"
  std::string image = "quay.io/cldmnky/oooi:latest", reload_interval = "5s", cache_ttl = "30s";
};

enum class Protocol : std::uint8_t { tcp, udp };
struct ProxyBackend {
  std::string name, hostname;
  std::vector<std::string> alternate_hostnames;
  std::uint16_t port = 0;
  std::string target_service, target_namespace;
  std::uint16_t target_port = 0;
  Protocol protocol = Protocol::tcp;
  std::chrono::seconds timeout{30};  ///< timeoutSeconds: the connect timeout
  std::vector<std::string> source_prefix_ranges;
};
struct ProxyServer {
  ObjectMeta metadata;
  std::string server_ip;  ///< may carry a prefix length
  std::optional<std::string> network_attachment_name, network_attachment_namespace;
  std::vector<ProxyBackend> backends;
  ExternalService external_service;
  std::string proxy_image = "envoyproxy/envoy:v1.36.4", manager_image = "quay.io/cldmnky/oooi:latest";
  std::uint16_t port = 443, xds_port = 18000;
  std::string log_level = "info";
};

// --- hcpnet.io: what oooi has no field for, attached by targetRef
// -----------------------------------------------------------

/// The object that a policy refines, in the policy's own namespace.
struct TargetRef {
  std::string kind, name;
};

// Apart from DHCPPolicy, since a nested struct is not complete before the end of it.
/// DHCPv6 on the same interface.
struct DhcpV6Fields {
  enum class Identity : std::uint8_t { mac, duid };
  struct Reservation {
    std::optional<std::string> mac_address, duid;  ///< one of them
    std::string address;
    std::optional<std::string> host_name;
  };
  std::string cidr, range_start, range_end;
  std::vector<std::string> dns_servers, domain_search;
  bool rapid_commit = false;
  Identity identity = Identity::mac;
  std::vector<Reservation> reservations;
};
/// RFC 4861 beside DHCPv6: what tells hosts to ask it.
struct RouterAdvertisementFields {
  bool managed = true, other_config = true, on_link = true, autonomous = false;
  std::chrono::seconds router_lifetime{0};  ///< routerLifetimeSeconds, 0 to 9000; 0: no default router
  std::optional<std::int64_t> mtu;          ///< 1280 to 65535
};
/// The fields of BOOTP for machines that boot from the network.
struct DhcpBootFields {
  std::optional<std::string> next_server;       ///< siaddr
  std::optional<std::string> server_host_name;  ///< sname, at most 63 bytes
  std::optional<std::string> boot_file_name;    ///< file, at most 127 bytes
};
struct DhcpPoolFields {
  std::string range_start, range_end;
  std::vector<std::string> client_classes;  ///< names; only clients of one of them get an address; empty: every client
  std::vector<DhcpOption> options;          ///< for addresses of the pool
};
/// A further subnet on the same link: with the target's network a shared network.
struct DhcpSubnetFields {
  std::string cidr;
  std::optional<std::string> gateway;
  std::optional<std::string> server_ip;  ///< our own address in it; absent: only the target's
  std::vector<DhcpPoolFields> pools;
  std::vector<DhcpOption> options;
};
struct ClientClassFields {
  std::string name;
  /// match: of each list that is there one item fits. Texts are what an option holds, or "hex:" and digits.
  struct Match {
    std::vector<std::string> vendor_classes;           ///< option 60 begins with it
    std::vector<std::string> user_classes;             ///< of option 77
    std::vector<std::string> mac_prefixes;             ///< one to six pairs of hexadecimal digits
    std::vector<std::string> circuit_ids, remote_ids;  ///< of option 82
    std::vector<std::int64_t> architectures;           ///< of option 93, 0 to 65535
  } match;
  std::vector<DhcpOption> options;
  DhcpBootFields boot;  ///< beside the other fields, not below one of its own
};
/// clientRateLimit: what one client may send.
struct DhcpRateLimitFields {
  std::uint32_t messages_per_second = 0;  ///< 1 to 1000
  std::uint32_t burst = 20;  ///< 1 to 1000, no less than the above; without text one that is less becomes that
};
/// Asks for an address, by ARP or through a relay by ICMP echo, before it is offered.
struct DhcpProbeFields {
  std::uint32_t timeout_milliseconds = 300;  ///< 50 to 3000: how long an offer waits for an answer
};
/// sharedStore: where the leases of several servers are. Files are relative to the folder of the spec's file.
struct DhcpSharedStoreFields {
  std::vector<std::string> endpoints;                     ///< of etcd, "https://192.0.2.9:2379"
  std::string prefix;                                     ///< of the keys, such as "/hcpnet/vlan7"
  std::optional<std::string> ca_file;                     ///< absent: whom the system trusts
  std::optional<std::string> certificate_file, key_file;  ///< both or none
  std::optional<std::string> server_name;                 ///< in etcd's certificate; absent: the endpoint's host
  std::optional<std::string> username, password_file;     ///< both or none
  std::chrono::seconds max_skew{5};                       ///< maxSkewSeconds, 1 to 300
};
/// Refines DHCP of an Infra or a DHCPServer.
struct DHCPPolicy {
  ObjectMeta metadata;
  TargetRef target;
  bool authoritative = true;        ///< answer NAK for what is known to be wrong (RFC 2131 section 4.3.2)
  std::vector<DhcpOption> options;  ///< sent in addition, or instead of what hcpnet computes
  DhcpBootFields boot;              ///< beside the other fields, not below one of its own
  /// Addresses that no pool gives, the target's own range included.
  struct Exclusion {
    std::string range_start;
    std::optional<std::string> range_end;  ///< absent: that address alone
  };
  std::vector<Exclusion> exclusions;
  using Pool = DhcpPoolFields;
  std::vector<Pool> pools;  ///< of the target's network, after its own range
  using Subnet = DhcpSubnetFields;
  std::vector<Subnet> subnets;
  using ClientClass = ClientClassFields;
  std::vector<ClientClass> client_classes;
  using RateLimit = DhcpRateLimitFields;
  std::optional<RateLimit> client_rate_limit;  ///< absent: none
  using Probe = DhcpProbeFields;
  std::optional<Probe> probe;  ///< absent: none
  using SharedStore = DhcpSharedStoreFields;
  std::optional<SharedStore> shared_store;  ///< absent: the leases are this server's alone
  /// By what IPv4 clients are known again.
  enum class ClientIdentity : std::uint8_t { mac, client_id };
  ClientIdentity client_identity = ClientIdentity::mac;
  struct Reservation {
    std::optional<std::string> mac_address;
    std::optional<std::string> client_id;  ///< instead: option 61, text or "hex:" and digits
    std::string address;
    std::optional<std::string> host_name;
  };
  std::vector<Reservation> reservations;

  using Identity = DhcpV6Fields::Identity;
  using Reservation6 = DhcpV6Fields::Reservation;
  using V6 = DhcpV6Fields;
  std::optional<V6> ipv6;
  using RouterAdvertisement = RouterAdvertisementFields;
  std::optional<RouterAdvertisement> router_advertisement;  ///< needs ipv6
};
/// Apart from DNSPolicy, since a nested struct is not complete before the end of it.
struct DnsRateLimit {
  std::uint32_t responses_per_second = 0;  ///< 1 to 1,000,000
  std::uint32_t slip = 2;                  ///< 0 to 10
};
/// How names are asked of upstreams, and which.
struct DnsForwardingFields {
  enum class Policy : std::uint8_t { sequential, random, round_robin };
  Policy policy = Policy::sequential;
  std::chrono::seconds min_ttl{0}, max_ttl{86'400};  ///< minTTLSeconds, maxTTLSeconds
  std::chrono::seconds serve_stale{0};               ///< serveStaleSeconds, 0: never
  bool prefetch = false;
  bool randomize_case = false;
  struct Zone {
    std::string zone;
    std::vector<std::string> upstreams;  ///< addresses, with or without a port
  };
  std::vector<Zone> zones;  ///< names that have upstreams of their own
};
/// Refines DNS of an Infra or a DNSServer.
struct DNSPolicy {
  ObjectMeta metadata;
  TargetRef target;
  std::chrono::seconds record_ttl{30};  ///< recordTTLSeconds, 1 to 86400
  std::vector<StaticEntry> entries;     ///< published in addition, in the VLAN view
  /// Records of any type.
  struct Record {
    std::string name;
    std::string type;
    std::optional<std::chrono::seconds> ttl;  ///< ttlSeconds; absent: record_ttl
    std::vector<std::string> data;            ///< in presentation form, names absolute
  };
  std::vector<Record> records;  ///< in the VLAN view
  /// A file of records beside the spec.
  struct RecordFile {
    std::string path;                 ///< relative to the folder of the spec's file
    std::string view = "vlan";        ///< "vlan", "pod" or one of `views`
    std::optional<std::string> zone;  ///< of a zone file: its apex, which relative names are below
  };
  std::vector<RecordFile> zone_files, hosts_files;
  bool reverse = false;  ///< each published address has PTR records too
  struct ExtraView {
    std::string name;
    std::vector<std::string> client_prefixes;
    std::optional<std::string> proxy_address;  ///< what the published names resolve to for these clients
    std::vector<Record> records;
  };
  std::vector<ExtraView> views;
  bool cookies = true;                 ///< DNS cookies
  std::optional<std::string> nsid;     ///< told to those who ask; at most 128 bytes
  std::optional<std::string> version;  ///< told to those who ask; at most 255 bytes
  using RateLimit = DnsRateLimit;
  std::optional<RateLimit> response_rate_limit;
  struct Transfer {
    std::vector<std::string> allowed_clients;  ///< networks
    std::vector<std::string> notify;           ///< addresses, with or without a port
  };
  std::optional<Transfer> transfer;
  using Forwarding = DnsForwardingFields;
  std::optional<Forwarding> forwarding;
  /// Who of a view is answered.
  struct Access {
    std::string view;                            ///< "vlan", "pod" or one of `views`
    std::vector<std::string> allowed_clients;    ///< networks; empty: every client of the view
    bool forward = true;                         ///< false: names of no zone are refused
    std::vector<std::string> forwarded_clients;  ///< networks whose other names are forwarded; empty: every client
  };
  std::vector<Access> access;
  bool query_log = false;
  std::uint32_t workers = 1;                ///< threads that answer over UDP
  std::optional<std::string> lease_domain;  ///< clients of DHCP have names below it
};
/// Apart from ProxyPolicy, for the same reason.
struct HealthCheckFields {
  enum class Kind : std::uint8_t { tcp, tls };
  Kind kind = Kind::tcp;
  std::chrono::seconds interval{10}, timeout{2};
  std::uint32_t failures = 3, successes = 2;
};
/// Refines the proxy of an Infra or a ProxyServer.
struct ProxyPolicy {
  ObjectMeta metadata;
  TargetRef target;
  std::optional<std::chrono::seconds>
      connect_timeout;  ///< connectTimeoutSeconds; 30 s where the backend says nothing else
  std::optional<std::chrono::seconds> idle_timeout;  ///< idleTimeoutSeconds; absent: established tunnels never time out
  std::optional<std::chrono::seconds> inspect_timeout;  ///< inspectTimeoutSeconds; 5 s
  std::uint32_t max_hello_bytes = 16'384;               ///< of a ClientHello, or of the head of a first request
  std::uint32_t max_connect_attempts = 3;               ///< endpoints tried for one connection
  std::chrono::seconds keepalive_idle{60};              ///< tcpKeepalive.idleSeconds
  std::chrono::seconds keepalive_interval{15};          ///< tcpKeepalive.intervalSeconds
  std::uint32_t keepalive_probes = 4;                   ///< tcpKeepalive.probes
  /// socketBuffers.receiveBytes, .sendBytes: kernel memory of each socket; 0: as the kernel sees fit; absent: 2.5 MiB
  /// where the kernel allows that.
  std::optional<std::int64_t> receive_buffer_bytes, send_buffer_bytes;
  std::uint32_t max_connections = 10000;
  bool publish_api_on_443 = false;  ///< the API server also answers names and, for its own workers, no name on port 443

  // Limits; 0: none.
  std::uint32_t max_connections_per_listener = 0;
  std::uint32_t max_connections_per_source = 0;
  std::uint32_t max_connections_per_backend = 0;
  std::vector<std::string> allowed_sources;  ///< networks; empty: every client
  std::vector<std::string> denied_sources;   ///< networks; refused also where allowed_sources has them
  /// Where a client comes in: by the server's own address, or by an address of the process on the management side.
  enum class Side : std::uint8_t { vlan, pod };
  /// A port on which these names alone are served.
  struct AllowedNames {
    std::uint16_t port = 0;
    std::optional<std::string> address;  ///< of the listener; absent: every address that has no list of its own
    std::optional<Side> side;            ///< instead of an address; absent: both, where a side has no list of its own
    std::vector<std::string> names;      ///< host names and wildcards
  };
  std::vector<AllowedNames> allowed_names;
  /// What holds for one backend instead.
  struct Backend {
    std::string name;
    std::optional<std::chrono::seconds> idle_timeout;  ///< idleTimeoutSeconds; 0: none
  };
  std::vector<Backend> backends;

  enum class Balance : std::uint8_t { round_robin, least_connections, random_of_two };
  Balance balance = Balance::round_robin;
  using HealthCheck = HealthCheckFields;
  std::optional<HealthCheck> health_check;
  std::uint32_t ejection_failures = 5;  ///< ejection.failures; 0: endpoints are never ejected
  std::chrono::seconds ejection_duration{30};

  std::chrono::seconds drain_timeout{600};    ///< drainTimeoutSeconds: of tunnels whose route is gone
  std::chrono::seconds udp_idle_timeout{60};  ///< udpIdleTimeoutSeconds
  enum class ListenerKind : std::uint8_t { tls, http, tcp };
  struct Listener {
    std::uint16_t port = 0;
    ListenerKind kind = ListenerKind::tls;
  };
  std::vector<Listener> listeners;  ///< what is not named: HTTP on port 80, TLS on every other

  enum class ProxyHeader : std::uint8_t { v1, v2 };
  std::vector<std::string> trusted_proxies;      ///< proxyProtocol.trustedSources: networks
  std::optional<ProxyHeader> send_proxy_header;  ///< proxyProtocol.send
  std::vector<std::string> proxy_header_to;      ///< proxyProtocol.backends: names

  std::optional<std::string> interface;  ///< accepts on this network interface only
  std::vector<std::string> dial_from;    ///< our own addresses towards backends
  std::uint32_t workers = 1;             ///< threads
  enum class AccessLog : std::uint8_t { text, json };
  AccessLog access_log = AccessLog::text;          ///< accessLog.format
  std::optional<std::string> access_log_template;  ///< accessLog.template, for text
};
/// Refines the applications' ingress of an InfraClusterAttachment whose own appsIngress is not enabled.
struct AppsPolicy {
  ObjectMeta metadata;
  TargetRef target;
  std::string static_vip;  ///< the one address in front of the applications; no load balancer gives it
};

// --- hcpnet.io: a self-managed cluster that is brought up by hand
// ---------------------------------------------------------------------------------------

enum class NodeRole : std::uint8_t { bootstrap, control_plane, worker };
enum class PkiLayout : std::uint8_t { hand_made, installer };
enum class KeyKind : std::uint8_t { ecdsa_p256, ecdsa_p384, rsa_2048, rsa_4096 };

/// The load balancer is several hosts; one at a time holds the virtual addresses. Apart from BootstrapCluster, since a
/// nested struct is not complete before the end of it.
struct KeepalivedFields {
  std::string interface;                ///< of these hosts, in the machine network
  std::uint8_t virtual_router_id = 51;  ///< virtualRouterID, 1 to 255; nobody else in the network has it
};

struct BootstrapCluster {
  ObjectMeta metadata;
  std::string cluster_name, base_domain;
  std::string openshift_version;  ///< decides the ignition version, among others
  std::string release_image;
  std::optional<std::string> image_references_file;  ///< /release-manifests/image-references of the release image
  StringMap images;                                  ///< component to pull spec; goes before the file
  struct Networks {
    std::string machine;
    std::string pod = "10.128.0.0/14";
    std::uint8_t host_prefix = 23;  ///< of the part of the pod network that each node gets
    std::string service = "172.30.0.0/16";
    std::optional<std::string> gateway;
    std::vector<std::string> dns_servers;
    std::optional<std::string> dhcp_start, dhcp_end;
  } networks;
  std::string api_vip, ingress_vip;
  struct Node {
    std::string name;
    NodeRole role = NodeRole::worker;
    std::string mac_address, address;
    std::string disk = "/dev/vda";
    std::string interface = "ens3";  ///< that the address is on
  };
  std::vector<Node> nodes;
  std::string pull_secret_file, ssh_key_file;  ///< relative to the folder of the spec's file
  /// What was taken out of the release image, or rendered by programs of it.
  std::optional<std::string> crds_folder, feature_gate_file, machine_configs_folder;
  bool kube_proxy = false;  ///< on the nodes, for Services before there is a pod network
  struct Pki {
    PkiLayout layout = PkiLayout::hand_made;
    KeyKind key = KeyKind::ecdsa_p256;
    std::uint16_t renew_before_days = 30;
    struct Authority {
      std::string name, certificate_file, key_file;
    };
    std::vector<Authority> authorities;  ///< that exist already
  } pki;
  /// A host on which the nodes are virtual machines.
  struct Libvirt {
    std::optional<std::string> bridge;            ///< of the machine network; absent: "virbr-" and the cluster's name
    std::string pool = "default";                 ///< of storage: the machines' disks and the live ISO
    std::string live_iso = "rhcos-live.iso";      ///< name of the volume
    std::uint32_t memory_mib = 16'384, cpus = 4;  ///< of each machine
    std::uint32_t disk_gib = 120;
  } libvirt;
  using Keepalived = KeepalivedFields;
  std::optional<Keepalived> keepalived;
};

}  // namespace hcpnet::spec
