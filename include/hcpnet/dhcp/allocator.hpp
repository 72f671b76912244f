// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <hcpnet/dhcp/client_class.hpp>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/dhcp/lease_import.hpp>
#include <hcpnet/net.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::dhcp {

struct AllocatorLimits {
  std::chrono::seconds offer_hold{10};      ///< an offered address waits this long for its REQUEST
  std::chrono::seconds decline_hold{3600};  ///< a declined address stays out of use
  std::chrono::seconds conflict_hold{300};  ///< so does one that answered a probe; the next probe would find out again
  /// A lease ends so long after it expires. Give one second where the time that is passed in is rounded down, as Server
  /// does: a lease bound late in a second lasts into the one that it expires in. Subnet::shared_store adds its max_skew
  /// and three seconds.
  std::chrono::seconds reuse_delay{0};
  /// Bound or offered, where clients are known by identifiers, of which one hardware address may show many.
  std::size_t max_per_hardware_address = 16;
  std::size_t max_declined_per_client = 16;  ///< resting at a time, by hardware address; of more it is not believed
  std::size_t max_offers = 65'536;           ///< at a time; beyond it nothing new is offered
  std::size_t max_leases =
      4'194'304;  ///< kept in memory, ended ones included; beyond it only ended ones are used again
};

/// Which client has which address of one link, a subnet or the several of a shared network, and which address is next.
///
/// One lease per client, who is known by its hardware address, or by its client identifier where Subnet::identity says
/// so. An address is given in this order: the client's reservation; its present binding; its previous
/// one while nobody took it (RFC 2131 section 4.3.1); the one it asks for; what it was offered before; from the pools
/// of its classes, or else from those open to every client, the lowest that was never used of the first pool that has
/// one; of these pools the one that has been out of use longest. Network, broadcast, server, router and DNS addresses,
/// other clients' reservations and exclusions are never given, and a pool of classes only to clients of one of them.
/// Each step takes constant time, or logarithmic in the number of leases and linear in that of pools, whatever their
/// size. Pure: the time comes as an argument and must not go back. One thread.
class Allocator {
 public:
  using Time = std::chrono::sys_seconds;

  /// What a client may do with an address.
  enum class Claim : std::uint8_t {
    own,      ///< bound or offered to it
    retired,  ///< bound to it, but not its to renew: outside today's pools or in one for other classes, or reserved
              ///< (the client's own reservation elsewhere included)
    free,     ///< nobody's; may be bound
    taken,    ///< somebody else's, or declined, or the client has enough
    outside,  ///< not given to this client: outside the pools that are open to it, and reservations
  };
  struct Held {
    Ipv4 address;
    LeaseState state;  ///< bound, released or expired
  };
  /// The counts of a subnet hold those outside its pools as well: reservations, and leases of former pools.
  struct Usage {
    std::uint64_t pool_size = 0, bound = 0, offered = 0, declined = 0;
  };
  struct PoolUsage {
    Ipv4Range range;  ///< as configured; pool_size counts what is left of it
    Usage usage;
  };
  struct SubnetUsage {
    Usage all;
    std::vector<PoolUsage> pools;  ///< as they are configured
  };

  /// Precondition: of one link; at least one, the networks apart.
  explicit Allocator(std::span<const Subnet> subnets, AllocatorLimits limits = {});
  explicit Allocator(const Subnet& subnet, AllocatorLimits limits = {}) : Allocator(std::span(&subnet, 1), limits) {}
  ~Allocator();
  Allocator(Allocator&&) noexcept;
  Allocator& operator=(Allocator&&) noexcept;

  /// Takes other pools and reservations; leases and offers stay. Precondition: the same networks in the same order.
  /// Takes time linear in the number of leases. Where clients are known by something else from now on, offers end; of
  /// bindings that turn out to be one client's it goes on from the newest, and the others last until they are renewed
  /// no more.
  void reconfigure(std::span<const Subnet> subnets);
  void reconfigure(const Subnet& subnet) { reconfigure(std::span(&subnet, 1)); }
  /// Takes what was stored, before the first client. Where one client has two bindings the newer wins; the other,
  /// ended, is returned to be stored again. One of another hardware address, though, may be in use by another machine
  /// with the same client identifier: it is nobody's to get and lasts until it expires.
  std::vector<Lease> restore(std::vector<Lease> leases, Time now);

  /// An address for a DISCOVER, held for this client. nullopt: none left, or has_enough().
  std::optional<Ipv4> offer(const Client& client, std::optional<Ipv4> requested, Time now);
  /// True where one more address would be beyond AllocatorLimits::max_per_hardware_address.
  [[nodiscard]] bool has_enough(const Client& client) const;
  /// Forgets what was offered to this client.
  void withdraw(const Client& client);

  /// The client's binding, present or previous.
  [[nodiscard]] std::optional<Held> find(const Client& client) const;
  /// What was offered to it is its own as long as the address is in a pool: a client may say less in its REQUEST than
  /// in its DISCOVER, and be of another class.
  [[nodiscard]] Claim claim(const Client& client, Ipv4 address) const;
  /// What the relay said when the client got the address that it is bound to now. Empty: nothing, or it is not bound.
  [[nodiscard]] std::string relay_information(const Client& client, Ipv4 address) const;
  [[nodiscard]] std::optional<Ipv4> reservation(const Client& client) const;
  /// When the client's lease on the address ends according to the disk, whatever was bound since and is not there; of
  /// several ends that may be there the earliest. nullopt: it is not bound there.
  [[nodiscard]] std::optional<Time> stored_end(const Client& client, Ipv4 address) const;

  /// Binds, or renews. The new lease is the last event; that an older binding of the same client ends is told first,
  /// but one of another hardware address lasts until it expires: another machine may have the same client identifier.
  /// The new one counts as a lease, and the older one as ended, only after confirm(): what did not reach the disk
  /// leaves the client where it was, and a renewal that makes the lease shorter does so after confirm() too.
  /// Precondition: claim() is own or free.
  std::vector<LeaseEvent> bind(const Client& client, Ipv4 address, std::string_view host_name, Time now);
  /// The binding is on disk.
  void confirm(const Client& client, Ipv4 address);
  /// The same for what bind() gave. It may have been taken back: of two requests that waited for the disk the second
  /// may be on it although the first is not. Then it is the client's again.
  void confirm(const Lease& lease);
  /// The binding did not reach the disk: a new one becomes an offer again, so that the client may ask once more.
  void revert(const Client& client, Ipv4 address, Time now);

  /// RFC 2131 section 4.3.4. nullopt: it is not this client's.
  std::optional<LeaseEvent> release(const Client& client, Ipv4 address, Time now);
  /// RFC 2131 section 4.3.3. nullopt: it is not this client's, or the client has declined too many.
  std::optional<LeaseEvent> decline(const Client& client, Ipv4 address, Time now);
  /// False beyond AllocatorLimits::max_declined_per_client.
  [[nodiscard]] bool may_decline(const Client& client, Time now);
  /// Somebody uses an address that is offered to this client. nullopt: it is not.
  std::optional<LeaseEvent> report_conflict(const Client& client, Ipv4 address, Time now);
  /// Whether the address waits for this client's REQUEST.
  [[nodiscard]] bool has_offer(const Client& client, Ipv4 address) const;

  /// Ends what is bound, or lets rest no longer, whoever has it. nullopt: neither.
  std::optional<LeaseEvent> end(Ipv4 address, Time now);

  /// What another server has written of an address (Subnet::shared_store) goes before what is known here: a lease that
  /// it contradicts ends, an offer of the address too where somebody has it now. Returns what has changed, to be
  /// stored. It counts at once.
  std::vector<LeaseEvent> take(const Lease& written, Time now);

  /// What stands against adopt().
  [[nodiscard]] AdoptObstacle obstacle(const Lease& lease, Time now) const;
  /// Addresses that may still be bound which never were.
  [[nodiscard]] std::size_t room() const noexcept;
  struct Adopted {
    Adoption how = Adoption::left_out;
    std::optional<LeaseEvent> event;  ///< to be stored; none where nothing changes
  };
  /// Takes over a lease from elsewhere, with the times that it has. It counts only after settle_adopted(); between the
  /// two no client is to be dealt with. An offer of the address ends. Preconditions: obstacle() is none, room() is not
  /// used up; of a client's leases the newest comes first, and those that ended come last, the newest at the end.
  Adopted adopt(const Lease& lease, Time now);
  /// Whether what adopt() returned is on disk: if not, it is forgotten.
  void settle_adopted(const LeaseEvent& event, bool is_durable);

  /// Ends what is due, at most `max` leases and as many offers; returns the leases that expired.
  std::vector<LeaseEvent> expire(Time now, std::size_t max);
  /// When expire() next has work; may be early, never late.
  [[nodiscard]] std::optional<Time> next_due() const;

  /// Confirmed leases of every state, ordered by address.
  [[nodiscard]] std::vector<Lease> leases() const;
  [[nodiscard]] Usage usage() const;  ///< of all subnets
  [[nodiscard]] Usage usage(std::size_t subnet) const { return usage_by_subnet()[subnet].all; }
  [[nodiscard]] std::vector<PoolUsage> pools(std::size_t subnet) const { return usage_by_subnet()[subnet].pools; }
  /// In the order of the subnets. Takes time linear in the number of offers, whatever that of subnets.
  [[nodiscard]] std::vector<SubnetUsage> usage_by_subnet() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hcpnet::dhcp
