// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/spec/hosted_cluster.hpp>

#include "spec/describe_common.hpp"

namespace hcpnet::spec {
namespace {

void describe_host_name(Fields& f, ServicePublishing::HostName& value) {
  f.text("hostname", Format::published_host, value.hostname);
}

void describe_publishing(Fields& f, ServicePublishing& publishing) {
  f.choice("service", Need::required, kServiceTypes, publishing.service);
  f.group("servicePublishingStrategy", Need::required, [&](Fields& g) {
    g.choice("type", Need::required, kPublishingStrategyTypes, publishing.type);
    g.object("loadBalancer", Need::optional, publishing.load_balancer, describe_host_name);
    g.object("route", Need::optional, publishing.route, describe_host_name);
    g.object("nodePort", Need::optional, publishing.node_port, [](Fields& h, ServicePublishing::NodePort& node_port) {
      h.text("address", Need::required, Format::node_address, node_port.address);
      h.integer("port", Need::optional, kNodePort, node_port.port);
    });
  });
}

void describe_platform(Fields& f, HostedCluster& cluster) {
  f.choice("type", Need::required, kPlatformTypes, cluster.platform);
  f.group("kubevirt", Need::optional, [&](Fields& g) {
    g.flag("baseDomainPassthrough", cluster.base_domain_passthrough);
    g.text("generateID", Format::label, cluster.generate_id);
    g.group("credentials", Need::optional, [&](Fields& h) {
      h.text("infraNamespace", Need::required, Format::label, cluster.infra_namespace);
      h.others_ignored();
    });
    g.others_ignored();
  });
  f.others_ignored();
}

void describe_configuration(Fields& f, HostedCluster& cluster) {
  f.group("ingress", Need::optional, [&](Fields& g) {
    g.text("domain", Format::domain_or_empty, cluster.ingress_domain);
    g.text("appsDomain", Format::domain_or_empty, cluster.apps_domain);
    g.others_ignored();
  });
  f.group("apiServer", Need::optional, [&](Fields& g) {
    g.group("servingCerts", Need::optional, [&](Fields& h) {
      h.objects("namedCertificates", {}, cluster.named_certificates,
                [](Fields& i, HostedCluster::NamedCertificate& certificate) {
                  i.texts("names", {}, Format::host_or_wildcard, certificate.names);
                  i.others_ignored();
                });
      h.others_ignored();
    });
    g.others_ignored();
  });
  f.others_ignored();
}

void describe_networks(Fields& f, const char* name, std::vector<std::string>& networks) {
  struct Entry {
    std::string cidr;
  };
  std::vector<Entry> entries(networks.size());
  for (std::size_t i = 0; i < networks.size(); ++i) entries[i].cidr = networks[i];
  f.objects(name, {}, entries, [](Fields& g, Entry& entry) {
    g.text("cidr", Need::required, Format::cidr, entry.cidr);
    g.others_ignored();
  });
  networks.resize(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) networks[i] = std::move(entries[i].cidr);
}

void describe_networking(Fields& f, HostedCluster::Networking& networking) {
  describe_networks(f, "clusterNetwork", networking.cluster);
  describe_networks(f, "serviceNetwork", networking.service);
  describe_networks(f, "machineNetwork", networking.machine);
  f.group("apiServer", Need::optional, [&](Fields& g) {
    g.text("advertiseAddress", Format::ip_address, networking.advertise_address);
    g.others_ignored();
  });
  f.others_ignored();
}

void describe_spec(Fields& f, HostedCluster& cluster) {
  f.group("platform", Need::required, [&](Fields& g) { describe_platform(g, cluster); });
  f.group("dns", Need::optional, [&](Fields& g) {
    g.text("baseDomain", Need::required, Format::domain_or_empty, cluster.base_domain);
    g.text("baseDomainPrefix", Format::domain_or_empty, cluster.base_domain_prefix);
    g.others_ignored();
  });
  f.text("kubeAPIServerDNSName", Format::domain_or_empty, cluster.kube_api_server_dns_name);
  f.group("configuration", Need::optional, [&](Fields& g) { describe_configuration(g, cluster); });
  f.text("infraID", Format::label, cluster.infra_id);
  f.group("etcd", Need::optional, [&](Fields& g) {
    g.text("managementType", Format::any, cluster.etcd_management);
    g.others_ignored();
  });
  f.group("networking", Need::optional, [&](Fields& g) { describe_networking(g, cluster.networking); });
  f.objects("services", {.max_items = kMaxPublishedServices}, cluster.services, describe_publishing);
  f.others_ignored();
}

}  // namespace

std::string_view to_string(ServiceType type) noexcept {
  return kServiceTypes[static_cast<std::size_t>(type)];
}
std::string_view to_string(PublishingStrategyType type) noexcept {
  return kPublishingStrategyTypes[static_cast<std::size_t>(type)];
}

const ServicePublishing* HostedCluster::find(ServiceType type) const noexcept {
  const auto found = std::ranges::find(services, type, &ServicePublishing::service);
  return found == services.end() ? nullptr : &*found;
}

void describe(Fields& fields, HostedCluster& object) {
  describe_object(fields, object, describe_spec);
}

}  // namespace hcpnet::spec
