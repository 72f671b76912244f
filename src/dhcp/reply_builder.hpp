// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/dhcp/client_class.hpp>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/dhcp/message.hpp>
#include <hcpnet/dhcp/responder.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::dhcp {

/// What of a client decides what it is told.
struct Addressee {
  ClassSet classes;
  std::string_view host_name;   ///< that configuration or the cluster knows it by; may be empty
  std::string_view label = {};  ///< the host name that its lease has, whoever told it; may be empty
};

/// Puts another lease time, and what follows from it, into an OFFER or ACK that a ReplyBuilder made.
void set_lease_time(std::chrono::seconds time, std::span<std::uint8_t> packet) noexcept;

/// Makes the replies of one subnet. Order of options: 53, 54, 51, 58, 59, 56, 61, 118, 81, then what the client asked
/// for in its order (the mask always before the router, RFC 2132 section 3.3), then 82 as the last one. A client
/// without a parameter list gets 1, 3, 6, 12, 15, and the configured options in ascending order. Where an option is
/// configured several times, the client's first class that has it wins, then the pool of the address, then the subnet.
class ReplyBuilder {
 public:
  /// `classes`: of the link.
  ReplyBuilder(const Subnet& subnet, const std::vector<ClientClass>& classes, const ResponderLimits& limits);

  /// OFFER or ACK with an address.
  [[nodiscard]] std::optional<Reply> give(MessageType type, const Message& request, Ipv4 address,
                                          const Addressee& client, std::size_t& omitted) const;
  /// ACK to an INFORM: no address, no times (RFC 2131 section 4.3.5).
  [[nodiscard]] std::optional<Reply> inform(const Message& request, const Addressee& client,
                                            std::size_t& omitted) const;
  /// RFC 2131 table 3, and section 4.3.2 for the destination.
  [[nodiscard]] std::optional<Reply> refuse(const Message& request, std::string_view reason) const;

 private:
  struct ConfiguredPool {
    Ipv4Range range;
    OptionSet options;
  };
  struct ConfiguredClass {
    OptionSet options;
    Boot boot;
  };
  /// What is configured for one client at one address, the most specific first.
  class Layers;

  [[nodiscard]] Message start(MessageType type, const Message& request) const;
  static void add_echoed(const Message& request, Message& reply);
  void add_fqdn(const Message& request, std::string_view label, Message& reply) const;
  void add_boot(const ClassSet& classes, Message& reply) const;
  static void add_requested(const Message& request, const Layers& layers, OptionSet& out);
  [[nodiscard]] std::optional<Reply> finish(MessageType type, const Message& request, Message&& reply,
                                            std::size_t mandatory, std::size_t& omitted) const;
  [[nodiscard]] std::size_t room(const Message& request) const noexcept;

  Ipv4 server_id_;
  Ipv4Cidr cidr_;
  std::chrono::seconds lease_time_;
  std::string names_domain_;
  ResponderLimits limits_;
  OptionSet configured_;                  // of the subnet; ascending by code; host name excepted
  std::vector<ConfiguredPool> pools_;     // that have options of their own, or may hide some that have
  std::vector<ConfiguredClass> classes_;  // in the order of ClassSet
  Boot boot_;
};

}  // namespace hcpnet::dhcp
