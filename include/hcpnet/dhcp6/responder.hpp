// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dhcp/lease_file.hpp>
#include <hcpnet/dhcp/lease_import.hpp>
#include <hcpnet/dhcp6/allocator.hpp>
#include <hcpnet/dhcp6/config.hpp>
#include <hcpnet/dhcp6/lease.hpp>
#include <hcpnet/dhcp6/message.hpp>
#include <hcpnet/net.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hcpnet::dhcp6 {

struct ResponderLimits {
  MessageLimits message;
  AllocatorLimits allocator;
  std::size_t max_associations = 16;         ///< IA options that are dealt with in one message; the rest is ignored
  std::size_t max_addresses = 16;            ///< in one of them; the rest is ignored
  std::chrono::seconds min_time_left{10};    ///< less than this of a stored lease is not acknowledged any more
  std::size_t max_expired_per_message = 64;  ///< leases that end while one message is handled
};

/// What is served, to whom, as whom.
struct ResponderConfig {
  std::vector<Subnet> subnets;
  std::unordered_map<MacAddress, std::string> host_names;  ///< observed: VM name by interface address
  Duid server_id;
};

/// Where a datagram came from.
struct Origin {
  std::size_t subnet = 0;    ///< of the interface
  Ipv6 source;               ///< the client or the outermost relay
  bool is_multicast = true;  ///< sent to ff02::1:2
};

/// Where a reply says how long its client has an address, in bytes before the end of the packet.
struct GivenAddress {
  Ipv6 address;
  std::size_t times = 0;      ///< T1 and T2
  std::size_t lifetimes = 0;  ///< preferred and valid
};

struct Reply {
  MessageType type = MessageType::reply;  ///< of the innermost message
  std::vector<std::uint8_t> packet;
  std::uint16_t port = kClientPort;  ///< at the address that the request came from
  std::vector<GivenAddress> given = {};
};

/// What one message led to.
struct Outcome {
  std::optional<MessageType> type;  ///< of the innermost message, as far as it could be read
  std::string_view dropped;         ///< why there is no reply, a fixed word; empty when all is as it should be
  std::optional<Reply> reply;
  std::vector<LeaseChange> changes;  ///< in order; the reply may leave only when all of them are durable
};

/// The server's side of RFC 8415 section 18.3 for any number of subnets, addresses only (IA_NA): message and time in,
/// reply and changes out.
///
/// Pure: no sockets, no clock, no disk. The caller writes the changes, then calls settle() with the result, and sends
/// the reply only if they were written. One thread; the time must not go back. Who rounds it down to whole seconds sets
/// AllocatorLimits::reuse_delay.
class Responder {
 public:
  using Time = Allocator::Time;

  /// Preconditions: the networks of the subnets differ; pools lie in them; lease times are at least a second; server_id
  /// is not empty.
  explicit Responder(ResponderConfig config, ResponderLimits limits = {});
  ~Responder();
  Responder(Responder&&) noexcept;
  Responder& operator=(Responder&&) noexcept;

  [[nodiscard]] const ResponderConfig& config() const noexcept;
  /// Serves `config` from now on, with the leases and offers of before. Precondition: the same subnets, by cidr, in the
  /// same order.
  void replace(ResponderConfig config);
  /// Takes what was stored, before the first message; each lease goes to the subnet that its address is in.
  void restore(std::vector<Lease> leases, Time now);

  Outcome handle(ByteView payload, const Origin& origin, Time now);
  /// Tells whether the changes of an outcome are durable.
  void settle(const std::vector<LeaseChange>& changes, bool is_durable, Time now);
  /// What may be said of an outcome whose changes did not reach the disk: where all its addresses are leased there, the
  /// time that is left of those leases, which a restart would know too. Call it after settle(). nullopt: nothing.
  [[nodiscard]] std::optional<Reply> acknowledge_stored(const Outcome& outcome, Time now) const;

  /// Adds to `problems` everything that stands against taking over the leases of a list. Changes nothing.
  void check_import(const dhcp::LeaseList& list, Time now, Diagnostics& problems) const;
  /// Takes over the leases of a list, with the times that they have: all that matters is in the changes, to be written
  /// at once and then settled by settle_import(). No message is to be handled between the two. Precondition:
  /// check_import() added no error.
  std::vector<LeaseChange> import_leases(const dhcp::LeaseList& list, Time now, dhcp::LeaseImport& outcome);
  void settle_import(const std::vector<LeaseChange>& changes, bool is_durable);
  /// Ends a lease, or the rest of a declined address, whoever has it. nullopt: there is none on that address.
  std::optional<LeaseChange> end(const Ipv6& address, Time now);

  /// Ends what is due: at most `max` leases per subnet.
  std::vector<LeaseChange> expire(Time now, std::size_t max);
  [[nodiscard]] std::optional<Time> next_due() const;

  [[nodiscard]] std::vector<Lease> leases() const;  ///< durable ones, ordered by address
  [[nodiscard]] Allocator::Usage usage(std::size_t subnet) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hcpnet::dhcp6
