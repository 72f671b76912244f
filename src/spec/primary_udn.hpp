// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/spec/primary_udn.hpp>
#include <map>
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
/// `/spec/services`
void check_udn_services(Subject& subject, const PrimaryUDN& udn);

/// Of two that have the same `key` the later one is an error; `message` ends before the place of the earlier one.
template <class Key>
void claim_once(Subject& subject, std::map<Key, std::string>& owners, const Key& key, const std::string& pointer,
                const char* message, std::string_view code) {
  const auto [first, is_new] = owners.emplace(key, pointer);
  if (!is_new) subject.error(code, pointer, std::string(message) + subject.where(first->second));
}

}  // namespace hcpnet::spec
