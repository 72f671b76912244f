// SPDX-License-Identifier: Apache-2.0
// From spec to subnets.
#include <algorithm>
#include <utility>

#include "dhcp/option_value.hpp"
#include "stack/derive.hpp"

namespace hcpnet::derive {
namespace {

/// Options that carry the protocol itself: a fixed value would break the exchange.
bool is_protocol_option(std::uint8_t code) {
  constexpr std::uint8_t kProtocol[] = {50, 52, 53, 54, 55, 57, 61, 82};
  return std::ranges::find(kProtocol, code) != std::end(kProtocol);
}

void add_options(const std::vector<spec::DhcpOption>& options, const spec::ObjectMeta& owner, const std::string& path,
                 dhcp::Subnet& subnet, Diagnostics& problems) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (is_protocol_option(options[i].code)) {
      problems.add(
          problem(Severity::error, owner, path + '/' + std::to_string(i) + "/code", "bad-option-value",
                  "option " + std::to_string(options[i].code) + " belongs to the protocol and can't be configured"));
      continue;
    }
    auto encoded = dhcp::encode_option_value(options[i].code, options[i].value);
    if (encoded.has_error()) {
      Diagnostic d = problem(Severity::error, owner, path + '/' + std::to_string(i) + "/value", "bad-option-value",
                             "option " + std::to_string(options[i].code) + " does not take this value");
      d.expected = encoded.error();
      problems.add(std::move(d));
      continue;
    }
    std::erase_if(subnet.options, [&](const dhcp::RawOption& o) { return o.code == options[i].code; });
    subnet.options.push_back({options[i].code, std::move(*encoded)});
  }
}

void add_policy(const spec::ValidDhcpPolicy& policy, const spec::ObjectMeta& owner, dhcp::Subnet& subnet,
                Diagnostics& problems) {
  subnet.authoritative = policy.authoritative;
  add_options(policy.options, owner, "/spec/options", subnet, problems);
  for (const auto& r : policy.reservations) subnet.reservations.push_back({r.mac, r.address, r.host_name});
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

void dhcp_config(const Inputs& in, StackConfig& out, Diagnostics& problems) {
  out.dhcp.host_names = in.observed.host_names;
  for (const spec::ValidInfra& infra : in.set.infras) {
    if (!infra.dhcp) continue;
    dhcp::Subnet subnet = make_subnet(infra.metadata, infra.cidr, *infra.dhcp);
    subnet.router = infra.gateway;
    subnet.dns_servers = dns_servers_of(infra);
    add_options(infra.dhcp->options, infra.metadata, "/spec/options", subnet, problems);
    add_policy(infra.dhcp_policy, infra.metadata, subnet, problems);
    out.dhcp.subnets.push_back(std::move(subnet));
  }
  for (const spec::ValidDhcpServer& server : in.set.dhcp_servers) {
    dhcp::Subnet subnet = make_subnet(server.metadata, server.cidr, server.dhcp);
    subnet.router = server.gateway;
    subnet.dns_servers = server.dns_servers;
    add_options(server.dhcp.options, server.metadata, "/spec/options", subnet, problems);
    add_policy(server.policy, server.metadata, subnet, problems);
    out.dhcp.subnets.push_back(std::move(subnet));
  }
}

}  // namespace hcpnet::derive
