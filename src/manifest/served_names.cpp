// SPDX-License-Identifier: Apache-2.0
#include "manifest/served_names.hpp"
#include <algorithm>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/responder.hpp>
#include <hcpnet/dns/view.hpp>
#include <hcpnet/stack/config.hpp>
#include <hcpnet/stack/explain.hpp>
#include <map>
#include <utility>

#include "stack/derive.hpp"

namespace hcpnet::manifest {
namespace {

/// Stands for any name below an apps domain.
constexpr std::string_view kAnyLabel = "console-openshift-console";
constexpr std::uint16_t kHttpPort = 80;  ///< has no name of its own

/// The servers of a set, so that each can be found at once.
class Servers {
 public:
  explicit Servers(const StackConfig& config) {
    for (const DnsServerConfig& dns : config.dns)
      if (auto views = dns::ViewSet::make(dns.config.views)) views_.emplace(dns.owner, std::move(*views));
    for (const ProxyServerConfig& proxy : config.proxies)
      for (const proxy::Listener& listener : proxy.table->config().listeners)
        if (proxy::protocol_of(listener.kind) == proxy::Protocol::tcp) proxies_.emplace(listener.address, &proxy);
  }

  /// The DNS server of an Infra, or nullptr.
  [[nodiscard]] const dns::ViewSet* views_of(const std::string& owner) const {
    const auto found = views_.find(owner);
    return found == views_.end() ? nullptr : &found->second;
  }
  /// The proxy that listens there, or nullptr.
  [[nodiscard]] const ProxyServerConfig* proxy_at(const Endpoint& listener) const {
    const auto found = proxies_.find(listener);
    return found == proxies_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string, dns::ViewSet> views_;
  std::map<Endpoint, const ProxyServerConfig*> proxies_;
};

std::vector<Ipv4> addresses_in(const dns::RRset& rrset) {
  std::vector<Ipv4> addresses;
  for (const std::string& rdata : rrset.rdata) addresses.emplace_back(ByteReader(as_bytes(rdata)).u32());
  return addresses;
}

/// What the server itself answers; what it forwards is nobody's promise.
std::vector<Ipv4> addresses_of(const dns::ViewSet& views, const IpAddress& client, const std::string& host) {
  const auto view = views.find(client);
  auto name = dns::parse_name(host);  // the one that stands for a wildcard may be too long
  for (std::size_t hops = 0; view && name && hops <= dns::kMaxCnameHops; ++hops) {
    const dns::Zone* zone = views[*view].find(*name);
    if (zone == nullptr || !zone->is_available()) return {};
    const dns::Zone::Found found = zone->find(*name, dns::Type::a);
    if (found.outcome != dns::Zone::Outcome::answer) return {};
    if (found.rrset->type == dns::Type::a) return addresses_in(*found.rrset);
    name = dns::make_name(found.rrset->rdata.front());
  }
  return {};
}

/// Asks the servers of an Infra what one of its workers would ask.
class Comparison {
 public:
  Comparison(const spec::ValidInfra& infra, const Servers& servers, const spec::Observed& observed,
             const spec::ValidHostedCluster& hosted, Diagnostics& problems)
      : infra_(infra),
        servers_(servers),
        observed_(observed),
        hosted_(hosted),
        problems_(problems),
        worker_(worker_address()) {}

  void run(const ClusterNames& names) {
    const dns::ViewSet* views = servers_.views_of(infra_.metadata.key());
    if (views == nullptr || !infra_.proxy)
      return report(Severity::warning, "not-compared",
                    "Infra " + infra_.metadata.key() + " has no DNS or no proxy of its own to compare the names with");
    std::string_view last;
    for (const PublishedName& name : names.names) {
      severity_ = is_for_workers(name) && name.service != last ? Severity::error : Severity::warning;
      last = name.service;
      if (name.needs_record && name.port != 0 && name.port != kHttpPort) check_name(*views, name);
    }
  }

 private:
  void report(Severity severity, std::string code, std::string message) {
    problems_.add(derive::problem(severity, hosted_.origin, "/spec/services", hosted_.metadata, std::move(code),
                                  std::move(message)));
  }

  [[nodiscard]] IpAddress worker_address() const {
    const auto workers = observed_.namespace_workers.find(hosted_.control_plane_namespace);
    if (workers != observed_.namespace_workers.end())
      for (const IpAddress& address : workers->second)
        if (derive::is_worker_address(infra_, address)) return address;
    if (infra_.dhcp) return infra_.dhcp->pool.first;
    return infra_.cidr.network();
  }

  /// Of these services workers dial the first name. Others are for people and their programs: without them a guest
  /// comes up.
  static bool is_for_workers(const PublishedName& name) {
    return name.service != kIngress && name.service != spec::to_string(spec::ServiceType::oidc);
  }

  void check_name(const dns::ViewSet& views, const PublishedName& name) {
    const bool is_ingress = name.service == kIngress;
    const std::string host = is_ingress ? std::string(kAnyLabel) + name.host.substr(1) : name.host;
    const std::vector<Ipv4> addresses = addresses_of(views, worker_, host);
    if (addresses.empty())
      return report(severity_, "not-resolved",
                    "clients on the VLAN look up " + name.host + " (" + name.service + "), which the DNS of Infra " +
                        infra_.metadata.key() + " has no address for");
    if (is_ingress) return;  // the guest's router has an address of its own
    for (const Ipv4 address : addresses) check_route(name, address);
  }

  void check_route(const PublishedName& name, Ipv4 address) {
    const Endpoint listener{address, name.port};
    const std::string where =
        name.host + ':' + std::to_string(name.port) + " (" + name.service + "), which leads to " + address.to_string();
    const ProxyServerConfig* proxy = servers_.proxy_at(listener);
    if (proxy == nullptr) return report(severity_, "not-routed", where + ": nothing of the set listens there");
    for (const RouteExplanation& answer :
         explain_routes(proxy->owner, *proxy->table, proxy->workers, name.host, name.port, worker_))
      if (answer.listener == listener && answer.protocol == proxy::Protocol::tcp) compare(name, where, answer);
  }

  void compare(const PublishedName& name, const std::string& where, const RouteExplanation& answer) {
    if (answer.backend.empty())
      report(severity_, "not-routed", where + ": the proxy closes the connection (" + answer.rule + ')');
    else if (answer.targets != targets_of(*name.target))
      report(Severity::warning, "other-target",
             where + ": the proxy goes to " + (answer.targets.empty() ? "nothing" : answer.targets.front()) +
                 " instead of " + name.target->to_string());
  }

  /// As a backend for the Service has them.
  [[nodiscard]] std::vector<std::string> targets_of(const ServiceTarget& target) const {
    const auto known = observed_.endpoints_of(target.namespace_ + '/' + target.service, target.port);
    if (!known) return {target.service + '.' + target.namespace_ + ".svc.cluster.local:" + std::to_string(target.port)};
    std::vector<std::string> targets;
    for (const Endpoint& endpoint : *known) targets.push_back(endpoint.to_string());
    return targets;
  }

  const spec::ValidInfra& infra_;
  const Servers& servers_;
  const spec::Observed& observed_;
  const spec::ValidHostedCluster& hosted_;
  Diagnostics& problems_;
  IpAddress worker_;
  Severity severity_ = Severity::error;  ///< of the name that is looked at
};

/// Which cluster of which Infra a HostedCluster is.
class ServedClusters {
 public:
  struct Served {
    const spec::ValidInfra* infra = nullptr;
    const spec::ValidCluster* cluster = nullptr;
  };
  explicit ServedClusters(const spec::ValidSet& set) {
    for (const spec::ValidInfra& infra : set.infras)
      for (const spec::ValidCluster& cluster : infra.clusters)
        if (names_its_cluster(set, infra))
          by_control_plane_.emplace(cluster.control_plane_namespace, Served{&infra, &cluster});
        else
          by_hosted_cluster_.emplace(cluster.hosted_cluster, Served{&infra, &cluster});
  }
  [[nodiscard]] const Served* find(const ClusterNames& names) const {
    if (const auto found = by_hosted_cluster_.find(names.hosted_cluster); found != by_hosted_cluster_.end())
      return &found->second;
    const auto found = by_control_plane_.find(names.control_plane_namespace);
    return found == by_control_plane_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, Served> by_hosted_cluster_, by_control_plane_;
};

}  // namespace

bool names_its_cluster(const spec::ValidSet& set, const spec::ValidInfra& infra) {
  return std::ranges::none_of(set.attachments, [&](const spec::InfraClusterAttachment& attachment) {
    return attachment.infra_name == infra.metadata.name && attachment.metadata.namespace_ == infra.metadata.namespace_;
  });
}

void check_namespace(const spec::ValidCluster& cluster, const spec::ObjectMeta& owner, const std::string& expected,
                     Diagnostics& problems) {
  if (cluster.control_plane_namespace == expected) return;
  problems.add(derive::problem(Severity::error, cluster.origin, "/spec", owner, "namespace-differs",
                               "the control plane of " + cluster.hosted_cluster + " is in " + expected +
                                   ", and the proxy would look for it in " + cluster.control_plane_namespace));
}

void compare_with_set(const std::vector<ClusterNames>& clusters, const spec::ValidSet& set,
                      const spec::Observed& observed, Diagnostics& problems) {
  const ServedClusters served(set);
  if (std::ranges::none_of(clusters, [&](const ClusterNames& names) { return served.find(names) != nullptr; })) return;
  const auto config = make_stack_config(set, observed, {});
  if (config.has_error()) return problems.append(config.error());
  const Servers servers(*config);
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const auto* found = served.find(clusters[i]);
    if (found == nullptr) continue;
    check_namespace(*found->cluster, found->infra->metadata, clusters[i].control_plane_namespace, problems);
    Comparison(*found->infra, servers, observed, set.hosted_clusters[i], problems).run(clusters[i]);
  }
}

}  // namespace hcpnet::manifest
