// SPDX-License-Identifier: Apache-2.0
// From spec to zones and views. Each hosted-cluster domain is a zone of every view, so that nothing below it is ever
// forwarded; what else is published is a zone of its own.
#include <algorithm>
#include <hcpnet/dns/message.hpp>
#include <set>
#include <utility>

#include "stack/derive.hpp"
#include "stack/file_records.hpp"
#include "stack/lease_names.hpp"
#include "stack/zone_set.hpp"

namespace hcpnet::derive {
namespace {

/// Records of a policy, and the view that they are for.
struct PolicyRecords {
  const spec::ValidDnsPolicy& policy;
  const std::vector<dns::RRset>& records;
  std::string pointer;
  std::string view;
};

/// What a policy adds to a view, once its addresses are there; `add` is ZoneSet::add_record or add_instead.
void add_records(ZoneSet& zones, const PolicyRecords& more, bool (ZoneSet::*add)(const dns::RRset&),
                 const spec::ObjectMeta& owner, Diagnostics& problems) {
  for (std::size_t i = 0; i < more.records.size(); ++i) {
    if ((zones.*add)(more.records[i])) continue;
    problems.add(problem(Severity::warning, more.policy.origin, more.pointer + '/' + std::to_string(i), owner,
                         "alias-not-alone",
                         "this record of the DNSPolicy is left out: an alias is alone at its name, which is no apex"));
  }
  if (more.policy.reverse) zones.add_reverse();
}

/// Of the delegations among the records, once everything of the view is there.
void warn_of_delegations(const ZoneSet& zones, const PolicyRecords& more, const spec::ObjectMeta& owner,
                         Diagnostics& problems) {
  std::set<dns::Name> seen;
  for (std::size_t i = 0; i < more.records.size(); ++i) {
    const dns::RRset& rrset = more.records[i];
    if (rrset.type != dns::Type::ns || !seen.insert(rrset.owner).second) continue;
    if (const auto hidden = zones.hidden_by(rrset.owner))
      problems.add(problem(Severity::warning, more.policy.origin, more.pointer + '/' + std::to_string(i), owner,
                           "records-hidden",
                           "this delegation hides " + hidden->owner.to_string() + ' ' + dns::to_string(hidden->type) +
                               " from the view " + more.view + ", whose clients are referred to its name servers"));
  }
}

/// A view for which nothing is published of these domains, and which has nothing of its own there.
void warn_of_unknown_domains(const ZoneSet& zones, const spec::ValidDnsPolicy& policy, std::size_t index,
                             const std::vector<std::string>& domains, const spec::ObjectMeta& owner,
                             Diagnostics& problems) {
  const spec::ValidDnsPolicy::ExtraView& view = policy.views[index];
  if (view.proxy_address) return;
  const std::vector<ZoneSet::Published> published = zones.published();
  std::vector<std::string> unknown = domains;
  std::erase_if(unknown, [&](const std::string& text) {
    const dns::Name domain = dns::parse_name(text).value();
    return std::ranges::any_of(published,
                               [&](const ZoneSet::Published& p) { return p.owner.is_below_or_equal(domain); }) ||
           std::ranges::any_of(policy.zone_files, [&](const spec::ValidDnsPolicy::FileRecords& item) {
             return item.view == view.name && item.file->zone()->apex().is_below_or_equal(domain);
           });
  });
  if (unknown.empty()) return;
  const std::string more = unknown.size() == 1 ? "" : ", and of " + std::to_string(unknown.size() - 1) + " more";
  problems.add(problem(Severity::warning, policy.origin, "/spec/views/" + std::to_string(index) + "/proxyAddress",
                       owner, "no-proxy-address",
                       "clients of the view " + view.name + " get NXDOMAIN for the names of " + unknown.front() + more +
                           ": without proxyAddress nothing says where to send them"));
}

/// A view of a policy, on top of what is published for it; `domains` are those that its clients may look for names in.
dns::View extra_view(ZoneSet& zones, const spec::ValidDnsPolicy& policy, std::size_t index,
                     const std::vector<std::string>& domains, const spec::ObjectMeta& owner, Diagnostics& problems) {
  const spec::ValidDnsPolicy::ExtraView& extra = policy.views[index];
  const PolicyRecords own{policy, extra.records, "/spec/views/" + std::to_string(index) + "/records", extra.name};
  add_records(zones, own, &ZoneSet::add_instead, owner, problems);
  auto built = build_with_files(zones, policy, extra.name, {}, owner, problems);
  warn_of_delegations(zones, own, owner, problems);
  warn_of_unknown_domains(zones, policy, index, domains, owner, problems);
  return {extra.name, extra.clients, std::move(built)};
}

/// The clients that no other view claims: pods and everybody else on the management side. A view that has a default
/// prefix itself takes the place of this one for it.
std::vector<Cidr> everyone_else(const std::vector<dns::View>& views) {
  std::vector<Cidr> clients{*parse_cidr("0.0.0.0/0"), *parse_cidr("::/0")};
  for (const dns::View& view : views)
    for (const Cidr& claimed : view.clients) std::erase(clients, claimed);
  return clients;
}

/// Adds the view of everybody who has none yet; false when nobody is left.
bool add_default_view(dns::Config& config, const char* name, std::vector<std::shared_ptr<const dns::Zone>> zones) {
  std::vector<Cidr> clients = everyone_else(config.views);
  if (clients.empty()) return false;
  config.views.push_back({name, std::move(clients), std::move(zones)});
  return true;
}

std::vector<Endpoint> listeners(Ipv4 server_ip, std::uint16_t port, const Surroundings& surroundings) {
  std::vector<Endpoint> all{{server_ip, port}};
  for (const IpAddress& address : surroundings.pod_addresses) all.push_back({address, port});
  return all;
}

/// "node" is the same file here: a process that runs with the node's resolvers has them in its own resolv.conf.
dns::Forwarding forwarding(const std::vector<spec::Resolver>& resolvers) {
  dns::Forwarding forward;
  forward.resolv_conf = resolvers.empty();
  for (const spec::Resolver& resolver : resolvers) {
    if (const auto* upstream = std::get_if<Endpoint>(&resolver))
      forward.upstreams.push_back(*upstream);
    else
      forward.resolv_conf = true;
  }
  return forward;
}

dns::UpstreamPolicy upstream_policy(spec::DNSPolicy::Forwarding::Policy policy) {
  switch (policy) {
    case spec::DNSPolicy::Forwarding::Policy::random:
      return dns::UpstreamPolicy::random;
    case spec::DNSPolicy::Forwarding::Policy::round_robin:
      return dns::UpstreamPolicy::round_robin;
    case spec::DNSPolicy::Forwarding::Policy::sequential:
      break;
  }
  return dns::UpstreamPolicy::sequential;
}

void set_forwarding(dns::Forwarding& forward, const spec::ValidDnsPolicy::Forwarding& policy) {
  forward.policy = upstream_policy(policy.policy);
  forward.min_ttl = policy.min_ttl;
  forward.max_ttl = policy.max_ttl;
  forward.serve_stale = policy.serve_stale;
  forward.prefetch = policy.prefetch;
  forward.mix_case = policy.randomize_case;
  for (const auto& [zone, upstreams] : policy.zones) forward.zones.push_back({zone, upstreams});
}

/// What the policy says of the server as a whole.
void set_conduct(dns::Config& config, const spec::ValidDnsPolicy& policy) {
  config.cookies = policy.cookies;
  config.identity = {policy.nsid, policy.version};
  config.transfer = {policy.transfer_clients, policy.notify};
  config.query_log = policy.query_log;
  if (policy.forwarding) set_forwarding(config.forwarding, *policy.forwarding);
  for (const auto& access : policy.access) {
    const auto view = std::ranges::find(config.views, access.view, &dns::View::name);
    if (view == config.views.end()) continue;  // nobody is left for it: every client has another
    if (!access.allowed.empty()) view->allowed = access.allowed;
    if (!access.forward || !access.forwarded.empty()) view->forwarding_allowed = access.forwarded;
  }
  if (!policy.response_rate_limit) return;
  config.rate_limit.emplace();
  config.rate_limit->responses_per_second = policy.response_rate_limit->responses_per_second;
  config.rate_limit->slip = policy.response_rate_limit->slip;
}

/// Lists of clients that hold none of the view's, so that they shut everybody out.
void warn_of_foreign_clients(const dns::Config& config, const spec::ValidDnsPolicy& policy,
                             const spec::ObjectMeta& owner, Diagnostics& problems) {
  const auto warn = [&](const dns::View& view, const std::vector<Cidr>& list, const std::string& pointer) {
    const auto is_of_view = [&](const Cidr& listed) {
      return std::ranges::any_of(view.clients, [&](const Cidr& own) {
        return own.contains(listed.network()) || listed.contains(own.network());
      });
    };
    if (list.empty() || std::ranges::any_of(list, is_of_view)) return;
    problems.add(problem(Severity::warning, policy.origin, pointer, owner, "no-client-of-view",
                         "no client of the view " + view.name + " is in any of these networks"));
  };
  for (std::size_t i = 0; i < policy.access.size(); ++i) {
    const auto view = std::ranges::find(config.views, policy.access[i].view, &dns::View::name);
    if (view == config.views.end()) continue;
    const std::string base = "/spec/access/" + std::to_string(i);
    warn(*view, policy.access[i].allowed, base + "/allowedClients");
    warn(*view, policy.access[i].forwarded, base + "/forwardedClients");
  }
}

struct InternalProxy {
  std::optional<Ipv4> address;
  bool is_wanted = false;
};

/// "service.namespace" and anything after it, or an address.
InternalProxy find_internal_proxy(const Inputs& in, const spec::ValidInfra& infra, StackConfig& out) {
  InternalProxy found;
  if (!infra.proxy || !infra.proxy->internal_proxy_service) return found;
  const std::string& text = *infra.proxy->internal_proxy_service;
  found.is_wanted = true;
  if ((found.address = parse_ipv4(text))) return found;
  const std::size_t dot = text.find('.');
  const std::string service = text.substr(0, dot);
  const std::string ns =
      dot == std::string::npos ? std::string{} : text.substr(dot + 1, text.find('.', dot + 1) - dot - 1);
  if (const auto known = in.observed.service_addresses.find(ns + '/' + service);
      known != in.observed.service_addresses.end()) {
    found.address = known->second;
    return found;
  }
  out.proxies_by_dns.push_back(text);
  if (const auto resolved = in.surroundings.internal_proxies.find(text);
      resolved != in.surroundings.internal_proxies.end())
    found.address = resolved->second;
  return found;
}

/// The names of every cluster, leading to `proxy`; those below apps lead there too, or to the VIP itself. Neither has
/// anything to say of them until the load balancer has given one. Names whose address will be known are reserved.
void add_clusters(ZoneSet& zones, const spec::ValidInfra& infra, std::optional<Ipv4> proxy, bool is_proxy_wanted,
                  bool apps_through_proxy) {
  for (const spec::ValidCluster& cluster : infra.clusters) {
    zones.add_zone(cluster.domain);
    if (!is_proxy_wanted) continue;
    for (const std::string_view label : spec::kServiceLabels) {
      const std::string name = std::string(label) + cluster.domain;
      if (proxy)
        zones.add_address(name, *proxy);
      else
        zones.reserve(name);
    }
    const std::string apps = "*.apps." + cluster.domain;
    if (proxy && cluster.apps_vip)
      zones.add_address(apps, apps_through_proxy ? *proxy : *cluster.apps_vip);
    else if (cluster.apps_vip || cluster.apps_pool)
      zones.reserve(apps);
    if (proxy && !cluster.apps_vip && cluster.apps_pool) zones.add_unavailable_zone("apps." + cluster.domain);
  }
}

/// Of the subnets of these names: who may have which label, and the networks that reverse zones are for.
void add_subnets(const Inputs& in, const dhcp::Config& dhcp, bool has_reverse, LeaseZone& leases) {
  const auto is_wanted = [&](const std::string& name) {
    return std::ranges::find(leases.subnets, name) != leases.subnets.end();
  };
  const auto add_network = [&](const Cidr& network) {
    if (!has_reverse) return;
    const std::vector<dns::Name> zones = reverse_zones(network);
    leases.reverse.insert(leases.reverse.end(), zones.begin(), zones.end());
  };
  const auto reserve = [&](const std::string& host_name, const std::string& client) {
    if (const std::string label = lease_label(host_name); !label.empty()) leases.reserved[label].insert(client);
  };
  for (const dhcp::Subnet& subnet : dhcp.subnets) {
    if (!is_wanted(subnet.name)) continue;
    add_network(subnet.cidr);
    for (const dhcp::Reservation& r : subnet.reservations)
      reserve(r.host_name, r.mac ? r.mac->to_string() : owner_by_client_id(r.client_id));
  }
  for (const dhcp6::Subnet& subnet : dhcp.subnets6) {
    if (!is_wanted(subnet.name)) continue;
    add_network(subnet.cidr);
    for (const dhcp6::Reservation& r : subnet.reservations) {
      if (r.mac) reserve(r.host_name, r.mac->to_string());
      if (!r.duid) continue;
      reserve(r.host_name, owner_by_duid(*r.duid));
      // Its IPv4 leases are known by the hardware address alone.
      if (const auto mac = r.duid->link_layer()) reserve(r.host_name, mac->to_string());
    }
  }
  for (const auto& [mac, host_name] : in.observed.host_names) reserve(host_name, mac.to_string());
}

/// A host name must not become a name of a cluster, nor take its place.
bool is_apart(const dns::Name& domain, const std::vector<std::string>& others) {
  return std::ranges::none_of(others, [&](const std::string& text) {
    const dns::Name other = dns::parse_name(text).value();
    return domain.is_below_or_equal(other) || other.is_below_or_equal(domain);
  });
}

/// What the policy says of leases, before the zones of the view are filled; `domains` are those of clusters.
std::optional<LeaseZone> lease_zone(const Inputs& in, const StackConfig& out, const spec::ValidDnsPolicy& policy,
                                    std::vector<std::string> subnets, const std::vector<std::string>& domains,
                                    const spec::ObjectMeta& where, Diagnostics& problems) {
  if (!policy.lease_domain) return {};
  if (!is_apart(*policy.lease_domain, domains))
    problems.add(problem(Severity::error, policy.origin, "/spec/leaseDomain", where, "lease-domain-overlaps",
                         "leaseDomain of the DNSPolicy, " + policy.lease_domain->to_string() +
                             ", overlaps with the domain of a hosted cluster: a VM could take a name of the cluster"));
  LeaseZone leases;
  leases.domain = *policy.lease_domain;
  leases.view = "vlan";
  leases.subnets = std::move(subnets);
  leases.ttl = static_cast<std::uint32_t>(policy.record_ttl.count());
  add_subnets(in, out.dhcp, policy.reverse, leases);
  return leases;
}

void add_lease_zones(ZoneSet& zones, const std::optional<LeaseZone>& leases) {
  if (!leases) return;
  zones.add_zone(leases->domain);
  for (const dns::Name& network : leases->reverse) zones.add_zone(network);
}

/// The subnets of an Infra's link. Its own name is there in any case: DHCPv6 has that too.
std::vector<std::string> subnets_of(const dhcp::Config& dhcp, const std::string& owner) {
  std::vector<std::string> names{owner};
  for (const dhcp::Subnet& subnet : dhcp.subnets)
    if (subnet.shared_network == owner && subnet.name != owner) names.push_back(subnet.name);
  return names;
}

/// The subnets that the clients of a DNSServer have their leases from.
std::vector<std::string> subnets_inside(const dhcp::Config& dhcp, const std::optional<Cidr>& network) {
  std::vector<std::string> names;
  for (const dhcp::Subnet& subnet : dhcp.subnets)
    if (!network || network->contains(subnet.cidr.network())) names.push_back(subnet.name);
  return names;
}

/// Those of a VLAN: what is published there, and what the policy has for it.
std::vector<std::shared_ptr<const dns::Zone>> vlan_zones(ZoneSet& zones, const spec::ValidDnsPolicy& policy,
                                                         const std::optional<LeaseZone>& leases,
                                                         const spec::ObjectMeta& owner, Diagnostics& problems) {
  const PolicyRecords more{policy, policy.records, "/spec/records", "vlan"};
  add_records(zones, more, &ZoneSet::add_record, owner, problems);
  auto built = build_with_files(zones, policy, "vlan", leases, owner, problems);
  warn_of_delegations(zones, more, owner, problems);
  return built;
}

dns::View vlan_view(const Inputs& in, const spec::ValidInfra& infra, const std::optional<LeaseZone>& leases,
                    Diagnostics& problems) {
  ZoneSet zones(infra.dns_policy.record_ttl);
  add_lease_zones(zones, leases);
  const std::optional<Ipv4> proxy = infra.proxy ? std::optional(infra.proxy->server_ip) : std::nullopt;
  add_clusters(zones, infra, proxy, proxy.has_value(), false);
  // A name that only some clients may use would send the others to a proxy that drops them.
  const bool may_everyone_use =
      infra.clusters.size() == 1 || (infra.clusters.size() > 1 && every_cluster_has_sources(infra, in.observed));
  if (proxy && may_everyone_use)
    for (const std::string_view name : kKubernetesNames) zones.add_address(std::string(name), *proxy);
  else if (proxy && !infra.clusters.empty())  // once the clients of every cluster are known
    for (const std::string_view name : kKubernetesNames) zones.reserve(std::string(name));
  for (const auto& entry : infra.dns_policy.entries) zones.add_address(entry.hostname, entry.address);
  const std::vector<Ipv4Cidr> clients = infra.networks();
  return {
      "vlan", {clients.begin(), clients.end()}, vlan_zones(zones, infra.dns_policy, leases, infra.metadata, problems)};
}

DnsServerConfig infra_dns(const Inputs& in, const spec::ValidInfra& infra, StackConfig& out, Diagnostics& problems) {
  DnsServerConfig server{infra.metadata.key(),
                         {},
                         infra.dns_policy.workers,
                         declared_at(infra.origin, "/spec/infraComponents/dns/serverIP")};
  server.config.listeners = listeners(infra.dns->server_ip, 53, in.surroundings);
  std::vector<std::string> domains;
  for (const spec::ValidCluster& cluster : infra.clusters) domains.push_back(cluster.domain);
  server.lease_zone = lease_zone(in, out, infra.dns_policy, subnets_of(out.dhcp, infra.metadata.key()), domains,
                                 infra.metadata, problems);
  server.config.views.push_back(vlan_view(in, infra, server.lease_zone, problems));
  for (std::size_t i = 0; i < infra.dns_policy.views.size(); ++i) {
    const std::optional<Ipv4>& proxy = infra.dns_policy.views[i].proxy_address;
    ZoneSet zones(infra.dns_policy.record_ttl);
    add_clusters(zones, infra, proxy, proxy.has_value(), true);
    server.config.views.push_back(extra_view(zones, infra.dns_policy, i, domains, infra.metadata, problems));
  }
  const InternalProxy internal = find_internal_proxy(in, infra, out);
  const bool is_known = internal.address || !internal.is_wanted;
  ZoneSet pod_zones(infra.dns_policy.record_ttl);
  add_clusters(pod_zones, infra, internal.address, internal.is_wanted, true);
  if (!is_known) pod_zones.make_unavailable();
  const bool has_pod_view = add_default_view(
      server.config, "pod", build_with_files(pod_zones, infra.dns_policy, "pod", {}, infra.metadata, problems));
  if (has_pod_view && !internal.is_wanted && !infra.clusters.empty()) {
    problems.add(problem(Severity::warning, infra.origin, "/spec/infraComponents/proxy/internalProxyService",
                         infra.metadata, "no-internal-proxy",
                         "clients outside the VLAN get NXDOMAIN for the names of the hosted clusters, because nothing "
                         "says where to send them"));
  }
  server.config.forwarding = forwarding(infra.dns_servers);
  set_conduct(server.config, infra.dns_policy);
  warn_of_unseen_files(server.config, infra.dns_policy, infra.metadata, problems);
  warn_of_dead_forwarding(server.config, infra.dns_policy, infra.metadata, problems);
  warn_of_foreign_clients(server.config, infra.dns_policy, infra.metadata, problems);
  return server;
}

/// The names of staticEntries for those who reach them through a proxy. That the names of the `kubernetes` Service mean
/// this cluster is known of the VLAN's clients alone.
void add_entries(ZoneSet& zones, const spec::ValidDnsServer& spec, std::optional<Ipv4> proxy) {
  if (!proxy) return;
  for (const auto& entry : spec.entries)
    if (!is_kubernetes_name(entry.hostname)) zones.add_address(entry.hostname, *proxy);
}

DnsServerConfig single_dns(const Inputs& in, const spec::ValidDnsServer& spec, const StackConfig& out,
                           Diagnostics& problems) {
  DnsServerConfig server{
      spec.metadata.key(), {}, spec.policy.workers, declared_at(spec.origin, "/spec/networkConfig/serverIP")};
  server.cache_ttl = spec.cache_ttl;
  server.config.listeners = listeners(spec.server_ip, spec.port, in.surroundings);
  ZoneSet vlan(spec.policy.record_ttl);
  ZoneSet pod(spec.policy.record_ttl);
  server.lease_zone = lease_zone(in, out, spec.policy, subnets_inside(out.dhcp, spec.secondary_network), {spec.domain},
                                 spec.metadata, problems);
  add_lease_zones(vlan, server.lease_zone);
  vlan.add_zone(spec.domain);
  pod.add_zone(spec.domain);
  for (const auto& entry : spec.entries) vlan.add_address(entry.hostname, entry.address);
  add_entries(pod, spec, spec.internal_proxy_ip);
  for (const auto& entry : spec.policy.entries) vlan.add_address(entry.hostname, entry.address);
  const bool has_names = std::ranges::any_of(
      spec.entries, [&](const auto& entry) { return spec::is_at_or_below(entry.hostname, spec.domain); });
  const std::vector<std::string> domains = has_names ? std::vector{spec.domain} : std::vector<std::string>{};
  for (std::size_t i = 0; i < spec.policy.views.size(); ++i) {
    ZoneSet zones(spec.policy.record_ttl);
    zones.add_zone(spec.domain);
    add_entries(zones, spec, spec.policy.views[i].proxy_address);
    server.config.views.push_back(extra_view(zones, spec.policy, i, domains, spec.metadata, problems));
  }
  auto built = vlan_zones(vlan, spec.policy, server.lease_zone, spec.metadata, problems);
  if (spec.secondary_network) {
    server.config.views.push_back({"vlan", {*spec.secondary_network}, std::move(built)});
    add_default_view(server.config, "pod", build_with_files(pod, spec.policy, "pod", {}, spec.metadata, problems));
  } else {
    const bool has_view = add_default_view(server.config, "vlan", std::move(built));
    if (has_view && spec.internal_proxy_ip) {
      problems.add(problem(Severity::warning, spec.origin, "/spec/networkConfig/secondaryNetworkCIDR", spec.metadata,
                           "no-second-view",
                           "without secondaryNetworkCIDR nothing tells the two sides apart: every client gets "
                           "staticEntries as written"));
    }
  }
  server.config.forwarding = forwarding(spec.upstreams);
  set_conduct(server.config, spec.policy);
  warn_of_unseen_files(server.config, spec.policy, spec.metadata, problems);
  warn_of_dead_forwarding(server.config, spec.policy, spec.metadata, problems);
  warn_of_foreign_clients(server.config, spec.policy, spec.metadata, problems);
  return server;
}

/// Clients that ask are told the names that they have in our DNS.
void tell_names(const std::optional<LeaseZone>& leases, dhcp::Config& dhcp) {
  if (!leases) return;
  std::string domain = leases->domain.to_string();
  const bool is_plain = domain.find('\\') == std::string::npos;  // DHCP's texts have no way to say the others
  if (!is_plain || !domain.ends_with('.')) return;
  domain.pop_back();
  for (dhcp::Subnet& subnet : dhcp.subnets)
    if (std::ranges::find(leases->subnets, subnet.name) != leases->subnets.end()) subnet.names_domain = domain;
}

}  // namespace

void dns_config(const Inputs& in, StackConfig& out, Diagnostics& problems) {
  for (const spec::ValidInfra& infra : in.set.infras)
    if (infra.dns) out.dns.push_back(infra_dns(in, infra, out, problems));
  for (const spec::ValidDnsServer& server : in.set.dns_servers)
    out.dns.push_back(single_dns(in, server, out, problems));
  for (const DnsServerConfig& server : out.dns) tell_names(server.lease_zone, out.dhcp);
}

}  // namespace hcpnet::derive
