// SPDX-License-Identifier: Apache-2.0
#include "dhcp/kept_addresses.hpp"

#include <algorithm>
#include <hcpnet/dhcp/options.hpp>
#include <utility>

#include "dhcp/lease_file_reader.hpp"
#include "dhcp/lease_import.hpp"

namespace hcpnet::dhcp {
namespace {

/// Of several the smallest network. nullptr: none.
template <class Subnets>
auto find_subnet(Subnets& subnets, const IpAddress& address) -> decltype(&subnets[0]) {
  decltype(&subnets[0]) best = nullptr;
  for (auto& subnet : subnets) {
    const bool is_smaller = best == nullptr || best->cidr.prefix_length() < subnet.cidr.prefix_length();
    if (is_smaller && Cidr(subnet.cidr).contains(address)) best = &subnet;
  }
  return best;
}

/// The addresses that no client can have, and those of other reservations.
bool is_never_given(const Subnet& subnet, const IpAddress& address) {
  const Ipv4 v4 = address.v4();
  return !subnet.cidr.is_host(v4) || v4 == subnet.server_id || v4 == subnet.router ||
         std::ranges::find(subnet.dns_servers, v4) != subnet.dns_servers.end();
}
bool is_never_given(const dhcp6::Subnet& subnet, const IpAddress& address) {
  return address == subnet.cidr.network() ||
         std::ranges::find(subnet.dns_servers, address.v6()) != subnet.dns_servers.end();
}

bool is_same_client(const KeptAddress& a, const KeptAddress& b) {
  return (a.mac && a.mac == b.mac) || (a.duid && a.duid == b.duid) ||
         (!a.client_id.empty() && a.client_id == b.client_id);
}

std::string client_of(const KeptAddress& kept) {
  if (kept.mac) return kept.mac->to_string();
  return kept.duid ? kept.duid->to_string() : hex_bytes(kept.client_id);
}

std::vector<KeptAddress> kept_by(const Config& files) {
  std::vector<KeptAddress> out;
  for (const Subnet& subnet : files.subnets)
    for (const Reservation& r : subnet.reservations)
      out.push_back({r.address, r.mac, {}, r.host_name, subnet.name, false, r.client_id});
  for (const dhcp6::Subnet& subnet : files.subnets6)
    for (const dhcp6::Reservation& r : subnet.reservations)
      out.push_back({r.address, r.mac, r.duid, r.host_name, subnet.name, false});
  return out;
}

/// The link that a subnet is on, by name: its shared network, if it is of one.
const std::string& link_of(const Config& files, const std::string& subnet) {
  const auto found = std::ranges::find(files.subnets, subnet, &Subnet::name);
  return found == files.subnets.end() || found->shared_network.empty() ? subnet : found->shared_network;
}

/// The reservation that has the address or, on the same link, the client. nullptr: none.
const KeptAddress* find_rival(const Config& files, const std::vector<KeptAddress>& all, const KeptAddress& wanted) {
  const auto found = std::ranges::find_if(all, [&](const KeptAddress& kept) {
    if (kept.address == wanted.address) return true;
    return kept.address.is_v4() == wanted.address.is_v4() && is_same_client(kept, wanted) &&
           link_of(files, kept.subnet) == link_of(files, wanted.subnet);
  });
  return found == all.end() ? nullptr : &*found;
}

/// The name of the subnet, empty where there is none, and whether a client can have the address.
std::pair<std::string, bool> place_of(const Config& files, const IpAddress& address) {
  if (address.is_v4()) {
    const Subnet* subnet = find_subnet(files.subnets, address);
    return subnet == nullptr ? std::pair(std::string(), false)
                             : std::pair(subnet->name, !is_never_given(*subnet, address));
  }
  const dhcp6::Subnet* subnet = find_subnet(files.subnets6, address);
  return subnet == nullptr ? std::pair(std::string(), false)
                           : std::pair(subnet->name, !is_never_given(*subnet, address));
}

}  // namespace

Config with_kept(Config files, const std::vector<KeptAddress>& by_hand) {
  std::vector<KeptAddress> all = kept_by(files);
  for (KeptAddress kept : by_hand) {
    const auto [subnet, is_possible] = place_of(files, kept.address);
    kept.subnet = subnet;
    if (!is_possible || find_rival(files, all, kept) != nullptr) continue;
    if (kept.address.is_v4())
      find_subnet(files.subnets, kept.address)
          ->reservations.push_back({kept.mac, kept.address.v4(), kept.host_name, kept.client_id});
    else
      find_subnet(files.subnets6, kept.address)
          ->reservations.push_back({kept.mac, kept.duid, kept.address.v6(), kept.host_name});
    all.push_back(std::move(kept));
  }
  return files;
}

std::vector<KeptAddress> all_kept(const Config& files, const std::vector<KeptAddress>& by_hand) {
  std::vector<KeptAddress> out = kept_by(files);
  for (const KeptAddress& kept : by_hand) {
    out.push_back(kept);
    out.back().subnet = place_of(files, kept.address).first;
  }
  std::ranges::stable_sort(out, {}, &KeptAddress::address);
  return out;
}

Result<KeptAddress, Diagnostics> check_kept(const Config& files, const std::vector<KeptAddress>& by_hand,
                                            KeptAddress wanted) {
  const std::string address = wanted.address.to_string();
  const auto [subnet, is_possible] = place_of(files, wanted.address);
  if (subnet.empty())
    return one_problem("lease-foreign-network", "the address lies in no network that is served", address);
  if (!is_possible)
    return one_problem("lease-own-address",
                       "a client can't have the address: it is that of the network, a server or the router", address);
  const int clients = int{wanted.mac.has_value()} + int{wanted.duid.has_value()} + int{!wanted.client_id.empty()};
  const bool is_of_family = wanted.address.is_v4() ? !wanted.duid : wanted.client_id.empty();
  if (clients != 1 || !is_of_family)
    return one_problem("lease-bad-value",
                       "a client is known by its hardware address or, for an IPv4 address, by its client identifier, "
                       "for an IPv6 address by its DUID; one is needed");
  if (wanted.client_id.size() > kMaxStoredClientIdBytes)
    return one_problem("lease-bad-value",
                       "a client identifier has " + std::to_string(kMaxStoredClientIdBytes) + " bytes at most");
  if (wanted.mac && !is_client_mac(*wanted.mac))
    return one_problem("lease-bad-value", "the hardware address of a client is needed", client_of(wanted));
  if (make_host_label(as_bytes(wanted.host_name)) != wanted.host_name)
    return one_problem("lease-bad-value", "a host name is one label: lower-case letters, digits, -", wanted.host_name);
  wanted.subnet = subnet;
  wanted.is_by_hand = true;
  const std::vector<KeptAddress> all = all_kept(files, by_hand);
  if (const KeptAddress* rival = find_rival(files, all, wanted)) {
    return one_problem("lease-reserved",
                       rival->address.to_string() + " is reserved for " + client_of(*rival) +
                           (rival->is_by_hand ? " by hand: remove that first" : " by the files"),
                       address);
  }
  return wanted;
}

Result<KeptAddress, Diagnostics> find_kept(const Config& files, const std::vector<KeptAddress>& by_hand,
                                           const IpAddress& address) {
  const auto found = std::ranges::find(by_hand, address, &KeptAddress::address);
  if (found != by_hand.end()) {
    KeptAddress out = *found;
    out.subnet = place_of(files, address).first;
    return out;
  }
  const auto all = kept_by(files);
  const bool is_in_files = std::ranges::find(all, address, &KeptAddress::address) != all.end();
  return one_problem("lease-not-found",
                     is_in_files ? "the address is reserved by the files: change those" : "the address is not reserved",
                     address.to_string());
}

}  // namespace hcpnet::dhcp
