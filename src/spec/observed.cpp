// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/spec/codes.hpp>
#include <hcpnet/spec/observed.hpp>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "spec/claims.hpp"
#include "spec/format.hpp"
#include "spec/hosted_cluster_status.hpp"
#include "spec/names.hpp"
#include "spec/observed_networks.hpp"
#include "spec/observed_objects.hpp"
#include "spec/observed_publishing.hpp"

namespace hcpnet::spec {
namespace {

using text::Value;
using text::ValueType;

/// Service "namespace/name" -> name of a port ("" for the only one) -> number of that port.
using ServicePorts = std::map<std::string, std::map<std::string, std::uint16_t>>;

std::optional<IpAddress> host_address(const std::string& text) {
  const auto address = parse_ip_address(text);
  return address && is_host_address(*address) ? address : std::nullopt;
}

/// Where a Service is reached. Its load balancer leads there from outside of its cluster and from other networks in it
/// too, its cluster address from within alone.
std::optional<IpAddress> target_of(const ObservedObject& service) {
  for (const Value& ingress : service.items_at("/status/loadBalancer/ingress"))
    if (const auto address = host_address(string_of(ingress, "ip"))) return address;
  return host_address(service.string_at("/spec/clusterIP"));  // "None" is no address
}

ServicePorts read_services(const std::vector<ObservedObject>& services, Observed& observed) {
  ServicePorts ports;
  for (const ObservedObject& service : services) {
    const std::string key = service.metadata.key();
    for (const Value& port : service.items_at("/spec/ports"))
      if (const auto number = port_at(port, "/port")) ports[key].emplace(string_of(port, "name"), *number);
    std::vector<std::string> addresses{service.string_at("/spec/clusterIP")};
    for (const Value& address : service.items_at("/spec/clusterIPs")) addresses.push_back(address.text);
    for (const std::string& text : addresses)  // "None" and IPv6 are no IPv4 address
      if (const auto address = parse_ipv4(text)) observed.service_addresses.emplace(key, *address);
    if (const auto target = target_of(service)) observed.service_targets.emplace(key, *target);
  }
  return ports;
}

/// Addresses of the ready endpoints. Not known to be unready is ready (discovery.k8s.io/v1, EndpointConditions).
std::vector<IpAddress> ready_addresses(const ObservedObject& slice) {
  std::vector<IpAddress> addresses;
  for (const Value& endpoint : slice.items_at("/endpoints")) {
    const Value* ready = text::find(endpoint, "/conditions/ready");
    if (ready != nullptr && ready->type == ValueType::boolean && !ready->flag) continue;
    const Value* list = endpoint.find("addresses");
    if (list == nullptr) continue;
    for (const Value& address : list->items)
      if (const auto parsed = host_address(address.text)) addresses.push_back(*parsed);
  }
  return addresses;
}

void read_slices(const std::vector<ObservedObject>& slices, const ServicePorts& services, Observed& observed) {
  std::map<std::string, std::set<Endpoint>> endpoints;  // of all slices of a Service together, both families
  for (const ObservedObject& slice : slices) {
    const std::string name = slice.string_at("/metadata/labels/kubernetes.io~1service-name");
    if (name.empty()) continue;
    const std::string service = slice.metadata.namespace_ + '/' + name;
    const auto known = services.find(service);
    const std::vector<IpAddress> addresses = ready_addresses(slice);
    for (const Value& port : slice.items_at("/ports")) {
      const auto number = port_at(port, "/port");
      if (!number) continue;
      std::uint16_t service_port = *number;
      if (known != services.end()) {
        const auto match = known->second.find(string_of(port, "name"));
        if (match == known->second.end()) continue;  // the Service has no such port any more
        service_port = match->second;
      }
      std::set<Endpoint>& all = endpoints[service + ':' + std::to_string(service_port)];
      for (const IpAddress& address : addresses) all.insert({address, *number});
    }
  }
  // Slices without a ready endpoint are of a moment that has gone by: the Service itself says what is there now.
  for (const auto& [key, all] : endpoints)
    if (!all.empty()) observed.endpoints[key].assign(all.begin(), all.end());
}

void read_machine_instances(const std::vector<ObservedObject>& instances, Observed& observed, Diagnostics& warnings) {
  Claims<MacAddress> claims(warnings, "MAC address");
  const auto read = [&](const ObservedObject& instance, const std::string& list, const char* field) {
    const auto& interfaces = instance.items_at(list);
    for (std::size_t i = 0; i < interfaces.size(); ++i) {
      const std::string text = string_of(interfaces[i], field);
      if (text.empty()) continue;
      const std::string pointer = text::child(list, i) + '/' + field;
      const auto mac = parse_mac_address(text);
      if (!mac) {
        warnings.add(instance.warning(code::bad_address, pointer, "this is no MAC address"));
      } else if (claims.claim(*mac, instance.metadata.key(), mac->to_string(), instance, pointer)) {
        observed.mac_namespaces.emplace(*mac, instance.metadata.namespace_);
        observed.host_names.emplace(*mac, instance.metadata.name);
      }
    }
  };
  for (const ObservedObject& instance : instances) {
    read(instance, "/status/interfaces", "mac");
    read(instance, "/spec/domain/devices/interfaces", "macAddress");
  }
}

void read_machines(const std::vector<ObservedObject>& machines, Observed& observed, Diagnostics& warnings) {
  Claims<IpAddress> claims(warnings, "address");
  std::map<std::string, std::set<IpAddress>> workers;
  for (const ObservedObject& machine : machines) {
    const std::string& owner = machine.metadata.namespace_;
    const auto& addresses = machine.items_at("/status/addresses");
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const auto address = parse_ip_address(string_of(addresses[i], "address"));
      const std::string pointer = text::child("/status/addresses", i) + "/address";
      if (!address) continue;  // a name; which type an address has says nothing of the network that it is in
      if (claims.claim(*address, owner, address->to_string(), machine, pointer)) workers[owner].insert(*address);
    }
  }
  for (const auto& [owner, addresses] : workers)
    observed.namespace_workers[owner].assign(addresses.begin(), addresses.end());
}

void read_hosted_clusters(const std::vector<ObservedObject>& clusters, Observed& observed, Diagnostics& warnings) {
  Claims<std::string> claims(warnings, "control-plane namespace");
  for (const ObservedObject& cluster : clusters) {
    const std::string plane = control_plane_namespace(cluster.metadata.namespace_, cluster.metadata.name);
    if (claims.claim(plane, cluster.metadata.key(), plane, cluster, "/metadata/name"))
      observed.control_plane_clusters.emplace(plane, cluster.metadata.key());
  }
}

void read_attachments(const std::vector<ObservedObject>& attachments, const std::set<std::string>& losers,
                      Observed& observed, Diagnostics& warnings) {
  Claims<Ipv4> claims(warnings, "apps address");
  const std::string pointer = "/status/appsIngressStatus/externalIP";
  for (const ObservedObject& attachment : attachments) {
    const std::string text = attachment.string_at(pointer);
    if (text.empty() || losers.contains(attachment.metadata.key())) continue;
    const auto address = parse_ipv4(text);
    if (!address)
      warnings.add(attachment.warning(code::bad_address, pointer,
                                      "this is no IPv4 address, so the apps of this cluster get no record"));
    else if (claims.claim(*address, attachment.metadata.key(), text, attachment, pointer))
      observed.apps_addresses.emplace(attachment.metadata.key(), *address);
  }
}

/// Whether an address of these pools is given to clients.
bool is_given(const std::vector<ValidDhcpPolicy::Pool>& pools, const ValidDhcpPolicy& policy, Ipv4 address) {
  const auto holds = [&](const Ipv4Range& range) { return range.contains(address); };
  return std::ranges::any_of(pools, holds, &ValidDhcpPolicy::Pool::range) &&
         std::ranges::none_of(policy.exclusions, holds);
}

/// What the policy makes of the address; empty when nothing.
std::string owner_in(const ValidDhcpPolicy& policy, Ipv4 address) {
  if (std::ranges::count(policy.reservations, address, &ValidDhcpPolicy::Reservation::address) > 0)
    return "a DHCP reservation";
  if (is_given(policy.pools, policy, address)) return "a DHCP pool";
  for (const ValidDhcpPolicy::Subnet& subnet : policy.subnets) {
    const std::string of = " of " + subnet.cidr.to_string();
    if (subnet.gateway == address) return "the gateway" + of;
    if (subnet.server_ip == address) return "the DHCP server" + of;
    if (is_given(subnet.pools, policy, address)) return "a DHCP pool" + of;
  }
  return {};
}

/// Who has the address in this Infra; empty when nobody has.
std::string owner_in(const ValidInfra& infra, Ipv4 address) {
  if (infra.gateway == address) return "the gateway";
  if (infra.dhcp && infra.dhcp->server_ip == address) return "the DHCP server";
  if (infra.dns && infra.dns->server_ip == address) return "the DNS server";
  if (infra.proxy && infra.proxy->server_ip == address) return "the proxy";
  const bool is_excluded = std::ranges::any_of(infra.dhcp_policy.exclusions,
                                               [&](const Ipv4Range& range) { return range.contains(address); });
  if (infra.dhcp && infra.dhcp->pool.contains(address) && !is_excluded) return "the DHCP range";
  if (infra.dhcp)
    if (const std::string owner = owner_in(infra.dhcp_policy, address); !owner.empty()) return owner;
  for (const ValidCluster& cluster : infra.clusters)
    if (cluster.apps_vip == address) return "the apps of cluster " + cluster.name;
  return {};
}

/// Who has it in the set, seen from `here`.
std::string owner_of(const ValidSet& set, const ValidInfra& here, Ipv4 address) {
  for (const ValidInfra& infra : set.infras)
    if (const std::string owner = owner_in(infra, address); !owner.empty())
      return &infra == &here ? owner : owner + " of Infra " + infra.metadata.key();
  return {};
}

void apply_to(const ValidSet& set, ValidInfra& infra, const Observed& observed, Diagnostics& warnings) {
  for (ValidCluster& cluster : infra.clusters) {
    if (!cluster.apps_pool || cluster.static_apps_vip) continue;
    std::optional<Ipv4> vip;
    const std::string key = infra.metadata.namespace_ + '/' + cluster.name;
    if (const auto seen = observed.apps_addresses.find(key); seen != observed.apps_addresses.end()) {
      vip = seen->second;
    } else {
      const auto attachment =
          std::ranges::find(set.attachments, key, [](const InfraClusterAttachment& a) { return a.metadata.key(); });
      if (attachment != set.attachments.end() && attachment->observed_apps_ip)
        vip = parse_ipv4(*attachment->observed_apps_ip);
    }
    if (!vip) continue;
    const std::string owner = owner_of(set, infra, *vip);
    if (owner.empty()) {
      cluster.apps_vip = vip;
      continue;
    }
    const std::string pointer = "/spec/appsIngress";
    const text::Position position = cluster.origin.position(pointer);
    warnings.add(
        {.severity = Severity::warning,
         .file = cluster.origin.file,
         .line = position.line,
         .column = position.column,
         .path = cluster.origin.path + pointer,
         .code = std::string(code::vip_unusable),
         .message = "the apps address " + vip->to_string() + " of " + key + " belongs to " + owner + " and is not used",
         .found = {},
         .expected = {}});
  }
}

}  // namespace

std::optional<std::vector<Endpoint>> Observed::endpoints_of(const std::string& service, std::uint16_t port) const {
  if (const auto known = endpoints.find(service + ':' + std::to_string(port)); known != endpoints.end())
    return known->second;
  if (const auto target = service_targets.find(service); target != service_targets.end())
    return std::vector{Endpoint{target->second, port}};
  return {};
}

Result<Observed, Diagnostics> load_observed(const std::vector<SourceText>& objects,
                                            const std::vector<SourceText>& endpoints, Diagnostics& warnings,
                                            const LoadLimits& limits) {
  Diagnostics errors(limits.max_errors);
  Observed observed;
  const ObservedObjects collected = collect_objects(objects, limits, errors);
  read_slices(collected.slices, read_services(collected.services, observed), observed);
  read_machine_instances(collected.machine_instances, observed, warnings);
  read_machines(collected.machines, observed, warnings);
  read_hosted_clusters(collected.hosted_clusters, observed, warnings);
  read_attachments(collected.attachments, settle_networks(collected, warnings), observed, warnings);
  for (const ObservedObject& machine : collected.virtual_machines)
    observed.virtual_machine_uids.emplace(machine.metadata.key(), machine.string_at("/metadata/uid"));
  read_publishing(collected, observed.publishing, warnings);
  read_endpoint_maps(endpoints, limits, observed, errors);
  if (!errors.empty()) return errors;
  return observed;
}

void apply_observed(ValidSet& set, const Observed& observed) {
  for (ValidInfra& infra : set.infras)
    for (ValidCluster& cluster : infra.clusters) cluster.apps_vip = cluster.static_apps_vip;
  for (ValidInfra& infra : set.infras) apply_to(set, infra, observed, set.warnings);
}

}  // namespace hcpnet::spec
