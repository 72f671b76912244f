// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/spec/record_files.hpp>
#include <string_view>

#include "spec/describe_common.hpp"

namespace hcpnet::spec {
namespace {

void describe_target(Fields& fields, TargetRef& target) {
  fields.group("targetRef", Need::required, [&](Fields& f) {
    f.text("kind", Need::required, Format::any, target.kind);
    f.text("name", Need::required, Format::object_name, target.name);
  });
}

constexpr std::array<std::string_view, 2> kIdentities{"mac", "duid"};
constexpr std::array<std::string_view, 2> kClientIdentities{"mac", "clientID"};

void describe_ipv6(Fields& fields, DHCPPolicy::V6& ipv6) {
  fields.text("cidr", Need::required, Format::ipv6_cidr, ipv6.cidr);
  fields.text("rangeStart", Need::required, Format::ipv6, ipv6.range_start);
  fields.text("rangeEnd", Need::required, Format::ipv6, ipv6.range_end);
  fields.texts("dnsServers", {}, Format::ipv6, ipv6.dns_servers);
  fields.texts("domainSearch", {}, Format::host_name, ipv6.domain_search);
  fields.flag("rapidCommit", ipv6.rapid_commit);
  fields.choice("identity", Need::optional, kIdentities, ipv6.identity);
  fields.objects("reservations", {}, ipv6.reservations, [](Fields& f, DHCPPolicy::Reservation6& reservation) {
    f.text("macAddress", Format::mac, reservation.mac_address);
    f.text("duid", Format::duid, reservation.duid);
    f.text("address", Need::required, Format::ipv6, reservation.address);
    f.text("hostName", Format::host_name, reservation.host_name);
  });
}

void describe_router_advertisement(Fields& fields, DHCPPolicy::RouterAdvertisement& advertisement) {
  fields.flag("managed", advertisement.managed);
  fields.flag("otherConfig", advertisement.other_config);
  fields.flag("onLink", advertisement.on_link);
  fields.flag("autonomous", advertisement.autonomous);
  fields.seconds("routerLifetimeSeconds", kRouterLifetimeSeconds, advertisement.router_lifetime);
  fields.number("mtu", Need::optional, kMtu, advertisement.mtu);
}

void describe_boot(Fields& fields, DhcpBootFields& boot) {
  fields.text("nextServer", Format::ipv4, boot.next_server);
  fields.text("serverHostName", Format::boot_server, boot.server_host_name);
  fields.text("bootFileName", Format::boot_file, boot.boot_file_name);
}

constexpr std::size_t kMaxOptions = 254;      // each code once
constexpr std::size_t kMaxMatchItems = 1024;  // of one list of a class: each message is compared with all of them

void describe_pool(Fields& fields, DHCPPolicy::Pool& pool) {
  fields.text("rangeStart", Need::required, Format::ipv4, pool.range_start);
  fields.text("rangeEnd", Need::required, Format::ipv4, pool.range_end);
  fields.texts("clientClasses", {Need::optional, 0, dhcp::kMaxClientClasses}, Format::label, pool.client_classes);
  fields.objects("options", {Need::optional, 0, kMaxOptions}, pool.options, describe_option);
}

void describe_subnet(Fields& fields, DHCPPolicy::Subnet& subnet) {
  fields.text("cidr", Need::required, Format::ipv4_cidr, subnet.cidr);
  fields.text("gateway", Format::ipv4, subnet.gateway);
  fields.text("serverIP", Format::ipv4, subnet.server_ip);
  fields.objects("pools", {Need::optional, 0, kMaxDhcpPools}, subnet.pools, describe_pool);
  fields.objects("options", {Need::optional, 0, kMaxOptions}, subnet.options, describe_option);
}

void describe_client_class(Fields& fields, DHCPPolicy::ClientClass& one) {
  fields.text("name", Need::required, Format::label, one.name);
  fields.group("match", Need::required, [&](Fields& f) {
    constexpr ListRule kItems = {Need::optional, 0, kMaxMatchItems};
    f.texts("vendorClasses", kItems, Format::option_bytes, one.match.vendor_classes);
    f.texts("userClasses", kItems, Format::option_bytes, one.match.user_classes);
    f.texts("macPrefixes", kItems, Format::mac_prefix, one.match.mac_prefixes);
    f.texts("circuitIDs", kItems, Format::option_bytes, one.match.circuit_ids);
    f.texts("remoteIDs", kItems, Format::option_bytes, one.match.remote_ids);
    f.numbers("architectures", kItems, kClientArchitecture, one.match.architectures);
  });
  fields.objects("options", {Need::optional, 0, kMaxOptions}, one.options, describe_option);
  describe_boot(fields, one.boot);
}

/// Which addresses clients get, and which clients.
void describe_pools(Fields& fields, DHCPPolicy& policy) {
  fields.objects("exclusions", {Need::optional, 0, kMaxDhcpExclusions}, policy.exclusions,
                 [](Fields& f, DHCPPolicy::Exclusion& exclusion) {
                   f.text("rangeStart", Need::required, Format::ipv4, exclusion.range_start);
                   f.text("rangeEnd", Format::ipv4, exclusion.range_end);
                 });
  fields.objects("pools", {Need::optional, 0, kMaxDhcpPools}, policy.pools, describe_pool);
  fields.objects("subnets", {Need::optional, 0, kMaxDhcpSubnets}, policy.subnets, describe_subnet);
  fields.objects("clientClasses", {Need::optional, 0, dhcp::kMaxClientClasses}, policy.client_classes,
                 describe_client_class);
  fields.object("clientRateLimit", Need::optional, policy.client_rate_limit,
                [](Fields& f, DHCPPolicy::RateLimit& limit) {
                  f.integer("messagesPerSecond", Need::required, kClientMessages, limit.messages_per_second);
                  f.integer("burst", Need::optional, kClientMessages, limit.burst);
                });
  fields.object("probe", Need::optional, policy.probe, [](Fields& f, DHCPPolicy::Probe& probe) {
    f.integer("timeoutMilliseconds", Need::optional, kProbeMilliseconds, probe.timeout_milliseconds);
  });
}

void describe_shared_store(Fields& fields, DHCPPolicy::SharedStore& store) {
  fields.texts("endpoints", {Need::required, 1, kMaxStoreEndpoints}, Format::store_endpoint, store.endpoints);
  fields.text("prefix", Need::required, Format::store_prefix, store.prefix);
  fields.text("caFile", Format::file_name, store.ca_file);
  fields.text("certificateFile", Format::file_name, store.certificate_file);
  fields.text("keyFile", Format::file_name, store.key_file);
  fields.text("serverName", Format::host_name, store.server_name);
  fields.text("username", Format::version_text, store.username);
  fields.text("passwordFile", Format::file_name, store.password_file);
  fields.seconds("maxSkewSeconds", kMaxSkewSeconds, store.max_skew);
}

void describe_dhcp_spec(Fields& fields, DHCPPolicy& policy) {
  describe_target(fields, policy.target);
  fields.flag("authoritative", policy.authoritative);
  fields.objects("options", {}, policy.options, describe_option);
  describe_boot(fields, policy.boot);
  describe_pools(fields, policy);
  fields.choice("identity", Need::optional, kClientIdentities, policy.client_identity);
  fields.objects("reservations", {}, policy.reservations, [](Fields& f, DHCPPolicy::Reservation& reservation) {
    f.text("macAddress", Format::mac, reservation.mac_address);
    f.text("clientID", Format::option_bytes, reservation.client_id);
    f.text("address", Need::required, Format::ipv4, reservation.address);
    f.text("hostName", Format::host_name, reservation.host_name);
  });
  fields.object("sharedStore", Need::optional, policy.shared_store, describe_shared_store);
  fields.object("ipv6", Need::optional, policy.ipv6, describe_ipv6);
  fields.object("routerAdvertisement", Need::optional, policy.router_advertisement, describe_router_advertisement);
}

void describe_record(Fields& f, DNSPolicy::Record& record) {
  f.text("name", Need::required, Format::any, record.name);
  f.text("type", Need::required, Format::any, record.type);
  f.seconds("ttlSeconds", kRecordTtlSeconds, record.ttl);
  f.texts("data", {Need::required, 1}, Format::any, record.data);
}

void describe_hosts_file(Fields& f, DNSPolicy::RecordFile& file) {
  f.text("path", Need::required, Format::file_name, file.path);
  f.text("view", Need::optional, Format::label, file.view);
}

void describe_zone_file(Fields& f, DNSPolicy::RecordFile& file) {
  describe_hosts_file(f, file);
  f.text("zone", Format::any, file.zone);
}

/// What a server tells, how much, and to whom.
void describe_dns_conduct(Fields& fields, DNSPolicy& policy) {
  fields.flag("cookies", policy.cookies);
  fields.text("nsid", Format::nsid, policy.nsid);
  fields.text("version", Format::version_text, policy.version);
  fields.object("responseRateLimit", Need::optional, policy.response_rate_limit,
                [](Fields& f, DNSPolicy::RateLimit& limit) {
                  f.integer("responsesPerSecond", Need::required, kResponsesPerSecond, limit.responses_per_second);
                  f.integer("slip", Need::optional, kSlip, limit.slip);
                });
  fields.object("transfer", Need::optional, policy.transfer, [](Fields& f, DNSPolicy::Transfer& transfer) {
    f.texts("allowedClients", {}, Format::cidr, transfer.allowed_clients);
    f.texts("notify", {}, Format::endpoint, transfer.notify);
  });
}

constexpr std::string_view kUpstreamPolicies[] = {"Sequential", "Random", "RoundRobin"};

void describe_forwarding(Fields& fields, DNSPolicy::Forwarding& forwarding) {
  fields.choice("policy", Need::optional, kUpstreamPolicies, forwarding.policy);
  fields.seconds("minTTLSeconds", kMinTtlSeconds, forwarding.min_ttl);
  fields.seconds("maxTTLSeconds", kRecordTtlSeconds, forwarding.max_ttl);
  fields.seconds("serveStaleSeconds", kServeStaleSeconds, forwarding.serve_stale);
  fields.flag("prefetch", forwarding.prefetch);
  fields.flag("randomizeCase", forwarding.randomize_case);
  fields.objects("zones", {}, forwarding.zones, [](Fields& f, DNSPolicy::Forwarding::Zone& zone) {
    f.text("zone", Need::required, Format::any, zone.zone);
    f.texts("upstreams", {Need::required, 1}, Format::endpoint, zone.upstreams);
  });
}

/// A list of clients that lost its last item must not let everyone in.
constexpr ListRule kSome = {Need::optional, 1};

void describe_access(Fields& fields, DNSPolicy::Access& access) {
  fields.text("view", Need::required, Format::label, access.view);
  fields.texts("allowedClients", kSome, Format::cidr, access.allowed_clients);
  fields.flag("forward", access.forward);
  fields.texts("forwardedClients", kSome, Format::cidr, access.forwarded_clients);
}

void describe_dns_spec(Fields& fields, DNSPolicy& policy) {
  describe_target(fields, policy.target);
  fields.seconds("recordTTLSeconds", kRecordTtlSeconds, policy.record_ttl);
  fields.objects("entries", {}, policy.entries, describe_static_entry);
  fields.objects("views", {}, policy.views, [](Fields& f, DNSPolicy::ExtraView& view) {
    f.text("name", Need::required, Format::label, view.name);
    f.texts("clientPrefixes", {Need::required, 1}, Format::cidr, view.client_prefixes);
    f.text("proxyAddress", Format::ipv4, view.proxy_address);
    f.objects("records", {}, view.records, describe_record);
  });
  fields.objects("records", {}, policy.records, describe_record);
  fields.objects("zoneFiles", {Need::optional, 0, kMaxRecordFiles}, policy.zone_files, describe_zone_file);
  fields.objects("hostsFiles", {Need::optional, 0, kMaxRecordFiles}, policy.hosts_files, describe_hosts_file);
  fields.flag("reverse", policy.reverse);
  fields.object("forwarding", Need::optional, policy.forwarding, describe_forwarding);
  fields.objects("access", {}, policy.access, describe_access);
  fields.flag("queryLog", policy.query_log);
  fields.integer("workers", Need::optional, kWorkers, policy.workers);
  fields.text("leaseDomain", Format::any, policy.lease_domain);
  describe_dns_conduct(fields, policy);
}

constexpr std::string_view kBalances[] = {"RoundRobin", "LeastConnections", "RandomOfTwo"};
constexpr std::string_view kCheckKinds[] = {"TCP", "TLS"};
constexpr std::string_view kSides[] = {"vlan", "pod"};
constexpr std::string_view kListenerKinds[] = {"TLS", "HTTP", "TCP"};
constexpr std::string_view kProxyHeaders[] = {"V1", "V2"};
constexpr std::string_view kAccessLogs[] = {"text", "json"};

void describe_proxy_limits(Fields& fields, ProxyPolicy& policy) {
  fields.integer("maxConnections", Need::optional, kMaxConnections, policy.max_connections);
  fields.integer("maxConnectionsPerListener", Need::optional, kNoneOrConnections, policy.max_connections_per_listener);
  fields.integer("maxConnectionsPerSource", Need::optional, kNoneOrConnections, policy.max_connections_per_source);
  fields.integer("maxConnectionsPerBackend", Need::optional, kNoneOrConnections, policy.max_connections_per_backend);
  fields.texts("allowedSources", kSome, Format::cidr, policy.allowed_sources);
  fields.texts("deniedSources", {}, Format::cidr, policy.denied_sources);
  fields.objects("allowedNames", {}, policy.allowed_names, [](Fields& f, ProxyPolicy::AllowedNames& allowed) {
    f.integer("port", Need::required, kPort, allowed.port);
    f.text("address", Format::ip_address, allowed.address);
    f.choice("side", Need::optional, kSides, allowed.side);
    f.texts("names", {Need::required, 1}, Format::host_or_wildcard, allowed.names);
  });
  fields.integer("maxHelloBytes", Need::optional, kHelloBytes, policy.max_hello_bytes);
}

void describe_endpoint_choice(Fields& fields, ProxyPolicy& policy) {
  fields.integer("maxConnectAttempts", Need::optional, kConnectAttempts, policy.max_connect_attempts);
  fields.objects("backends", {}, policy.backends, [](Fields& f, ProxyPolicy::Backend& backend) {
    f.text("name", Need::required, Format::object_name, backend.name);
    f.seconds("idleTimeoutSeconds", kNoneOrTimeoutSeconds, backend.idle_timeout);
  });
  fields.choice("balance", Need::optional, kBalances, policy.balance);
  fields.object("healthCheck", Need::optional, policy.health_check, [](Fields& f, ProxyPolicy::HealthCheck& check) {
    f.choice("kind", Need::optional, kCheckKinds, check.kind);
    f.seconds("intervalSeconds", kTimeoutSeconds, check.interval);
    f.seconds("timeoutSeconds", kTimeoutSeconds, check.timeout);
    f.integer("failures", Need::optional, kRepetitions, check.failures);
    f.integer("successes", Need::optional, kRepetitions, check.successes);
  });
  fields.group("ejection", Need::optional, [&](Fields& f) {
    f.integer("failures", Need::optional, kNoneOrRepetitions, policy.ejection_failures);
    f.seconds("durationSeconds", kTimeoutSeconds, policy.ejection_duration);
  });
}

void describe_proxy_sockets(Fields& fields, ProxyPolicy& policy) {
  fields.objects("listeners", {}, policy.listeners, [](Fields& f, ProxyPolicy::Listener& listener) {
    f.integer("port", Need::required, kPort, listener.port);
    f.choice("kind", Need::required, kListenerKinds, listener.kind);
  });
  fields.group("proxyProtocol", Need::optional, [&](Fields& f) {
    f.texts("trustedSources", {}, Format::cidr, policy.trusted_proxies);
    f.choice("send", Need::optional, kProxyHeaders, policy.send_proxy_header);
    f.texts("backends", {}, Format::label, policy.proxy_header_to);
  });
  fields.text("interface", Format::any, policy.interface);
  fields.texts("dialFrom", {Need::optional, 0, 2}, Format::ip_address, policy.dial_from);
  fields.integer("workers", Need::optional, kWorkers, policy.workers);
  fields.group("tcpKeepalive", Need::optional, [&](Fields& f) {
    f.seconds("idleSeconds", kKeepaliveSeconds, policy.keepalive_idle);
    f.seconds("intervalSeconds", kKeepaliveSeconds, policy.keepalive_interval);
    f.integer("probes", Need::optional, kKeepaliveProbes, policy.keepalive_probes);
  });
  fields.group("socketBuffers", Need::optional, [&](Fields& f) {
    f.number("receiveBytes", Need::optional, kNoneOrBufferBytes, policy.receive_buffer_bytes);
    f.number("sendBytes", Need::optional, kNoneOrBufferBytes, policy.send_buffer_bytes);
  });
}

void describe_proxy_spec(Fields& fields, ProxyPolicy& policy) {
  describe_target(fields, policy.target);
  fields.seconds("connectTimeoutSeconds", kTimeoutSeconds, policy.connect_timeout);
  fields.seconds("idleTimeoutSeconds", kTimeoutSeconds, policy.idle_timeout);
  fields.seconds("inspectTimeoutSeconds", kTimeoutSeconds, policy.inspect_timeout);
  fields.seconds("drainTimeoutSeconds", kTimeoutSeconds, policy.drain_timeout);
  fields.seconds("udpIdleTimeoutSeconds", kTimeoutSeconds, policy.udp_idle_timeout);
  describe_proxy_limits(fields, policy);
  describe_endpoint_choice(fields, policy);
  describe_proxy_sockets(fields, policy);
  fields.group("accessLog", Need::optional, [&](Fields& f) {
    f.choice("format", Need::optional, kAccessLogs, policy.access_log);
    f.text("template", Format::any, policy.access_log_template);
  });
  fields.flag("publishAPIOn443", policy.publish_api_on_443);
}

void describe_apps_spec(Fields& fields, AppsPolicy& policy) {
  describe_target(fields, policy.target);
  fields.text("staticVIP", Need::required, Format::ipv4, policy.static_vip);
}

}  // namespace

void describe(Fields& fields, DHCPPolicy& object) {
  describe_object(fields, object, describe_dhcp_spec);
}
void describe(Fields& fields, DNSPolicy& object) {
  describe_object(fields, object, describe_dns_spec);
}
void describe(Fields& fields, ProxyPolicy& object) {
  describe_object(fields, object, describe_proxy_spec);
}
void describe(Fields& fields, AppsPolicy& object) {
  describe_object(fields, object, describe_apps_spec);
}

}  // namespace hcpnet::spec
