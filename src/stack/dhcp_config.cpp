// SPDX-License-Identifier: Apache-2.0
// From spec to subnets.
#include <algorithm>
#include <hcpnet/bytes.hpp>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "dhcp/option_value.hpp"
#include "spec/format.hpp"
#include "stack/derive.hpp"

namespace hcpnet::derive {
namespace {

/// The values have passed the rules of the spec, so they encode.
void add_options(const std::vector<spec::DhcpOption>& options, std::vector<dhcp::RawOption>& out) {
  for (const spec::DhcpOption& option : options) {
    std::erase_if(out, [&](const dhcp::RawOption& o) { return o.code == option.code; });
    out.push_back({option.code, *dhcp::encode_option_value(option.code, option.value)});
  }
}

dhcp::Boot make_boot(const spec::DhcpBootFields& fields) {
  return {fields.next_server ? parse_ipv4(*fields.next_server).value() : Ipv4(), fields.server_host_name.value_or(""),
          fields.boot_file_name.value_or("")};
}

void add_pools(const std::vector<spec::ValidDhcpPolicy::Pool>& pools, dhcp::Subnet& subnet) {
  for (const auto& from : pools) {
    dhcp::Pool pool{from.range, from.client_classes, {}};
    add_options(from.options, pool.options);
    subnet.pools.push_back(std::move(pool));
  }
}

std::vector<std::string> to_bytes(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const std::string& text : texts) {
    const auto bytes = dhcp::encode_option_bytes(text);
    out.emplace_back(as_text(*bytes));
  }
  return out;
}

dhcp::ClientClass make_class(const spec::DHCPPolicy::ClientClass& from) {
  dhcp::ClientClass out;
  out.name = from.name;
  out.match.vendor_classes = to_bytes(from.match.vendor_classes);
  out.match.user_classes = to_bytes(from.match.user_classes);
  for (const std::string& text : from.match.mac_prefixes)
    out.match.mac_prefixes.push_back(spec::parse_mac_prefix(text).value());
  out.match.circuit_ids = to_bytes(from.match.circuit_ids);
  out.match.remote_ids = to_bytes(from.match.remote_ids);
  for (const std::int64_t type : from.match.architectures)
    out.match.architectures.push_back(static_cast<std::uint16_t>(type));
  add_options(from.options, out.options);
  out.boot = make_boot(from.boot);
  return out;
}

dhcp::SharedStore make_store(const spec::DHCPPolicy::SharedStore& from) {
  return {.endpoints = from.endpoints,
          .prefix = from.prefix,
          .ca_file = from.ca_file.value_or(""),
          .certificate_file = from.certificate_file.value_or(""),
          .key_file = from.key_file.value_or(""),
          .server_name = from.server_name.value_or(""),
          .username = from.username.value_or(""),
          .password_file = from.password_file.value_or(""),
          .max_skew = from.max_skew};
}

void add_policy(const spec::ValidDhcpPolicy& policy, dhcp::Subnet& subnet) {
  subnet.authoritative = policy.authoritative;
  add_options(policy.options, subnet.options);
  subnet.boot = make_boot(policy.boot);
  add_pools(policy.pools, subnet);
  subnet.exclusions = policy.exclusions;
  for (const auto& one : policy.client_classes) subnet.client_classes.push_back(make_class(one));
  if (const auto& limit = policy.client_rate_limit)
    subnet.rate_limit = dhcp::ClientRateLimit{limit->messages_per_second, limit->burst};
  if (policy.probe) subnet.probe_timeout = std::chrono::milliseconds(policy.probe->timeout_milliseconds);
  if (policy.shared_store) subnet.shared_store = make_store(*policy.shared_store);
  subnet.identity =
      policy.client_identity == spec::DHCPPolicy::ClientIdentity::mac ? dhcp::Identity::mac : dhcp::Identity::client_id;
  for (const auto& r : policy.reservations) subnet.reservations.push_back({r.mac, r.address, r.host_name, r.client_id});
}

/// What options say of one subnet and not of its neighbours: mask, routers, broadcast address, static routes.
bool is_of_one_subnet(std::uint8_t code) {
  constexpr std::uint8_t kCodes[] = {1, 3, 28, 33, 121, 249};
  return std::ranges::find(kCodes, code) != std::end(kCodes);
}

/// The target's own subnet and those that share its link. A reservation is of the subnet that has its address.
void add_shared_network(const spec::ValidDhcpPolicy& policy, dhcp::Subnet own, dhcp::Config& out) {
  if (policy.subnets.empty()) return out.subnets.push_back(std::move(own));
  own.shared_network = own.name;
  std::vector<dhcp::Subnet> all{own};
  for (const auto& from : policy.subnets) {
    dhcp::Subnet subnet = own;  // what holds for the link, its options and DNS servers among it
    subnet.name = own.name + '/' + from.cidr.to_string();
    subnet.cidr = from.cidr;
    subnet.server_id = from.server_ip.value_or(own.server_id);
    subnet.router = from.gateway;
    subnet.pools.clear();
    subnet.exclusions.clear();
    subnet.client_classes.clear();
    subnet.rate_limit.reset();
    subnet.probe_timeout.reset();
    subnet.shared_store.reset();
    add_pools(from.pools, subnet);
    std::erase_if(subnet.options, [](const dhcp::RawOption& o) { return is_of_one_subnet(o.code); });
    add_options(from.options, subnet.options);
    all.push_back(std::move(subnet));
  }
  for (dhcp::Subnet& subnet : all) {
    std::erase_if(subnet.reservations, [&](const auto& r) { return !subnet.cidr.contains(r.address); });
    out.subnets.push_back(std::move(subnet));
  }
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
  subnet.pools.push_back({dhcp.pool});
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
    add_shared_network(infra.dhcp_policy, std::move(subnet), out.dhcp);
  }
  for (const spec::ValidDhcpServer& server : in.set.dhcp_servers) {
    dhcp::Subnet subnet = make_subnet(server.metadata, server.cidr, server.dhcp);
    subnet.router = server.gateway;
    subnet.dns_servers = server.dns_servers;
    add_options(server.dhcp.options, subnet.options);
    add_policy(server.policy, subnet);
    add_ipv6(server.policy, subnet, out);
    add_shared_network(server.policy, std::move(subnet), out.dhcp);
  }
}

}  // namespace hcpnet::derive
