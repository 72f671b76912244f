// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/spec/primary_udn.hpp>
#include <string>
#include <string_view>

#include "spec/rules.hpp"

namespace hcpnet::spec {

/// Where the network is primary: the control plane's namespace, or that of the virtual machines.
[[nodiscard]] std::string namespace_of(const PrimaryUDN& udn);
/// The name that OVN-Kubernetes gives a network (go-controller/pkg/util/multi_network.go).
[[nodiscard]] std::string ovn_network_name(PrimaryUDN::Scope scope, std::string_view namespace_, std::string_view name);

/// What is good of a network after the rules about it, for the rules about its machines.
struct UdnPlan {
  std::vector<Cidr> subnets, infrastructure;
  std::vector<IpAddress> gateways;
  bool is_complete = false;  ///< nothing of these was refused
};
/// `/spec/virtualMachines`
void check_udn_machines(Subject& subject, const PrimaryUDN& udn, const UdnPlan& plan);

}  // namespace hcpnet::spec
