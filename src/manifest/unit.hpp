// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/manifest/network.hpp>
#include <hcpnet/spec/validate.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hcpnet::manifest {

/// What is deployed together: an Infra, or a server of its own.
struct Unit {
  spec::ObjectMeta owner;
  spec::Origin origin;   ///< of the owner
  std::string kind;      ///< of the owner
  std::string instance;  ///< label value; units of one namespace differ in it
  std::string service;   ///< base of Service names
  spec::ValidSet set;    ///< this unit alone
  AttachmentRef attachment;
  Cidr network;
  std::optional<Ipv4> gateway, dhcp, dns, proxy;  ///< addresses of what there is
  std::optional<std::string> dhcp_image, dns_image;
  std::string envoy_image;
  bool is_infra = false;
  /// Name of an object of this unit: "vlan7-dns" of an Infra; a server's own name for its one component.
  [[nodiscard]] std::string name(std::string_view component) const;
};

/// Every unit of the set. What keeps one from being deployed goes to `problems`.
[[nodiscard]] std::vector<Unit> make_units(const spec::ValidSet& set, Diagnostics& problems);

}  // namespace hcpnet::manifest
