// SPDX-License-Identifier: Apache-2.0
#include "spec/udn_ranges.hpp"
#include <initializer_list>
#include <utility>

namespace hcpnet::spec {
namespace {

constexpr std::uint8_t kDnsNumber = 10;  // OpenShift gives the DNS Service the tenth address of the service network

class Ranges {
 public:
  void add(const std::vector<std::string>& texts, const char* owner) {
    for (const std::string& text : texts)
      if (const auto range = parse_cidr(text)) ranges_.push_back({*range, owner});
  }
  /// `texts`, or what holds where there are none.
  void add(const std::vector<std::string>& texts, std::initializer_list<const char*> defaults, const char* owner) {
    add(texts.empty() ? std::vector<std::string>(defaults.begin(), defaults.end()) : texts, owner);
  }
  [[nodiscard]] std::vector<TakenNetwork> take() { return std::move(ranges_); }

 private:
  std::vector<TakenNetwork> ranges_;
};

/// The guest's own view of a list: the reference's, else the HostedCluster's.
std::vector<std::string> guest_network(const std::vector<std::string>& given, const HostedCluster* cluster,
                                       std::vector<std::string> HostedCluster::Networking::* list) {
  if (!given.empty() || cluster == nullptr) return given;
  return cluster->networking.*list;
}

void add_guest(Ranges& ranges, const UdnHostedCluster& reference, const HostedCluster* cluster) {
  ranges.add(guest_network(reference.cluster_network, cluster, &HostedCluster::Networking::cluster), {"10.132.0.0/14"},
             "the pod network of the hosted cluster");
  ranges.add(guest_network(reference.service_network, cluster, &HostedCluster::Networking::service), {"172.31.0.0/16"},
             "the service network of the hosted cluster");
  ranges.add({"100.66.0.0/16"}, "the join subnet that HyperShift gives the hosted cluster");
  if (cluster != nullptr && cluster->networking.advertise_address) {
    const std::string& address = *cluster->networking.advertise_address;
    ranges.add({address + (address.find(':') == std::string::npos ? "/32" : "/128")},
               "the address of the API server on every worker");
    return;
  }
  ranges.add({"172.20.0.1/32", "fd00::1/128"}, "the address of the API server on every worker");
}

}  // namespace

std::vector<Cidr> default_join_subnets() {
  return {parse_cidr("100.65.0.0/16").value(), parse_cidr("fd99::/64").value()};
}

std::vector<TakenNetwork> taken_networks(const PrimaryUDN& udn, const HostedCluster* cluster) {
  const UdnManagement& management = udn.management;
  Ranges ranges;
  // Upgraded clusters have 169.254.169.0/29 and 169.254.1.1 serves DHCP: the whole block is refused.
  ranges.add({"169.254.0.0/16"}, "link-local addresses, where OVN-Kubernetes masquerades and serves DHCP");
  ranges.add(management.masquerade_subnets, {"fd69::/112"}, "the masquerade subnet of OVN-Kubernetes");
  ranges.add(management.join_subnets, {"100.64.0.0/16", "fd98::/64"}, "the join subnet of the default network");
  ranges.add(management.transit_switch_subnets, {"100.88.0.0/16", "fd97::/64"},
             "the transit switch subnet of OVN-Kubernetes");
  ranges.add(management.cluster_network, {"10.128.0.0/14"}, "the pod network of the management cluster");
  ranges.add(management.service_network, {"172.30.0.0/16"}, "the service network of the management cluster");
  ranges.add(management.machine_network, "the machine network of the management cluster");
  ranges.add(management.others, "a network of management.others");
  if (udn.hosted_cluster) add_guest(ranges, *udn.hosted_cluster, cluster);
  return ranges.take();
}

IpAddress nth_address(const Cidr& network, std::uint8_t number) {
  if (network.network().is_v4()) return Ipv4(network.network().v4().value() + number);
  auto bytes = network.network().v6().bytes();
  bytes.back() = static_cast<std::uint8_t>(bytes.back() + number);
  return Ipv6(bytes);
}

std::vector<IpAddress> dns_addresses(const UdnManagement& management) {
  std::vector<IpAddress> addresses;
  for (const std::string& text : management.dns_addresses)
    if (const auto address = parse_ip_address(text)) addresses.push_back(*address);
  if (!management.dns_addresses.empty()) return addresses;
  std::vector<std::string> networks = management.service_network;
  if (networks.empty()) networks = {"172.30.0.0/16"};
  for (const std::string& text : networks)
    if (const auto network = parse_cidr(text)) addresses.push_back(nth_address(*network, kDnsNumber));
  return addresses;
}

}  // namespace hcpnet::spec
