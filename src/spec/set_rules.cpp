// SPDX-License-Identifier: Apache-2.0
// The servers of a set against each other: what one process that runs all of them could not start, or would send in a
// circle.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "spec/format.hpp"
#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

const std::string kCidr = "/spec/networkConfig/cidr";
const std::string kServer = "/spec/networkConfig/serverIP";
const std::string kInfraDhcp = "/spec/infraComponents/dhcp";
const std::string kInfraDns = "/spec/infraComponents/dns";
const std::string kInfraProxy = "/spec/infraComponents/proxy";
constexpr std::uint16_t kDnsPort = 53;
constexpr std::uint16_t kInfraProxyPorts[] = {80, 443, 6443};

/// The address of an enabled component of an Infra, if nothing is wrong with it.
template <class Component>
std::optional<Ipv4> component_address(const Subject& subject, const std::optional<Component>& component,
                                      const std::string& pointer) {
  if (!component || !component->enabled || !subject.is_good(pointer + "/enabled")) return {};
  return subject.is_good(pointer + "/serverIP") ? address_of(component->server_ip) : std::nullopt;
}

// --- DNS: a server that asks itself waits for itself

void check_upstreams(Subject& subject, const std::string& list, const std::vector<std::string>& upstreams,
                     const std::optional<Endpoint>& own, const std::string& own_pointer) {
  for (std::size_t i = 0; own && i < upstreams.size(); ++i) {
    const std::string pointer = list + '/' + std::to_string(i);
    if (subject.is_good(pointer) && parse_endpoint(upstreams[i], kDnsPort) == own)
      subject.error(code::forward_loop, pointer,
                    "this is the DNS server itself (" + subject.where(own_pointer) + "), which would ask itself");
  }
}

void check_all_upstreams(PolicyTargets& servers) {
  const auto at = [](std::optional<Ipv4> address, std::uint16_t port) {
    return address ? std::optional(Endpoint{*address, port}) : std::nullopt;
  };
  for (auto& [infra, subject, plan, apps] : servers.infras)
    check_upstreams(subject, "/spec/networkConfig/dnsServers", infra.network.dns_servers,
                    at(component_address(subject, infra.dns, kInfraDns), kDnsPort), kInfraDns + "/serverIP");
  for (auto& [server, subject, plan, apps] : servers.dns_servers) {
    if (!subject.is_good(kServer) || !subject.is_good("/spec/networkConfig/dnsPort")) continue;
    check_upstreams(subject, "/spec/upstreamDNS", server.upstream_dns,
                    at(address_of(server.server_ip), server.dns_port), kServer);
  }
}

// --- DHCP: leases are kept by network, and a socket by address

struct DhcpService {
  Subject* subject;
  bool is_infra;
  std::string server_pointer;
  Ipv4Cidr cidr;
  Ipv4 address;
};

/// Those that nothing is wrong with: what is mended there may be just this.
std::vector<DhcpService> dhcp_services(PolicyTargets& servers) {
  std::vector<DhcpService> services;
  for (auto& [infra, subject, plan, apps] : servers.infras) {
    const auto address = component_address(subject, infra.dhcp, kInfraDhcp);
    if (address && !subject.has_problems())
      services.push_back({&subject, true, kInfraDhcp + "/serverIP", *plan.cidr, *address});
  }
  for (auto& [server, subject, plan, apps] : servers.dhcp_servers)
    if (!subject.has_problems())
      services.push_back({&subject, false, kServer, *plan.cidr, *address_of(server.server_ip)});
  std::ranges::stable_sort(services, {}, [](const DhcpService& s) { return s.subject->place(kCidr); });
  return services;
}

std::string named(const DhcpService& service, const std::string& pointer) {
  return (service.is_infra ? "Infra " : "DHCPServer ") + service.subject->metadata().key() + " (" +
         service.subject->where(pointer) + ')';
}

/// What another service has too; nullptr when nothing. Infras are compared in check_infras().
template <class Thing>
const DhcpService* claim(std::map<Thing, const DhcpService*>& owners, const Thing& thing, const DhcpService& service) {
  const auto [first, is_new] = owners.emplace(thing, &service);
  return is_new || (service.is_infra && first->second->is_infra) ? nullptr : first->second;
}

void check_dhcp_services(PolicyTargets& servers) {
  const std::vector<DhcpService> services = dhcp_services(servers);
  std::map<Ipv4Cidr, const DhcpService*> networks;
  std::map<Ipv4, const DhcpService*> addresses;
  for (const DhcpService& service : services) {
    const auto* other = claim(networks, service.cidr, service);
    if (other != nullptr) {
      service.subject->error(
          code::networks_overlap, kCidr,
          named(*other, kCidr) + " serves DHCP on this network, and one process cannot serve it for both");
      continue;
    }
    other = claim(addresses, service.address, service);
    if (other != nullptr)
      service.subject->error(
          code::addresses_collide, service.server_pointer,
          named(*other, other->server_pointer) + " serves DHCP at this address, and one process cannot serve both");
  }
}

// --- proxies: a target that is a proxy comes back for ever

using Listener = std::tuple<Ipv4, std::uint16_t, Protocol>;
using Listeners = std::map<Listener, std::string>;  ///< with what it is, for a message

std::string backend_at(std::size_t index, const char* field) {
  return "/spec/backends/" + std::to_string(index) + '/' + field;
}

Listeners proxy_listeners(const PolicyTargets& servers) {
  Listeners listeners;
  for (const auto& [infra, subject, plan, apps] : servers.infras)
    if (const auto address = component_address(subject, infra.proxy, kInfraProxy))
      for (const std::uint16_t port : kInfraProxyPorts)
        listeners.emplace(Listener(*address, port, Protocol::tcp),
                          "Infra " + infra.metadata.key() + " (" + subject.where(kInfraProxy + "/serverIP") + ')');
  for (const auto& [server, subject, plan, apps] : servers.proxy_servers) {
    const auto address = subject.is_good(kServer) ? address_of(server.server_ip) : std::nullopt;
    for (std::size_t i = 0; address && i < server.backends.size(); ++i)
      if (subject.is_good(backend_at(i, "port")) && subject.is_good(backend_at(i, "protocol")))
        listeners.emplace(Listener(*address, server.backends[i].port, server.backends[i].protocol),
                          "ProxyServer " + server.metadata.key() + " (" + subject.where(backend_at(i, "port")) + ')');
  }
  return listeners;
}

void check_targets(PolicyTargets& servers) {
  const Listeners listeners = proxy_listeners(servers);
  for (auto& [server, subject, plan, apps] : servers.proxy_servers)
    for (std::size_t i = 0; i < server.backends.size(); ++i) {
      const ProxyBackend& backend = server.backends[i];
      const std::string pointer = backend_at(i, "targetService");
      const auto address = parse_ipv4(backend.target_service);
      if (!address || !subject.is_good(pointer) || !subject.is_good(backend_at(i, "targetPort")) ||
          !subject.is_good(backend_at(i, "protocol")))
        continue;
      const auto listener = listeners.find(Listener(*address, backend.target_port, backend.protocol));
      if (listener != listeners.end())
        subject.error(code::forward_loop, pointer,
                      "port " + std::to_string(backend.target_port) + " of this address is the proxy of " +
                          listener->second + ", so connections would go round in a circle");
    }
}

}  // namespace

void check_servers(PolicyTargets servers) {
  check_all_upstreams(servers);
  check_dhcp_services(servers);
  check_targets(servers);
}

}  // namespace hcpnet::spec
