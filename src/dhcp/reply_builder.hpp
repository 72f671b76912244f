// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/dhcp/message.hpp>
#include <hcpnet/dhcp/responder.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace hcpnet::dhcp {

/// Makes the replies of one subnet. Order of options: 53, 54, 51, 58, 59, 56, 61, then what the client asked for in its
/// order (the mask always before the router, RFC 2132 section 3.3), then 82 as the last one. A client without a
/// parameter list gets 1, 3, 6, 12, 15, and the configured options in ascending order.
class ReplyBuilder {
 public:
  ReplyBuilder(const Subnet& subnet, const ResponderLimits& limits);

  /// OFFER or ACK with an address.
  [[nodiscard]] std::optional<Reply> give(MessageType type, const Message& request, Ipv4 address,
                                          std::string_view host_name, std::size_t& omitted) const;
  /// ACK to an INFORM: no address, no times (RFC 2131 section 4.3.5).
  [[nodiscard]] std::optional<Reply> inform(const Message& request, std::string_view host_name,
                                            std::size_t& omitted) const;
  /// RFC 2131 table 3, and section 4.3.2 for the destination.
  [[nodiscard]] std::optional<Reply> refuse(const Message& request, std::string_view reason) const;

 private:
  [[nodiscard]] Message start(MessageType type, const Message& request) const;
  void add_requested(const Message& request, std::string_view host_name, OptionSet& out) const;
  void add_configured(std::uint8_t code, std::string_view host_name, OptionSet& out) const;
  [[nodiscard]] std::optional<Reply> finish(MessageType type, const Message& request, Message&& reply,
                                            std::size_t mandatory, std::size_t& omitted) const;
  [[nodiscard]] std::size_t room(const Message& request) const noexcept;

  Ipv4 server_id_;
  std::chrono::seconds lease_time_;
  ResponderLimits limits_;
  OptionSet configured_;  // ascending by code; host name excepted
};

}  // namespace hcpnet::dhcp
