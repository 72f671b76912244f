// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dhcp/allocator.hpp>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/dhcp/lease_file.hpp>
#include <hcpnet/dhcp/lease_import.hpp>
#include <hcpnet/dhcp/message.hpp>
#include <hcpnet/net.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::dhcp {

struct ResponderLimits {
  MessageLimits message;
  AllocatorLimits allocator;
  std::size_t max_reply_bytes = 1472;  ///< UDP payload of one Ethernet frame; a client's option 57 may lower it
  std::size_t default_reply_bytes =
      548;  ///< for a client that says nothing: RFC 2131 section 2, 576 bytes with IP and UDP headers
  std::chrono::seconds min_time_left{10};    ///< less than this of a stored lease is not acknowledged any more
  std::size_t max_client_id_bytes = 512;     ///< a longer option 61 makes the message malformed
  std::size_t max_expired_per_message = 64;  ///< leases that end while one message is handled
  std::size_t max_rated_clients =
      16'384;  ///< of a link with a rate limit, counted apart; of two in one place the later one starts afresh
};

/// Where a reply goes (RFC 2131 section 4.1).
enum class Delivery : std::uint8_t {
  relay,      ///< to giaddr, port 67
  address,    ///< to an address that the client already uses, port 68
  hardware,   ///< to yiaddr, port 68, in a frame to the client's hardware address: nobody answers ARP for yiaddr yet
  broadcast,  ///< to 255.255.255.255, port 68
};

struct Reply {
  MessageType type = MessageType::offer;
  std::vector<std::uint8_t> packet;
  Delivery delivery = Delivery::broadcast;
  Ipv4 source{};  ///< the subnet's server_id
  Endpoint destination{};
  MacAddress hardware{};  ///< with Delivery::hardware
};

/// A change of the lease table, to be written before the reply leaves.
struct LeaseChange {
  std::size_t subnet = 0;  ///< index in Config::subnets
  LeaseEvent event;
};

/// An address to be asked for before it is offered: by an ARP probe (RFC 5227), or where its client is behind a relay
/// by an ICMP echo request (RFC 792).
struct AddressProbe {
  Ipv4 address;
  MacAddress client;  ///< its own answer to ARP is none
  Ipv4 source;        ///< our address
  bool is_relayed = false;
  std::chrono::milliseconds timeout{};
  std::string client_id = {};  ///< of the client, option 61
};

/// What one message led to.
struct Outcome {
  std::optional<MessageType> type;  ///< of the request, as far as it could be read
  std::string_view dropped;         ///< why there is no reply, a fixed word; empty when all is as it should be
  std::size_t subnet = 0;           ///< index in Config::subnets of the subnet that dealt with it
  std::optional<Reply> reply;
  std::optional<AddressProbe> probe;  ///< the reply may leave only when nobody has answered to it in time
  std::vector<LeaseChange> changes;   ///< in order; the reply may leave only when all of them are durable
  std::size_t omitted_options = 0;    ///< did not fit into the reply
};

/// The server's side of RFC 2131 section 4.3 for any number of subnets: message and time in, reply and changes out.
///
/// Pure: no sockets, no clock, no disk. The caller writes the changes, then calls settle() with the result, and sends
/// the reply only if they were written. One thread; the time must not go back. Who rounds it down to whole seconds sets
/// AllocatorLimits::reuse_delay.
class Responder {
 public:
  using Time = Allocator::Time;

  /// Precondition: cidr of the subnets differ, so do their server_id but within a shared network, and lease times are
  /// at least a second.
  explicit Responder(Config config, ResponderLimits limits = {});
  ~Responder();
  Responder(Responder&&) noexcept;
  Responder& operator=(Responder&&) noexcept;

  [[nodiscard]] const Config& config() const noexcept;
  /// Serves `config` from now on, with the leases and offers of before. Precondition: the same subnets, by cidr, in the
  /// same order and on the same links.
  void replace(Config config);
  /// Takes what was stored for each subnet, before the first message. Returns changes to be stored again.
  std::vector<LeaseChange> restore(std::vector<std::vector<Lease>> by_subnet, Time now);

  /// Deals with a UDP payload that came in on the interface of `subnet`, or of another one on its link.
  Outcome handle(ByteView payload, std::size_t subnet, Time now);
  /// The same for a message whose outcome did not stand, because somebody uses the address or another server has given
  /// it away: it comes in for the second time and counts for no rate limit.
  Outcome handle_again(ByteView payload, std::size_t subnet, Time now);
  /// Somebody answered to the probe of an outcome: the address rests. nullopt: it is not offered to that client any
  /// more. `subnet`: of the outcome.
  std::optional<LeaseChange> report_conflict(std::size_t subnet, const AddressProbe& probe, Time now);
  /// Whether what a probe was for is still offered to its client.
  [[nodiscard]] bool has_offer(std::size_t subnet, const AddressProbe& probe) const;
  /// Tells whether the changes of an outcome are durable.
  void settle(const std::vector<LeaseChange>& changes, bool is_durable, Time now);
  /// What may be said of an outcome whose changes did not reach the disk: to a renewal the time that is left of the
  /// lease as it is there, which a restart would know too. Call it after settle(). nullopt: nothing.
  [[nodiscard]] std::optional<Reply> acknowledge_stored(const Outcome& outcome, Time now) const;

  /// Adds to `problems` everything that stands against taking over the leases of a list. Changes nothing.
  void check_import(const LeaseList& list, Time now, Diagnostics& problems) const;
  /// Takes over the leases of a list, with the times that they have: all that matters is in the changes, to be written
  /// at once and then settled by settle_import(). No message is to be handled between the two. Precondition:
  /// check_import() added no error.
  std::vector<LeaseChange> import_leases(const LeaseList& list, Time now, LeaseImport& outcome);
  void settle_import(const std::vector<LeaseChange>& changes, bool is_durable);
  /// Ends a lease, or the rest of a declined address, whoever has it. nullopt: there is none on that address.
  std::optional<LeaseChange> end(Ipv4 address, Time now);
  /// As Allocator::take(); the address tells the subnet.
  std::vector<LeaseChange> take(const Lease& lease, Time now);

  /// Ends what is due: at most `max` leases per link.
  std::vector<LeaseChange> expire(Time now, std::size_t max);
  [[nodiscard]] std::optional<Time> next_due() const;

  [[nodiscard]] std::vector<Lease> leases() const;  ///< durable ones, ordered by address
  [[nodiscard]] Allocator::Usage usage(std::size_t subnet) const { return usage_by_subnet()[subnet].all; }
  [[nodiscard]] std::vector<Allocator::PoolUsage> pools(std::size_t subnet) const {
    return usage_by_subnet()[subnet].pools;
  }
  [[nodiscard]] std::vector<Allocator::SubnetUsage> usage_by_subnet() const;  ///< in the order of Config::subnets

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hcpnet::dhcp
