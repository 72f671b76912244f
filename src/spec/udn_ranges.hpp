// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/net.hpp>
#include <hcpnet/spec/hosted_cluster.hpp>
#include <hcpnet/spec/primary_udn.hpp>
#include <string>
#include <vector>

namespace hcpnet::spec {

/// A network that a user-defined one must not overlap, because its machines have to reach what is there.
struct TakenNetwork {
  Cidr range;
  std::string owner;  ///< for messages: "the pod network of the management cluster"
};

/// OVN-Kubernetes' own join subnets of every user-defined network that names none.
[[nodiscard]] std::vector<Cidr> default_join_subnets();
/// Every range that is taken for `udn`, but for its own join subnets; `cluster` is its HostedCluster, where the set has
/// it. Texts that are no network are passed over.
[[nodiscard]] std::vector<TakenNetwork> taken_networks(const PrimaryUDN& udn, const HostedCluster* cluster);
/// Addresses of the management cluster's DNS Service: those given, else the tenth of each service network.
[[nodiscard]] std::vector<IpAddress> dns_addresses(const UdnManagement& management);
/// The `number`-th address of a network, counted from its own.
[[nodiscard]] IpAddress nth_address(const Cidr& network, std::uint8_t number);

}  // namespace hcpnet::spec
