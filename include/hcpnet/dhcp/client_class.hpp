// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bitset>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/dhcp/message.hpp>
#include <hcpnet/net.hpp>
#include <span>
#include <string>
#include <utility>

namespace hcpnet::dhcp {

/// Classes of a client, by their place in Subnet::client_classes.
using ClassSet = std::bitset<kMaxClientClasses>;

/// The classes that a message puts its client in. An option that is malformed fits nothing. Precondition: no more than
/// kMaxClientClasses classes. Throws nothing. Thread-safe.
[[nodiscard]] ClassSet classify(std::span<const ClientClass> classes, const Message& message) noexcept;
/// The same with another option 82 than that of the message.
[[nodiscard]] ClassSet classify(std::span<const ClientClass> classes, const Message& message,
                                ByteView relay_information) noexcept;

/// Both sub-options that classes ask for, with the longest values that there can be.
inline constexpr std::size_t kMaxRelayInformationBytes = 2 * (2 + 255);
/// What classes ask for of a message's option 82, as an option 82 of its own. Empty where it has none of it.
[[nodiscard]] std::string relay_information_of(const Message& message);

/// Who asks for an address: the identity, and what decides which pools are open.
struct Client {
  MacAddress mac;
  ClassSet classes = {};
  std::string relay_information = {};  ///< what the relay said of it, to be kept with the lease
  std::string client_id = {};          ///< option 61 as sent; empty when it sent none

  Client(const MacAddress& m) noexcept : mac(m) {}  // NOLINT(google-explicit-constructor): a client of no class
  Client(const MacAddress& m, const ClassSet& c, std::string relay = {}, std::string id = {}) noexcept
      : mac(m), classes(c), relay_information(std::move(relay)), client_id(std::move(id)) {}
};

}  // namespace hcpnet::dhcp
