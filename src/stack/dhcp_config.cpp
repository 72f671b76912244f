// SPDX-License-Identifier: Apache-2.0
// From spec to subnets.
#include <utility>
#include <vector>

#include "dhcp/option_value.hpp"
#include "stack/derive.hpp"

namespace hcpnet::derive {
namespace {

/// The values have passed the rules of the spec, so they encode.
void add_options(const std::vector<spec::DhcpOption>& options, dhcp::Subnet& subnet) {
  for (const spec::DhcpOption& option : options) {
    std::erase_if(subnet.options, [&](const dhcp::RawOption& o) { return o.code == option.code; });
    subnet.options.push_back({option.code, *dhcp::encode_option_value(option.code, option.value)});
  }
}

void add_policy(const spec::ValidDhcpPolicy& policy, dhcp::Subnet& subnet) {
  subnet.authoritative = policy.authoritative;
  add_options(policy.options, subnet);
  for (const auto& r : policy.reservations) subnet.reservations.push_back({r.mac, r.address, r.host_name});
}

/// DHCPv6 beside the IPv4 subnet, on its interface.
void add_ipv6(const spec::ValidDhcpPolicy& policy, const dhcp::Subnet& beside, StackConfig& out) {
  if (!policy.ipv6) return;
  const spec::ValidDhcpPolicy::V6& ipv6 = *policy.ipv6;
  dhcp6::Subnet subnet;
  subnet.name = beside.name;
  subnet.cidr = ipv6.cidr;
  subnet.interface_address = beside.server_id;
  subnet.pool = {ipv6.first, ipv6.last};
  subnet.dns_servers = ipv6.dns_servers;
  subnet.domain_search = ipv6.domain_search;
  subnet.lease_time = beside.lease_time;
  subnet.authoritative = policy.authoritative;
  subnet.rapid_commit = ipv6.rapid_commit;
  subnet.identity = ipv6.identity == spec::DHCPPolicy::Identity::mac ? dhcp6::Identity::mac : dhcp6::Identity::duid;
  for (const auto& r : ipv6.reservations) subnet.reservations.push_back({r.mac, r.duid, r.address, r.host_name});
  if (policy.router_advertisement) {
    const auto& ra = *policy.router_advertisement;
    ra::Advertisement advertisement;
    advertisement.prefix = ipv6.cidr;
    advertisement.managed = ra.managed;
    advertisement.other_config = ra.other_config;
    advertisement.on_link = ra.on_link;
    advertisement.autonomous = ra.autonomous;
    advertisement.router_lifetime = ra.router_lifetime;
    if (ra.mtu) advertisement.mtu = static_cast<std::uint32_t>(*ra.mtu);
    advertisement.dns_servers = ipv6.dns_servers;
    advertisement.domain_search = ipv6.domain_search;
    out.advertisements.push_back({beside.name, beside.server_id, std::move(advertisement)});
  }
  out.dhcp.subnets6.push_back(std::move(subnet));
}

dhcp::Subnet make_subnet(const spec::ObjectMeta& owner, const Ipv4Cidr& cidr, const spec::ValidDhcp& dhcp) {
  dhcp::Subnet subnet;
  subnet.name = owner.key();
  subnet.cidr = cidr;
  subnet.server_id = dhcp.server_ip;
  subnet.pools = {dhcp.pool};
  subnet.lease_time = dhcp.lease_time;
  return subnet;
}

/// Clients ask our DNS where there is one; else the resolvers that the spec names by address.
std::vector<Ipv4> dns_servers_of(const spec::ValidInfra& infra) {
  if (infra.dns) return {infra.dns->server_ip};
  std::vector<Ipv4> servers;
  for (const spec::Resolver& resolver : infra.dns_servers)
    if (const auto* endpoint = std::get_if<Endpoint>(&resolver); endpoint && endpoint->address.is_v4())
      servers.push_back(endpoint->address.v4());
  return servers;
}

}  // namespace

void dhcp_config(const Inputs& in, StackConfig& out) {
  out.dhcp.host_names = in.observed.host_names;
  for (const spec::ValidInfra& infra : in.set.infras) {
    if (!infra.dhcp) continue;
    dhcp::Subnet subnet = make_subnet(infra.metadata, infra.cidr, *infra.dhcp);
    subnet.router = infra.gateway;
    subnet.dns_servers = dns_servers_of(infra);
    add_policy(infra.dhcp_policy, subnet);
    add_ipv6(infra.dhcp_policy, subnet, out);
    out.dhcp.subnets.push_back(std::move(subnet));
  }
  for (const spec::ValidDhcpServer& server : in.set.dhcp_servers) {
    dhcp::Subnet subnet = make_subnet(server.metadata, server.cidr, server.dhcp);
    subnet.router = server.gateway;
    subnet.dns_servers = server.dns_servers;
    add_options(server.dhcp.options, subnet);
    add_policy(server.policy, subnet);
    add_ipv6(server.policy, subnet, out);
    out.dhcp.subnets.push_back(std::move(subnet));
  }
}

}  // namespace hcpnet::derive
