// SPDX-License-Identifier: Apache-2.0
#include "spec/build.hpp"

#include <algorithm>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <set>
#include <utility>

#include "dhcp/option_value.hpp"
#include "spec/format.hpp"
#include "spec/names.hpp"
#include "spec/record_file_rules.hpp"
#include "spec/rules.hpp"

// Every parse here succeeds, because the rules have passed: .value() says so.
namespace hcpnet::spec {
namespace {

std::optional<Ipv4> optional_ipv4(const std::optional<std::string>& text) {
  return text ? parse_ipv4(*text) : std::nullopt;
}

std::vector<Resolver> resolvers(const std::vector<std::string>& texts) {
  std::vector<Resolver> result;
  for (const std::string& text : texts) {
    if (text == "resolv.conf")
      result.emplace_back(ResolverWord::resolv_conf);
    else if (text == "node")
      result.emplace_back(ResolverWord::node);
    else
      result.emplace_back(parse_endpoint(text, 53).value());
  }
  return result;
}

std::vector<ValidDnsPolicy::Entry> entries(const std::vector<StaticEntry>& texts) {
  std::vector<ValidDnsPolicy::Entry> result;
  for (const StaticEntry& entry : texts) result.push_back({lower(entry.hostname), parse_ipv4(entry.ip).value()});
  return result;
}

std::vector<Cidr> cidrs(const std::vector<std::string>& texts) {
  std::vector<Cidr> result;
  for (const std::string& text : texts) result.push_back(parse_cidr(text).value());
  return result;
}

/// The policy for an object, if there is one.
template <class Policy>
const SpecSet::Object<Policy>* policy_for(const std::vector<SpecSet::Object<Policy>>& policies, std::string_view kind,
                                          const ObjectMeta& target) {
  for (const auto& object : policies)
    if (const Policy& policy = object.value; policy.target.kind == kind &&
                                             policy.metadata.namespace_ == target.namespace_ &&
                                             policy.target.name == target.name)
      return &object;
  return nullptr;
}

ValidDhcpPolicy::V6 build_ipv6(const DHCPPolicy::V6& ipv6) {
  ValidDhcpPolicy::V6 valid;
  valid.cidr = parse_cidr(ipv6.cidr).value();
  valid.first = parse_ipv6(ipv6.range_start).value();
  valid.last = parse_ipv6(ipv6.range_end).value();
  for (const std::string& server : ipv6.dns_servers) valid.dns_servers.push_back(parse_ipv6(server).value());
  for (const std::string& name : ipv6.domain_search) valid.domain_search.push_back(lower(name));
  valid.rapid_commit = ipv6.rapid_commit;
  valid.identity = ipv6.identity;
  for (const DHCPPolicy::Reservation6& r : ipv6.reservations)
    valid.reservations.push_back({r.mac_address ? parse_mac_address(*r.mac_address) : std::nullopt,
                                  r.duid ? dhcp6::parse_duid(*r.duid) : std::nullopt, parse_ipv6(r.address).value(),
                                  r.host_name.value_or("")});
  return valid;
}

/// What has passed Format::option_bytes.
std::string bytes_of(const std::string& text) {
  return std::string(as_text(*dhcp::encode_option_bytes(text)));
}

std::vector<ValidDhcpPolicy::Pool> build_pools(const std::vector<DHCPPolicy::Pool>& pools) {
  std::vector<ValidDhcpPolicy::Pool> valid;
  for (const DHCPPolicy::Pool& pool : pools)
    valid.push_back({{parse_ipv4(pool.range_start).value(), parse_ipv4(pool.range_end).value()},
                     pool.client_classes,
                     pool.options});
  return valid;
}

void build_addresses(const DHCPPolicy& policy, ValidDhcpPolicy& valid) {
  for (const DHCPPolicy::Exclusion& exclusion : policy.exclusions) {
    const Ipv4 first = parse_ipv4(exclusion.range_start).value();
    valid.exclusions.push_back({first, exclusion.range_end ? parse_ipv4(*exclusion.range_end).value() : first});
  }
  valid.pools = build_pools(policy.pools);
  for (const DHCPPolicy::Subnet& subnet : policy.subnets)
    valid.subnets.push_back({parse_ipv4_cidr(subnet.cidr).value(), optional_ipv4(subnet.gateway),
                             optional_ipv4(subnet.server_ip), build_pools(subnet.pools), subnet.options});
}

DHCPPolicy::SharedStore build_shared_store(DHCPPolicy::SharedStore store, const Origin& origin) {
  for (auto* file : {&store.ca_file, &store.certificate_file, &store.key_file, &store.password_file})
    if (*file) *file = record_file_path(origin, **file);
  return store;
}

ValidDhcpPolicy build_policy(const SpecSet::Object<DHCPPolicy>* object) {
  ValidDhcpPolicy valid;
  if (object == nullptr) return valid;
  const DHCPPolicy* policy = &object->value;
  valid.authoritative = policy->authoritative;
  valid.options = policy->options;
  valid.boot = policy->boot;
  build_addresses(*policy, valid);
  valid.client_classes = policy->client_classes;
  valid.client_rate_limit = policy->client_rate_limit;
  if (auto& limit = valid.client_rate_limit)  // what is written is not less; what is left out follows the rate
    limit->burst = std::max(limit->burst, limit->messages_per_second);
  valid.probe = policy->probe;
  if (policy->shared_store) valid.shared_store = build_shared_store(*policy->shared_store, object->origin);
  valid.client_identity = policy->client_identity;
  for (const DHCPPolicy::Reservation& r : policy->reservations)
    valid.reservations.push_back({r.mac_address ? parse_mac_address(*r.mac_address) : std::nullopt,
                                  r.client_id ? bytes_of(*r.client_id) : std::string(), parse_ipv4(r.address).value(),
                                  r.host_name.value_or("")});
  if (policy->ipv6) valid.ipv6 = build_ipv6(*policy->ipv6);
  valid.router_advertisement = policy->router_advertisement;
  return valid;
}

std::vector<dns::RRset> records(const std::vector<DNSPolicy::Record>& texts, std::chrono::seconds default_ttl) {
  std::vector<dns::RRset> result;
  for (const DNSPolicy::Record& text : texts) {
    const dns::Type type = dns::parse_type(text.type).value();
    dns::RRset rrset{dns::parse_name(text.name).value(),
                     type,
                     static_cast<std::uint32_t>(text.ttl.value_or(default_ttl).count()),
                     {}};
    for (const std::string& data : text.data) rrset.rdata.push_back(dns::parse_rdata(type, data).value());
    result.push_back(std::move(rrset));
  }
  return result;
}

ValidDnsPolicy::Forwarding build_forwarding(const DNSPolicy::Forwarding& forwarding) {
  ValidDnsPolicy::Forwarding valid{forwarding.policy,
                                   forwarding.min_ttl,
                                   forwarding.max_ttl,
                                   forwarding.serve_stale,
                                   forwarding.prefetch,
                                   forwarding.randomize_case,
                                   {}};
  for (const DNSPolicy::Forwarding::Zone& zone : forwarding.zones) {
    auto& [name, upstreams] = valid.zones.emplace_back(dns::parse_name(zone.zone).value(), std::vector<Endpoint>{});
    for (const std::string& text : zone.upstreams) upstreams.push_back(parse_endpoint(text, 53).value());
  }
  return valid;
}

ValidDnsPolicy build_policy(const SpecSet::Object<DNSPolicy>* object, const RecordFiles& record_files) {
  ValidDnsPolicy valid;
  if (object == nullptr) return valid;
  const DNSPolicy* policy = &object->value;
  valid.origin = object->origin;
  valid.record_ttl = policy->record_ttl;
  valid.entries = entries(policy->entries);
  for (const DNSPolicy::ExtraView& view : policy->views)
    valid.views.push_back({view.name, cidrs(view.client_prefixes), optional_ipv4(view.proxy_address),
                           records(view.records, policy->record_ttl)});
  valid.records = records(policy->records, policy->record_ttl);
  valid.zone_files = record_files.zone_files(*object);
  valid.hosts_files = record_files.hosts_files(*object);
  valid.reverse = policy->reverse;
  valid.cookies = policy->cookies;
  valid.nsid = policy->nsid.value_or("");
  valid.version = policy->version.value_or("");
  valid.response_rate_limit = policy->response_rate_limit;
  if (policy->transfer) {
    valid.transfer_clients = cidrs(policy->transfer->allowed_clients);
    for (const std::string& text : policy->transfer->notify) valid.notify.push_back(parse_endpoint(text, 53).value());
  }
  if (policy->forwarding) valid.forwarding = build_forwarding(*policy->forwarding);
  for (const DNSPolicy::Access& access : policy->access)
    valid.access.push_back(
        {access.view, cidrs(access.allowed_clients), access.forward, cidrs(access.forwarded_clients)});
  valid.query_log = policy->query_log;
  valid.workers = policy->workers;
  if (policy->lease_domain) valid.lease_domain = dns::parse_name(*policy->lease_domain).value();
  return valid;
}

ValidProxyPolicy build_policy(const SpecSet::Object<ProxyPolicy>* object) {
  ValidProxyPolicy valid;
  if (object == nullptr) return valid;
  const ProxyPolicy* policy = &object->value;
  valid.origin = object->origin;
  valid.connect_timeout = policy->connect_timeout;
  valid.idle_timeout = policy->idle_timeout;
  valid.inspect_timeout = policy->inspect_timeout;
  valid.max_connections = policy->max_connections;
  valid.publish_api_on_443 = policy->publish_api_on_443;
  valid.max_connections_per_listener = policy->max_connections_per_listener;
  valid.max_connections_per_source = policy->max_connections_per_source;
  valid.max_connections_per_backend = policy->max_connections_per_backend;
  valid.allowed_sources = cidrs(policy->allowed_sources);
  valid.denied_sources = cidrs(policy->denied_sources);
  for (const ProxyPolicy::AllowedNames& allowed : policy->allowed_names) {
    auto& list = valid.allowed_names.emplace_back();
    list.port = allowed.port;
    if (allowed.address) list.address = parse_ip_address(*allowed.address)->unmapped();
    list.side = allowed.side;
    for (const std::string& name : allowed.names) list.names.push_back(lower(name));
  }
  valid.backends = policy->backends;
  valid.max_hello_bytes = policy->max_hello_bytes;
  valid.max_connect_attempts = policy->max_connect_attempts;
  valid.keepalive_idle = policy->keepalive_idle;
  valid.keepalive_interval = policy->keepalive_interval;
  valid.keepalive_probes = policy->keepalive_probes;
  if (policy->receive_buffer_bytes)
    valid.receive_buffer_bytes = static_cast<std::size_t>(*policy->receive_buffer_bytes);
  if (policy->send_buffer_bytes) valid.send_buffer_bytes = static_cast<std::size_t>(*policy->send_buffer_bytes);
  valid.balance = policy->balance;
  valid.health_check = policy->health_check;
  valid.ejection_failures = policy->ejection_failures;
  valid.ejection_duration = policy->ejection_duration;
  valid.drain_timeout = policy->drain_timeout;
  valid.udp_idle_timeout = policy->udp_idle_timeout;
  for (const ProxyPolicy::Listener& listener : policy->listeners) valid.listeners[listener.port] = listener.kind;
  valid.trusted_proxies = cidrs(policy->trusted_proxies);
  valid.send_proxy_header = policy->send_proxy_header;
  valid.proxy_header_to = policy->proxy_header_to;
  valid.interface = policy->interface.value_or("");
  for (const std::string& address : policy->dial_from) valid.dial_from.push_back(parse_ip_address(address).value());
  valid.workers = policy->workers;
  valid.access_log = policy->access_log;
  valid.access_log_template = policy->access_log_template;
  return valid;
}

ValidCluster own_cluster(const Infra& infra, const Origin& origin) {
  ValidCluster cluster;
  cluster.origin = origin;
  cluster.name = *infra.dns->cluster_name;
  cluster.hosted_cluster = infra.metadata.namespace_ + '/' + cluster.name;
  cluster.domain = lower(cluster.name + '.' + *infra.dns->base_domain);
  cluster.control_plane_namespace = control_plane_of(infra);
  return cluster;
}

ValidCluster attached_cluster(const SpecSet& set, const InfraClusterAttachment& attachment, const Origin& origin) {
  ValidCluster cluster;
  cluster.origin = origin;
  cluster.name = attachment.metadata.name;
  cluster.hosted_cluster = attachment.hosted_cluster_namespace + '/' + attachment.hosted_cluster_name;
  cluster.domain = attachment.cluster_name + '.' + attachment.base_domain;
  cluster.control_plane_namespace = control_plane_of(attachment);
  const AppsIngress& ingress = attachment.apps_ingress;
  if (const auto* policy = policy_for(set.apps_policies, "InfraClusterAttachment", attachment.metadata)) {
    const Ipv4 vip = parse_ipv4(policy->value.static_vip).value();
    cluster.apps_pool = Ipv4Range{vip, vip};
    cluster.static_apps_vip = cluster.apps_vip = vip;
  } else if (ingress.enabled) {
    cluster.apps_pool = parse_pool(*ingress.address_pool_range);
  }
  cluster.apps_http_port = ingress.http_port;
  cluster.apps_https_port = ingress.https_port;
  return cluster;
}

/// A port of its own for each cluster that wants one. FNV-1a of the name chooses; a port that is taken gives way to the
/// next.
void choose_external_ports(const SpecSet& set, const Infra& infra, std::vector<ValidCluster>& clusters) {
  std::set<std::uint16_t> taken;
  for (ValidCluster& cluster : clusters) {
    const bool is_wanted = std::ranges::any_of(set.attachments, [&](const auto& a) {
      return a.value.metadata.namespace_ == infra.metadata.namespace_ && a.value.metadata.name == cluster.name &&
             a.value.external_service.enabled;
    });
    if (!is_wanted) continue;
    std::uint32_t hash = 2'166'136'261;
    for (const char c : cluster.name) hash = (hash ^ static_cast<std::uint8_t>(c)) * 16'777'619;
    std::uint32_t offset = hash % kExternalPorts;
    while (!taken.insert(static_cast<std::uint16_t>(kFirstExternalPort + offset)).second)
      offset = (offset + 1) % kExternalPorts;
    cluster.external_port = static_cast<std::uint16_t>(kFirstExternalPort + offset);
  }
}

std::vector<ValidCluster> clusters_of(const SpecSet& set, const Infra& infra, const Origin& infra_origin) {
  std::vector<ValidCluster> clusters;
  for (const auto& [attachment, origin] : set.attachments)
    if (attachment.infra_name == infra.metadata.name && attachment.metadata.namespace_ == infra.metadata.namespace_)
      clusters.push_back(attached_cluster(set, attachment, origin));
  if (clusters.empty() && names_cluster(infra)) clusters.push_back(own_cluster(infra, infra_origin));
  std::ranges::sort(clusters, {}, &ValidCluster::name);
  choose_external_ports(set, infra, clusters);
  return clusters;
}

ValidInfra build_infra(const SpecSet& set, const Infra& infra, const Origin& origin, const RecordFiles& record_files) {
  ValidInfra valid;
  valid.origin = origin;
  valid.metadata = infra.metadata;
  valid.cidr = parse_ipv4_cidr(infra.network.cidr).value();
  valid.gateway = optional_ipv4(infra.network.gateway);
  valid.dns_servers = resolvers(infra.network.dns_servers);
  if (infra.dhcp && infra.dhcp->enabled) {
    valid.dhcp = ValidDhcp{
        .server_ip = optional_ipv4(infra.dhcp->server_ip).value(),
        .pool = {optional_ipv4(infra.dhcp->range_start).value(), optional_ipv4(infra.dhcp->range_end).value()},
        .lease_time = parse_lease_time(infra.dhcp->lease_time).value(),
        .options = {}};
  }
  if (infra.dns && infra.dns->enabled) valid.dns = ValidDns{optional_ipv4(infra.dns->server_ip).value()};
  if (infra.proxy && infra.proxy->enabled)
    valid.proxy = ValidProxy{optional_ipv4(infra.proxy->server_ip).value(), infra.proxy->internal_proxy_service};
  valid.clusters = clusters_of(set, infra, origin);
  valid.dhcp_policy = build_policy(policy_for(set.dhcp_policies, "Infra", infra.metadata));
  valid.dns_policy = build_policy(policy_for(set.dns_policies, "Infra", infra.metadata), record_files);
  valid.proxy_policy = build_policy(policy_for(set.proxy_policies, "Infra", infra.metadata));
  valid.spec = infra;
  return valid;
}

ValidDhcpServer build_server(const SpecSet& set, const DHCPServer& server, const Origin& origin) {
  ValidDhcpServer valid;
  valid.origin = origin;
  valid.metadata = server.metadata;
  valid.cidr = parse_ipv4_cidr(server.cidr).value();
  valid.gateway = parse_ipv4(server.gateway).value();
  valid.dhcp = {.server_ip = address_of(server.server_ip).value(),
                .pool = {parse_ipv4(server.range_start).value(), parse_ipv4(server.range_end).value()},
                .lease_time = parse_lease_time(server.lease_time).value(),
                .options = server.options};
  for (const std::string& address : server.dns_servers) valid.dns_servers.push_back(parse_ipv4(address).value());
  valid.policy = build_policy(policy_for(set.dhcp_policies, "DHCPServer", server.metadata));
  valid.spec = server;
  return valid;
}

ValidDnsServer build_server(const SpecSet& set, const DNSServer& server, const Origin& origin,
                            const RecordFiles& record_files) {
  ValidDnsServer valid;
  valid.origin = origin;
  valid.metadata = server.metadata;
  valid.server_ip = address_of(server.server_ip).value();
  valid.proxy_ip = parse_ipv4(server.proxy_ip).value();
  valid.internal_proxy_ip = optional_ipv4(server.internal_proxy_ip);
  if (server.secondary_network_cidr) valid.secondary_network = parse_cidr(*server.secondary_network_cidr);
  valid.port = server.dns_port;
  valid.domain = lower(server.hosted_cluster_domain);
  valid.entries = entries(server.static_entries);
  valid.upstreams = resolvers(server.upstream_dns);
  valid.cache_ttl = parse_simple_duration(server.cache_ttl).value();
  valid.policy = build_policy(policy_for(set.dns_policies, "DNSServer", server.metadata), record_files);
  valid.spec = server;
  return valid;
}

ValidProxyBackend build_backend(const ProxyBackend& backend) {
  ValidProxyBackend valid;
  valid.name = backend.name;
  valid.hostnames.push_back(lower(backend.hostname));
  for (const std::string& name : backend.alternate_hostnames) valid.hostnames.push_back(lower(name));
  valid.port = backend.port;
  valid.target_service = backend.target_service;
  valid.target_namespace = backend.target_namespace;
  valid.target_port = backend.target_port;
  valid.protocol = backend.protocol;
  valid.connect_timeout = backend.timeout;
  valid.sources = cidrs(backend.source_prefix_ranges);
  return valid;
}

ValidProxyServer build_server(const SpecSet& set, const ProxyServer& server, const Origin& origin) {
  ValidProxyServer valid;
  valid.origin = origin;
  valid.metadata = server.metadata;
  valid.server_ip = address_of(server.server_ip).value();
  for (const ProxyBackend& backend : server.backends) valid.backends.push_back(build_backend(backend));
  valid.policy = build_policy(policy_for(set.proxy_policies, "ProxyServer", server.metadata));
  valid.spec = server;
  return valid;
}

}  // namespace

ValidSet build(const SpecSet& set, const RecordFiles& record_files) {
  ValidSet valid;
  for (const auto& [infra, origin] : set.infras) valid.infras.push_back(build_infra(set, infra, origin, record_files));
  for (const auto& [server, origin] : set.dhcp_servers) valid.dhcp_servers.push_back(build_server(set, server, origin));
  for (const auto& [server, origin] : set.dns_servers)
    valid.dns_servers.push_back(build_server(set, server, origin, record_files));
  for (const auto& [server, origin] : set.proxy_servers)
    valid.proxy_servers.push_back(build_server(set, server, origin));
  for (const auto& [cluster, origin] : set.bootstrap_clusters)
    valid.bootstrap_clusters.push_back(build_bootstrap_cluster(cluster, origin));
  for (const auto& [cluster, origin] : set.hosted_clusters)
    valid.hosted_clusters.push_back({cluster.metadata, origin,
                                     control_plane_namespace(cluster.metadata.namespace_, cluster.metadata.name),
                                     cluster});
  for (const auto& [udn, origin] : set.primary_udns) valid.primary_udns.push_back(build_primary_udn(udn, origin));
  for (const auto& [attachment, origin] : set.attachments) valid.attachments.push_back(attachment);
  for (const auto& [policy, origin] : set.dhcp_policies) valid.dhcp_policies.push_back(policy);
  for (const auto& [policy, origin] : set.dns_policies) valid.dns_policies.push_back(policy);
  for (const auto& [policy, origin] : set.proxy_policies) valid.proxy_policies.push_back(policy);
  for (const auto& [policy, origin] : set.apps_policies) valid.apps_policies.push_back(policy);
  return valid;
}

}  // namespace hcpnet::spec
