// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dhcp6/duid.hpp>
#include <hcpnet/net.hpp>
#include <optional>
#include <string>

namespace hcpnet::dhcp {

/// An address that is kept for one client: a reservation of either family.
struct KeptAddress {
  IpAddress address;
  std::optional<MacAddress> mac;    ///< of the client; else one of the next two
  std::optional<dhcp6::Duid> duid;  ///< IPv6 only
  std::string host_name;            ///< a label; may be empty
  std::string subnet;               ///< Subnet::name
  bool is_by_hand = false;          ///< made by Server::reserve(), not by configuration
  std::string client_id = {};       ///< IPv4 only: option 61 as sent
  friend bool operator==(const KeptAddress&, const KeptAddress&) = default;
};

}  // namespace hcpnet::dhcp
