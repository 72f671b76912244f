// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/dhcp6/responder.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::dhcp6 {

/// Puts another lifetime, and what follows from it, where a reply has that of an address.
void set_lifetime(std::chrono::seconds lifetime, const GivenAddress& given, std::vector<std::uint8_t>& packet);

/// One message on its way through one subnet: decides, changes the leases, writes the reply.
class Exchange {
 public:
  using Time = Responder::Time;

  Exchange(const ResponderConfig& config, const ResponderLimits& limits, std::size_t subnet, Allocator& allocator,
           const Packet& packet, const Origin& origin, Time now, Outcome& out);
  void run();

 private:
  /// What an IA_NA of the reply says.
  struct Answer {
    std::uint32_t iaid = 0;
    std::optional<Ipv6> given;
    std::vector<Ipv6> ended;  ///< with lifetimes 0: the client must not use them any longer
    std::optional<Status> status;
  };

  // exchange.cpp
  [[nodiscard]] std::string_view reason_to_ignore() const;
  [[nodiscard]] bool needs_multicast() const;
  bool read_associations();
  void solicit();
  void request();
  void confirm();
  void extend(bool is_rebind);
  void release();
  void decline();
  void information();

  [[nodiscard]] Client client_of(const IaNa& ia) const;
  [[nodiscard]] bool is_on_link(const Ipv6& address) const { return subnet_.cidr.contains(IpAddress(address)); }
  [[nodiscard]] std::string_view name_of(const Client& client) const;
  [[nodiscard]] Answer assign(const IaNa& ia, bool is_committed);
  [[nodiscard]] bool may_extend(const IaNa& ia) const;
  void take(const Client& client, const Ipv6& address);

  // exchange_reply.cpp
  void begin(MessageType type);
  void add_answer(const Answer& answer);
  void add_refused_kinds();
  void add_configuration();
  [[nodiscard]] bool is_wanted(std::uint16_t code) const;
  void status_only(Status status, std::string_view text);
  void finish();

  const ResponderConfig& config_;
  const ResponderLimits& limits_;
  std::size_t index_;
  const Subnet& subnet_;
  Allocator& allocator_;
  const Packet& packet_;
  const Message& message_;
  const Origin& origin_;
  Time now_;
  Outcome& out_;
  std::optional<Client> sender_;
  std::vector<IaNa> associations_;
  std::vector<std::uint8_t> reply_;
  std::vector<GivenAddress> given_;  ///< until finish() with places in reply_
  MessageType reply_type_ = MessageType::reply;
};

}  // namespace hcpnet::dhcp6
