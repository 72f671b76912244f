// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "spec/describe_common.hpp"

namespace hcpnet::spec {
namespace {

constexpr std::array<std::string_view, 2> kProtocols{"TCP", "UDP"};
constexpr std::array<std::string_view, 6> kLogLevels{"trace", "debug", "info", "warning", "error", "critical"};

void describe_network_attachment(Fields& f, std::optional<std::string>& name, std::optional<std::string>& namespace_) {
  f.text("networkAttachmentName", Format::object_name, name);
  f.text("networkAttachmentNamespace", Format::label, namespace_);
}

void describe_dhcp_spec(Fields& fields, DHCPServer& server) {
  fields.group("networkConfig", Need::required, [&](Fields& f) {
    f.text("cidr", Need::required, Format::ipv4_cidr, server.cidr);
    f.text("gateway", Need::required, Format::ipv4, server.gateway);
    f.text("serverIP", Need::required, Format::ipv4_with_length, server.server_ip);
    f.texts("dnsServers", {}, Format::ipv4, server.dns_servers);
    describe_network_attachment(f, server.network_attachment_name, server.network_attachment_namespace);
  });
  fields.group("leaseConfig", Need::required, [&](Fields& f) {
    f.text("rangeStart", Need::required, Format::ipv4, server.range_start);
    f.text("rangeEnd", Need::required, Format::ipv4, server.range_end);
    f.text("leaseTime", Need::optional, Format::go_duration, server.lease_time);
  });
  fields.objects("options", {}, server.options, describe_option);
  fields.text("image", Need::optional, Format::image, server.image);
}

void describe_dns_spec(Fields& fields, DNSServer& server) {
  fields.group("networkConfig", Need::required, [&](Fields& f) {
    f.text("serverIP", Need::required, Format::ipv4_with_length, server.server_ip);
    f.text("proxyIP", Need::required, Format::ipv4, server.proxy_ip);
    f.text("internalProxyIP", Format::ipv4, server.internal_proxy_ip);
    f.text("secondaryNetworkCIDR", Format::ipv4_cidr, server.secondary_network_cidr);
    f.integer("dnsPort", Need::optional, kPort, server.dns_port);
    describe_network_attachment(f, server.network_attachment_name, server.network_attachment_namespace);
  });
  fields.text("hostedClusterDomain", Need::required, Format::host_name, server.hosted_cluster_domain);
  fields.objects("staticEntries", {}, server.static_entries, describe_static_entry);
  fields.texts("upstreamDNS", {}, Format::resolver, server.upstream_dns);
  fields.text("image", Need::optional, Format::image, server.image);
  fields.text("reloadInterval", Need::optional, Format::simple_duration, server.reload_interval);
  fields.text("cacheTTL", Need::optional, Format::simple_duration, server.cache_ttl);
}

void describe_backend(Fields& f, ProxyBackend& backend) {
  f.text("name", Need::required, Format::label, backend.name);
  f.text("hostname", Need::required, Format::host_or_wildcard, backend.hostname);
  f.texts("alternateHostnames", {}, Format::host_or_wildcard, backend.alternate_hostnames);
  f.integer("port", Need::required, kPort, backend.port);
  f.text("targetService", Need::required, Format::target, backend.target_service);
  f.integer("targetPort", Need::required, kPort, backend.target_port);
  f.text("targetNamespace", Need::required, Format::label, backend.target_namespace);
  f.choice("protocol", Need::optional, kProtocols, backend.protocol);
  f.seconds("timeoutSeconds", kTimeoutSeconds, backend.timeout);
  f.texts("sourcePrefixRanges", {.max_items = kMaxSourceRanges}, Format::cidr, backend.source_prefix_ranges);
}

void describe_proxy_spec(Fields& fields, ProxyServer& server) {
  fields.group("networkConfig", Need::required, [&](Fields& f) {
    f.text("serverIP", Need::required, Format::ipv4_with_length, server.server_ip);
    describe_network_attachment(f, server.network_attachment_name, server.network_attachment_namespace);
  });
  fields.objects("backends", {Need::required, 1}, server.backends, describe_backend);
  fields.group("externalService", Need::optional,
               [&](Fields& f) { describe_external_service(f, server.external_service); });
  fields.text("proxyImage", Need::optional, Format::image, server.proxy_image);
  fields.text("managerImage", Need::optional, Format::image, server.manager_image);
  fields.integer("port", Need::optional, kPort, server.port);
  fields.integer("xdsPort", Need::optional, kPort, server.xds_port);
  // The model keeps the level's name.
  std::optional<std::size_t> level;
  for (std::size_t i = 0; i < kLogLevels.size(); ++i)
    if (kLogLevels[i] == server.log_level) level = i;
  fields.choice("logLevel", Need::optional, kLogLevels, level);
  if (level) server.log_level = kLogLevels[*level];
}

}  // namespace

void describe_option(Fields& f, DhcpOption& option) {
  f.integer("code", Need::required, kOptionCode, option.code);
  f.text("value", Need::required, Format::any, option.value);
}

void describe_static_entry(Fields& f, StaticEntry& entry) {
  f.text("hostname", Need::required, Format::host_or_wildcard, entry.hostname);
  f.text("ip", Need::required, Format::ipv4, entry.ip);
}

void describe_external_service(Fields& f, ExternalService& service) {
  f.flag("enabled", service.enabled);
  f.text("addressPoolName", Format::object_name, service.address_pool_name);
  f.string_map("labels", MapUse::labels, service.labels);
  f.string_map("annotations", MapUse::annotations, service.annotations);
}

void describe_metadata(Fields& f, ObjectMeta& metadata) {
  f.text("name", Need::required, Format::object_name, metadata.name);
  f.text("namespace", Need::optional, Format::label, metadata.namespace_);
  f.string_map("labels", MapUse::any, metadata.labels);
  f.string_map("annotations", MapUse::any, metadata.annotations);
  f.text("uid", Need::optional, Format::any, metadata.uid);
  f.text("creationTimestamp", Need::optional, Format::any, metadata.creation_timestamp);
  for (const std::string_view name : {"deletionGracePeriodSeconds", "deletionTimestamp", "finalizers", "generateName",
                                      "generation", "managedFields", "ownerReferences", "resourceVersion", "selfLink"})
    f.ignored(name);
}

void describe(Fields& fields, DHCPServer& object) {
  describe_object(fields, object, describe_dhcp_spec);
}
void describe(Fields& fields, DNSServer& object) {
  describe_object(fields, object, describe_dns_spec);
}
void describe(Fields& fields, ProxyServer& object) {
  describe_object(fields, object, describe_proxy_spec);
}

}  // namespace hcpnet::spec
