// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <hcpnet/dhcp/lease_import.hpp>
#include <hcpnet/dhcp6/config.hpp>
#include <hcpnet/dhcp6/lease.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hcpnet::dhcp6 {

struct AllocatorLimits {
  std::chrono::seconds offer_hold{10};      ///< an advertised address waits this long for its REQUEST
  std::chrono::seconds decline_hold{3600};  ///< a declined address stays out of use
  /// A lease ends so long after it expires. Give one second where the time that is passed in is rounded down, as
  /// dhcp::Server does: a lease bound late in a second lasts into the one that it expires in.
  std::chrono::seconds reuse_delay{0};
  std::size_t max_offers = 65'536;           ///< at a time; beyond it nothing new is advertised
  std::size_t max_leases = 1'048'576;        ///< kept in memory; beyond it only ended ones are used again
  std::size_t max_per_client = 16;           ///< addresses in use at a time: identity associations are for the asking
  std::size_t max_declined_per_client = 16;  ///< resting at a time; of more it is not believed
};

/// Which identity association has which address of one subnet, and which address is next.
///
/// With Identity::mac an association is its interface's, whatever DUID and IAID it shows. Two things make it another
/// one while the address is in use: another IAID under the same DUID; and another DUID from a link-local address which
/// tells that it is another interface (the hardware address in a DUID may be that of a neighbour in the same host).
/// Where the hardware address is not known, and with Identity::duid, DUID and IAID decide. An address is given in this
/// order: the reservation; the present binding; the previous one while nobody took it; one that the client names and
/// nobody ever had; the lowest never used; the one out of use longest. Each step takes constant time, or logarithmic in
/// the number of leases. Pure: the time comes as an argument and must not go back. One thread.
class Allocator {
 public:
  using Time = std::chrono::sys_seconds;
  struct Usage {
    std::uint64_t pool_size = 0, bound = 0, offered = 0, declined = 0;
  };

  explicit Allocator(const Subnet& subnet, AllocatorLimits limits = {});
  ~Allocator();
  Allocator(Allocator&&) noexcept;
  Allocator& operator=(Allocator&&) noexcept;

  /// Takes another pool and other reservations; leases and offers stay.
  void reconfigure(const Subnet& subnet);
  /// Takes what was stored, before the first client.
  void restore(std::vector<Lease> leases, Time now);

  /// An address for the client, held for it. nullopt: none left, or the client has too many.
  std::optional<Ipv6> offer(const Client& client, std::span<const Ipv6> hints, Time now);
  /// The address of the client's present binding, whatever it is offered instead.
  [[nodiscard]] std::optional<Ipv6> bound(const Client& client) const;
  /// When the lease on the address ends according to the disk, whatever was bound since and is not there; of several
  /// ends that may be there the earliest. nullopt: there is no lease.
  [[nodiscard]] std::optional<Time> stored_end(const Ipv6& address) const;
  /// True when nobody else has the address and it may be given to this client.
  [[nodiscard]] bool is_available(const Client& client, const Ipv6& address) const;

  /// Binds what offer() held, or renews; that an older binding of the client ends is told first. The new lease is the
  /// last event; it counts as a lease, and the older one as ended, only after confirm(): what did not reach the disk
  /// leaves the client where it was, and a renewal that makes the lease shorter does so after confirm() too.
  /// Precondition: offer() returned the address at this time.
  std::vector<LeaseEvent> bind(const Client& client, const Ipv6& address, std::string host_name, Time now);
  /// The binding is on disk.
  void confirm(const Lease& lease);
  /// The binding did not reach the disk: a new one becomes an offer again.
  void revert(const Ipv6& address, Time now);

  /// RFC 8415 section 18.3.7. nullopt: it is not this client's.
  std::optional<LeaseEvent> release(const Client& client, const Ipv6& address, Time now);
  /// RFC 8415 section 18.3.8. nullopt: it is not this client's, or the client has declined too many.
  std::optional<LeaseEvent> decline(const Client& client, const Ipv6& address, Time now);

  /// Ends what is bound, or lets rest no longer, whoever has it. nullopt: neither.
  std::optional<LeaseEvent> end(const Ipv6& address, Time now);

  /// What stands against adopt().
  [[nodiscard]] dhcp::AdoptObstacle obstacle(const Lease& lease, Time now) const;
  /// Addresses that may still be bound which never were.
  [[nodiscard]] std::size_t room() const noexcept;
  struct Adopted {
    dhcp::Adoption how = dhcp::Adoption::left_out;
    std::optional<LeaseEvent> event;  ///< to be stored; none where nothing changes
  };
  /// Takes over a lease from elsewhere, with the times that it has. It counts only after settle_adopted(); between the
  /// two no client is to be dealt with. An offer of the address ends. Preconditions: obstacle() is none, room() is not
  /// used up; of a client's leases the newest comes first, and those that ended come last, the newest at the end.
  Adopted adopt(const Lease& lease, Time now);
  /// Whether what adopt() returned is on disk: if not, it is forgotten.
  void settle_adopted(const LeaseEvent& event, bool is_durable);

  /// Ends what is due, `max` at most; returns the leases that expired.
  std::vector<LeaseEvent> expire(Time now, std::size_t max);
  /// When expire() next has work.
  [[nodiscard]] std::optional<Time> next_due() const;

  /// Confirmed leases of every state, ordered by address.
  [[nodiscard]] std::vector<Lease> leases() const;
  [[nodiscard]] Usage usage() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hcpnet::dhcp6
