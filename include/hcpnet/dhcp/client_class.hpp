// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bitset>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/dhcp/message.hpp>
#include <hcpnet/net.hpp>
#include <span>

namespace hcpnet::dhcp {

/// Classes of a client, by their place in Subnet::client_classes.
using ClassSet = std::bitset<kMaxClientClasses>;

/// The classes that a message puts its client in. An option that is malformed fits nothing. Precondition: no more than
/// kMaxClientClasses classes. Throws nothing. Thread-safe.
[[nodiscard]] ClassSet classify(std::span<const ClientClass> classes, const Message& message) noexcept;

/// Who asks for an address: the identity, and what decides which pools are open.
struct Client {
  MacAddress mac;
  ClassSet classes = {};

  Client(const MacAddress& m) noexcept : mac(m) {}  // NOLINT(google-explicit-constructor): a client of no class
  Client(const MacAddress& m, const ClassSet& c) noexcept : mac(m), classes(c) {}
};

}  // namespace hcpnet::dhcp
