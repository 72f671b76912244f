// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/net.hpp>
#include <optional>
#include <string>

namespace hcpnet::dhcp {

struct Interface {
  std::string name;
  int index = 0;
  bool is_loopback = false;
  std::optional<MacAddress> mac = {};  ///< as it was when it was looked for
};

/// The interface that holds the address. Every address of 127.0.0.0/8 is on the loopback interface. nullopt: there is
/// none. Throws boost::system::system_error when no list of interfaces is to be had.
[[nodiscard]] std::optional<Interface> look_for_interface(Ipv4 address);
/// The same; throws boost::system::system_error when there is none, too.
[[nodiscard]] Interface find_interface(Ipv4 address);

}  // namespace hcpnet::dhcp
