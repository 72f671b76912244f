// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/assert.hpp>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dhcp/allocator.hpp>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "dhcp/decline_counts.hpp"
#include "dhcp/lease_table.hpp"
#include "dhcp/offer_table.hpp"
#include "dhcp/pool_set.hpp"
#include "dhcp/shared_lease.hpp"

namespace hcpnet::dhcp {
namespace {

void add(const Allocator::Usage& part, Allocator::Usage& sum) {
  sum.pool_size += part.pool_size;
  sum.bound += part.bound;
  sum.offered += part.offered;
  sum.declined += part.declined;
}

LeaseTable::Client shown(const Client& client) noexcept {
  return {client.mac, client.client_id};
}
LeaseTable::Client shown(const Lease& lease) noexcept {
  return {lease.mac, lease.client_id};
}
LeaseTable::Client shown(const LeaseRecord& record) noexcept {
  return {record.mac, record.texts.client_id()};
}

}  // namespace

struct Allocator::Impl {
  explicit Impl(const AllocatorLimits& l) : limits(l), offers(l.offer_hold), declines(l.decline_hold) {}

  void configure(std::span<const Subnet> configured);
  [[nodiscard]] bool is_used(Ipv4 address) const;
  void use(Identity identity);
  [[nodiscard]] bool is_others(const LeaseTable::Client& client, Ipv4 address) const;
  [[nodiscard]] bool is_others(const Client& client, Ipv4 address) const { return is_others(shown(client), address); }
  [[nodiscard]] bool is_bound(const Client& client, Ipv4 address) const;
  [[nodiscard]] bool is_allowed(const Client& client, Ipv4 address) const;
  [[nodiscard]] std::optional<Ipv4> reservation(const Client& client) const;
  [[nodiscard]] const OfferTable::Offer* offer_of(const LeaseTable::Client& client) const {
    return offers.find(table.key_of(client));
  }
  [[nodiscard]] bool has_offer(const Client& client, Ipv4 address) const;
  [[nodiscard]] bool is_offered(const Client& client, Ipv4 address) const;
  [[nodiscard]] bool has_enough(const Client& client) const;
  [[nodiscard]] Claim claim(const Client& client, Ipv4 address, bool is_allowed) const;
  [[nodiscard]] Claim claim(const Client& client, Ipv4 address) const {
    return claim(client, address, is_allowed(client, address));
  }
  [[nodiscard]] std::optional<Ipv4> choose(const Client& client, std::optional<Ipv4> requested);
  [[nodiscard]] std::optional<Ipv4> choose_known(const Client& client, std::optional<Ipv4> requested) const;
  [[nodiscard]] std::optional<Ipv4> choose_from_pools(const ClassSet& classes, bool is_guarded);
  [[nodiscard]] bool make_room();
  void skip_used();
  void hold(const Client& client, Ipv4 address, Time now);
  void drop_offer(Ipv4 address);
  void end(LeaseRecord& record, LeaseState state, Time now);
  LeaseEvent lay_to_rest(const Client& client, Ipv4 address, LeaseEventKind why, Time until, Time now);
  void confirm(const LeaseTable::Client& client, Ipv4 address, std::optional<Time> expires);
  void end_left(Ipv4 address);
  void stay(const Client& client, Ipv4 address);
  void restore_owner(LeaseRecord& record, Time now, std::vector<Lease>& superseded);
  [[nodiscard]] bool is_never_given(Ipv4 address) const;
  [[nodiscard]] std::size_t subnet_of(Ipv4 address) const;
  [[nodiscard]] std::size_t group_of(Ipv4 address) const;
  LeaseRecord& obtain(Ipv4 address) { return table.obtain(address, group_of(address)); }
  [[nodiscard]] std::vector<Usage> usage_by_group() const;
  Adopted bind_adopted(const Lease& lease);
  Adopted let_rest(const Lease& lease);
  Adopted remember(const Lease& lease, Time now);
  LeaseRecord& fill(const Lease& lease, LeaseState state);
  void take_running(const Lease& lease);
  void put_back(const Lease& lease);
  [[nodiscard]] Lease lease(const LeaseRecord& record) const;
  [[nodiscard]] LeaseEvent event(LeaseEventKind kind, const LeaseRecord& record) const { return {kind, lease(record)}; }

  struct Place {
    std::string name;
    Ipv4Cidr cidr;
    std::chrono::seconds lease_time{};
  };

  AllocatorLimits limits;
  std::vector<Place> subnets;
  std::vector<Ipv4> servers;  // and routers: addresses that no client can have
  PoolSet pools;
  std::unordered_map<MacAddress, Ipv4> reserved_for;
  std::unordered_map<std::string, Ipv4> reserved_for_id;  ///< by client identifier
  LeaseTable table;
  OfferTable offers;
  DeclineCounts declines;  ///< by hardware address
  /// A client that moves: what it had ends when what it gets is on disk.
  struct Move {
    Ipv4 from;
    Time at;
  };
  std::unordered_map<Ipv4, Move> moves;      ///< by the new address
  std::unordered_map<Ipv4, Time> shortened;  ///< when leases end that a renewal makes shorter, once it is on disk
  std::unordered_map<Ipv4, Lease> replaced;  ///< on disk, until settle_adopted() tells what is there now
  std::unordered_map<Ipv4, Time> stored;     ///< ends on disk, where those of the records are not there (yet)
};

void Allocator::Impl::configure(std::span<const Subnet> configured) {
  subnets.clear();
  servers.clear();
  reserved_for.clear();
  reserved_for_id.clear();
  std::unordered_set<Ipv4> reserved;
  for (const Subnet& subnet : configured) {
    subnets.push_back({subnet.name, subnet.cidr, subnet.lease_time});
    servers.insert(servers.end(), subnet.dns_servers.begin(), subnet.dns_servers.end());
    servers.push_back(subnet.server_id);
    if (subnet.router) servers.push_back(*subnet.router);
    for (const Reservation& reservation : subnet.reservations) {
      const bool is_ours = reservation.address == subnet.server_id || reservation.address == subnet.router;
      if (is_ours || !subnet.cidr.is_host(reservation.address)) continue;
      if (!reserved.insert(reservation.address).second) continue;
      if (reservation.mac)
        reserved_for.emplace(*reservation.mac, reservation.address);
      else if (!reservation.client_id.empty())
        reserved_for_id.emplace(reservation.client_id, reservation.address);
    }
  }
  use(configured.front().identity);
  const auto& shared = configured.front().shared_store;
  table.set_reuse_delay(limits.reuse_delay + (shared ? shared->max_skew + kSharedMargin : std::chrono::seconds(0)));
  PoolSet next(configured);
  const std::size_t groups = next.size() + subnets.size();
  const bool has_changed = !next.has_layout_of(pools) || groups != table.groups();
  pools = std::move(next);
  if (has_changed) table.regroup(groups, [this](Ipv4 address) { return group_of(address); });
  skip_used();
}

/// Whom an offer is for can't be told once clients are known by something else.
void Allocator::Impl::use(Identity identity) {
  if (identity == table.identity()) return;
  while (const OfferTable::Offer* offer = offers.first()) drop_offer(offer->address);
  table.set_identity(identity);
}

/// Work that the next offers need not do.
void Allocator::Impl::skip_used() {
  for (std::size_t i = 0; i < pools.size(); ++i) pools[i].free.skip([this](Ipv4 address) { return is_used(address); });
}

std::size_t Allocator::Impl::subnet_of(Ipv4 address) const {
  const auto found = std::ranges::find_if(subnets, [&](const Place& s) { return s.cidr.contains(address); });
  return found == subnets.end() ? 0 : static_cast<std::size_t>(found - subnets.begin());
}

/// What is counted together: each pool; and each subnet's addresses outside its pools.
std::size_t Allocator::Impl::group_of(Ipv4 address) const {
  const auto pool = pools.find(address);
  return pool ? *pool : pools.size() + subnet_of(address);
}

bool Allocator::Impl::is_used(Ipv4 address) const {
  return table.find(address) != nullptr || offers.find(address) != nullptr;
}

/// True while somebody else may be using the address, or is about to.
bool Allocator::Impl::is_others(const LeaseTable::Client& client, Ipv4 address) const {
  if (const LeaseRecord* record = table.find(address)) {
    if (record->state == LeaseState::declined) return true;
    if (record->state == LeaseState::bound && !table.is_of(*record, client)) return true;
  }
  const OfferTable::Offer* offer = offers.find(address);
  return offer != nullptr && offer->client != table.key_of(client);
}

bool Allocator::Impl::is_bound(const Client& client, Ipv4 address) const {
  const LeaseRecord* record = table.find(address);
  return record != nullptr && record->state == LeaseState::bound && table.is_of(*record, shown(client));
}

/// What a client says of itself goes before where it comes from. Where clients are known by identifiers each has one.
std::optional<Ipv4> Allocator::Impl::reservation(const Client& client) const {
  if (!reserved_for_id.empty()) {
    const bool has_own = table.identity() == Identity::mac;
    const auto by_id = reserved_for_id.find(has_own ? client.client_id : table.key_of(shown(client)));
    if (by_id != reserved_for_id.end()) return by_id->second;
  }
  const auto found = reserved_for.find(client.mac);
  if (found == reserved_for.end()) return std::nullopt;
  return found->second;
}

bool Allocator::Impl::has_offer(const Client& client, Ipv4 address) const {
  const OfferTable::Offer* offer = offers.find(address);
  return offer != nullptr && offer->client == table.key_of(shown(client));
}

/// True when configuration lets the client have the address, whoever has it now.
bool Allocator::Impl::is_allowed(const Client& client, Ipv4 address) const {
  if (const auto own = reservation(client)) {
    if (*own == address) return true;
    if (!is_others(client, *own)) return false;  // its own place is waiting for it
  }
  const auto pool = pools.find(address);
  return pool && pools[*pool].is_open_to(client.classes);
}

/// True while the client has an offer that configuration does not stand against, whatever class it was of then.
bool Allocator::Impl::is_offered(const Client& client, Ipv4 address) const {
  if (!has_offer(client, address) || !pools.find(address)) return false;
  const auto own = reservation(client);
  return !own || *own == address || is_others(client, *own);
}

/// Identifiers are for the asking: one interface may show any number of them. One that has an address may move, and
/// those that have reservations are as many as somebody wrote down.
bool Allocator::Impl::has_enough(const Client& client) const {
  if (table.identity() == Identity::mac) return false;  // it has one in any case
  if (reserved_for_id.contains(table.key_of(shown(client)))) return false;
  const LeaseRecord* own = table.find(shown(client));
  if ((own != nullptr && own->state == LeaseState::bound) || offer_of(shown(client)) != nullptr) return false;
  return table.count_bound(client.mac) + offers.count(client.mac) >= limits.max_per_hardware_address;
}

Allocator::Claim Allocator::Impl::claim(const Client& client, Ipv4 address, bool is_allowed) const {
  if (is_bound(client, address)) return is_allowed ? Claim::own : Claim::retired;
  if (!is_allowed) return Claim::outside;
  if (is_others(client, address)) return Claim::taken;
  if (offers.find(address) != nullptr) return Claim::own;
  const bool has_room = table.find(address) != nullptr || table.size() < limits.max_leases;
  return has_room && !has_enough(client) ? Claim::free : Claim::taken;
}

/// What the client has, had, or asks for.
std::optional<Ipv4> Allocator::Impl::choose_known(const Client& client, std::optional<Ipv4> requested) const {
  const auto may_have = [&](Ipv4 address) {
    const Claim c = claim(client, address);
    return c == Claim::own || c == Claim::free;
  };
  if (const auto own = reservation(client); own && may_have(*own)) return own;
  if (const LeaseRecord* record = table.find(shown(client)); record != nullptr && may_have(record->address))
    return record->address;
  if (requested && may_have(*requested)) return requested;
  if (const OfferTable::Offer* offer = offer_of(shown(client)); offer != nullptr && may_have(offer->address))
    return offer->address;
  return std::nullopt;
}

/// Whether one more address may be known. Ended leases outside the pools are of use to nobody and make room.
bool Allocator::Impl::make_room() {
  for (std::size_t i = 0; i < subnets.size() && table.size() >= limits.max_leases; ++i) {
    LeaseRecord* record = table.oldest_idle(pools.size() + i);
    if (record != nullptr) table.erase(*record);
  }
  return table.size() < limits.max_leases;
}

/// From the pools of the client's classes, or from those of everybody.
std::optional<Ipv4> Allocator::Impl::choose_from_pools(const ClassSet& classes, bool is_guarded) {
  const auto is_wanted = [&](std::size_t i) {
    return pools[i].is_guarded == is_guarded && pools[i].is_open_to(classes);
  };
  const bool has_room = make_room();
  LeaseRecord* oldest = nullptr;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (!is_wanted(i)) continue;
    if (has_room)
      if (const auto fresh = pools[i].free.take([this](Ipv4 address) { return is_used(address); })) return fresh;
    LeaseRecord* record = table.oldest_idle(i);
    if (record != nullptr && (oldest == nullptr || record->expires < oldest->expires)) oldest = record;
  }
  return oldest == nullptr ? std::nullopt : std::optional(oldest->address);
}

std::optional<Ipv4> Allocator::Impl::choose(const Client& client, std::optional<Ipv4> requested) {
  if (const auto known = choose_known(client, requested)) return known;
  if (const auto special = choose_from_pools(client.classes, true)) return special;
  return choose_from_pools(client.classes, false);
}

void Allocator::Impl::hold(const Client& client, Ipv4 address, Time now) {
  if (const OfferTable::Offer* offer = offer_of(shown(client)); offer != nullptr && offer->address != address) {
    drop_offer(offer->address);
  }
  if (LeaseRecord* record = table.find(address)) table.unlink(*record);
  pools.claim(address);
  offers.hold(table.key_of(shown(client)), client.mac, address, now);
}

/// The address goes back to where it came from: an ended lease is next in turn again, a fresh address is fresh again.
void Allocator::Impl::drop_offer(Ipv4 address) {
  offers.erase(address);
  LeaseRecord* record = table.find(address);
  if (record == nullptr) return pools.give_back(address);
  const bool is_ended = record->state == LeaseState::released || record->state == LeaseState::expired;
  if (is_ended) table.make_idle(*record, true);
}

/// An address that is still offered becomes idle with the end of the offer.
void Allocator::Impl::end(LeaseRecord& record, LeaseState state, Time now) {
  stored.erase(record.address);
  table.set_state(record, state);
  record.expires = std::min(record.expires, now);
  if (offers.find(record.address) == nullptr) table.make_idle(record);
}

/// Somebody else uses the address: nobody gets it for a while.
LeaseEvent Allocator::Impl::lay_to_rest(const Client& client, Ipv4 address, LeaseEventKind why, Time until, Time now) {
  offers.erase(address);
  LeaseRecord& record = obtain(address);
  table.clear_owner(record);
  table.set_state(record, LeaseState::declined);
  table.set_mac(record, client.mac);
  record.texts.set(client.client_id, record.texts.host_name(), record.texts.relay_information());
  record.is_durable = true;
  record.started = now;
  record.expires = until;
  table.schedule(record);
  return event(why, record);
}

/// `expires`: as the binding that is on disk has it; nullopt: the last one.
void Allocator::Impl::confirm(const LeaseTable::Client& client, Ipv4 address, std::optional<Time> expires) {
  LeaseRecord* record = table.find(address);
  if (record == nullptr || !table.is_of(*record, client)) return;
  record->is_durable = true;
  const auto pending = shortened.find(address);
  if (pending != shortened.end() && pending->second == expires.value_or(pending->second)) {
    if (record->state == LeaseState::bound) record->expires = pending->second;
    shortened.erase(pending);
  }
  const bool is_last = !expires || *expires == record->expires;
  if (is_last || record->state != LeaseState::bound)
    stored.erase(address);
  else
    stored.insert_or_assign(address, *expires);  // a later renewal waits
  if (record->state == LeaseState::bound) table.schedule(*record);
  end_left(address);
}

/// What the client of this address had before, unless it went back there, or is gone from there, meanwhile.
void Allocator::Impl::end_left(Ipv4 address) {
  const auto move = moves.extract(address);
  const LeaseRecord* record = table.find(address);
  if (!move || record == nullptr) return;
  LeaseRecord* left = table.find(move.mapped().from);
  const bool is_left = left != nullptr && left->state == LeaseState::bound && table.is_of(*left, shown(*record)) &&
                       table.find(shown(*left)) != left;
  if (is_left) end(*left, LeaseState::released, move.mapped().at);
}

/// The client did not get there: it is where it was.
void Allocator::Impl::stay(const Client& client, Ipv4 address) {
  const auto move = moves.extract(address);
  if (move && is_bound(client, move.mapped().from)) {
    LeaseRecord& left = *table.find(move.mapped().from);
    table.set_owner(left, shown(left));
  }
}

Lease Allocator::Impl::lease(const LeaseRecord& record) const {
  return {.address = record.address,
          .mac = record.mac,
          .client_id = std::string(record.texts.client_id()),
          .host_name = std::string(record.texts.host_name()),
          .subnet = subnets[subnet_of(record.address)].name,
          .relay_information = std::string(record.texts.relay_information()),
          .state = record.state,
          .started = record.started,
          .expires = record.expires};
}

Allocator::Allocator(std::span<const Subnet> subnets, AllocatorLimits limits) : impl_(std::make_unique<Impl>(limits)) {
  impl_->configure(subnets);
}
Allocator::~Allocator() = default;
Allocator::Allocator(Allocator&&) noexcept = default;
Allocator& Allocator::operator=(Allocator&&) noexcept = default;

void Allocator::reconfigure(std::span<const Subnet> subnets) {
  impl_->configure(subnets);
}

/// One lease per client: of two, the present one before an ended one, then the newer one. Another hardware address may
/// be another machine, whose address nobody else may get.
void Allocator::Impl::restore_owner(LeaseRecord& record, Time now, std::vector<Lease>& superseded) {
  const auto rank = [](const LeaseRecord& r) {
    return std::tuple(r.state == LeaseState::bound, r.started, r.expires, r.address);
  };
  const LeaseRecord* known = table.find(shown(record));
  const bool is_best = known == nullptr || rank(*known) < rank(record);
  LeaseRecord* loser = is_best ? (known != nullptr ? table.find(known->address) : nullptr) : &record;
  const bool is_same_machine = known != nullptr && known->mac == record.mac;
  if (is_best) table.set_owner(record, shown(record));
  if (loser == nullptr || loser->state != LeaseState::bound || !is_same_machine) return;
  end(*loser, LeaseState::released, now);
  superseded.push_back(lease(*loser));
}

std::vector<Lease> Allocator::restore(std::vector<Lease> leases, Time now) {
  std::vector<Lease> superseded;
  impl_->table.reserve(leases.size());
  // Ended ones become idle in the order in which they ended.
  const auto running = std::ranges::partition(
      leases, [](LeaseState s) { return s == LeaseState::released || s == LeaseState::expired; }, &Lease::state);
  std::ranges::sort(leases.begin(), running.begin(), {}, &Lease::expires);
  for (const Lease& stored : leases) {
    LeaseRecord& record = impl_->obtain(stored.address);
    impl_->table.set_mac(record, stored.mac);
    record.is_durable = true;
    record.started = stored.started;
    record.expires = stored.expires;
    record.texts.set(stored.client_id, stored.host_name, stored.relay_information);
    impl_->table.set_state(record, stored.state);
    const bool is_running = stored.state == LeaseState::bound || stored.state == LeaseState::declined;
    if (is_running) {
      impl_->table.schedule(record);
    } else {
      impl_->table.make_idle(record);
    }
    if (stored.state != LeaseState::declined) impl_->restore_owner(record, now, superseded);
  }
  impl_->skip_used();
  return superseded;
}

std::optional<Ipv4> Allocator::offer(const Client& client, std::optional<Ipv4> requested, Time now) {
  if (impl_->offers.size() >= impl_->limits.max_offers && impl_->offer_of(shown(client)) == nullptr)
    return std::nullopt;
  if (impl_->has_enough(client)) return std::nullopt;
  const auto address = impl_->choose(client, requested);
  if (!address) return std::nullopt;
  const LeaseRecord* record = impl_->table.find(*address);
  const auto pool = impl_->pools.find(*address);
  const bool is_guarded = pool && impl_->pools[*pool].is_guarded;
  if (record != nullptr && record->state == LeaseState::bound && !is_guarded) {
    withdraw(client);  // it is the client's already: nothing to hold, and no class that may be lost
  } else {
    impl_->hold(client, *address, now);
  }
  return address;
}

bool Allocator::has_enough(const Client& client) const {
  return impl_->has_enough(client);
}

void Allocator::withdraw(const Client& client) {
  if (const OfferTable::Offer* offer = impl_->offer_of(shown(client))) impl_->drop_offer(offer->address);
}

std::optional<Allocator::Held> Allocator::find(const Client& client) const {
  const LeaseRecord* record = impl_->table.find(shown(client));
  if (record == nullptr) return std::nullopt;
  return Held{record->address, record->state};
}

Allocator::Claim Allocator::claim(const Client& client, Ipv4 address) const {
  return impl_->claim(client, address, impl_->is_allowed(client, address) || impl_->is_offered(client, address));
}

std::string Allocator::relay_information(const Client& client, Ipv4 address) const {
  if (!impl_->is_bound(client, address)) return {};
  return std::string(impl_->table.find(address)->texts.relay_information());
}

std::optional<Ipv4> Allocator::reservation(const Client& client) const {
  return impl_->reservation(client);
}

std::optional<Allocator::Time> Allocator::stored_end(const Client& client, Ipv4 address) const {
  if (!impl_->is_bound(client, address)) return std::nullopt;
  const LeaseRecord& record = *impl_->table.find(address);
  if (!record.is_durable) return std::nullopt;
  const auto known = impl_->stored.find(address);
  return known == impl_->stored.end() ? record.expires : known->second;
}

std::vector<LeaseEvent> Allocator::bind(const Client& client, Ipv4 address, std::string_view host_name, Time now) {
  BOOST_ASSERT(claim(client, address) == Claim::own || claim(client, address) == Claim::free);
  std::vector<LeaseEvent> events;
  LeaseTable& table = impl_->table;
  const LeaseRecord* previous = table.find(shown(client));
  // What another hardware address uses under the same identifier is perhaps another machine's: it lasts until it ends.
  const bool is_left = previous != nullptr && previous->address != address && previous->state == LeaseState::bound &&
                       previous->mac == client.mac;
  if (is_left) {
    impl_->moves.insert_or_assign(address, Impl::Move{previous->address, now});
    Lease left = impl_->lease(*previous);
    left.state = LeaseState::released;
    left.expires = std::min(left.expires, now);
    events.push_back({LeaseEventKind::released, std::move(left)});
  }
  if (const OfferTable::Offer* offer = impl_->offer_of(shown(client))) {
    if (offer->address == address) {
      impl_->offers.erase(address);
    } else {
      impl_->drop_offer(offer->address);
    }
  }
  impl_->pools.claim(address);
  LeaseRecord& record = impl_->obtain(address);
  const bool is_renewal = record.state == LeaseState::bound;
  table.set_owner(record, shown(client));
  table.set_state(record, LeaseState::bound);
  if (!is_renewal) {
    record.is_durable = false;
    record.started = now;
  }
  record.texts.set(client.client_id, host_name, client.relay_information);
  events.push_back(impl_->event(is_renewal ? LeaseEventKind::renewed : LeaseEventKind::bound, record));
  const Time expires = now + impl_->subnets[impl_->subnet_of(address)].lease_time;
  events.back().lease.expires = expires;
  if (is_renewal && record.is_durable) {
    Time& earliest = impl_->stored.try_emplace(address, record.expires).first->second;
    earliest = std::min(earliest, expires);
  }
  if (is_renewal && expires < record.expires) {
    impl_->shortened.insert_or_assign(address, expires);
  } else {
    impl_->shortened.erase(address);
    record.expires = expires;
  }
  return events;
}

void Allocator::confirm(const Client& client, Ipv4 address) {
  impl_->confirm(shown(client), address, std::nullopt);
}

void Allocator::confirm(const Lease& lease) {
  const LeaseRecord* record = impl_->table.find(lease.address);
  if (record == nullptr && !impl_->is_others(shown(lease), lease.address)) {
    impl_->table.set_owner(impl_->fill(lease, LeaseState::bound), shown(lease));
  }
  impl_->confirm(shown(lease), lease.address, lease.expires);
}

void Allocator::revert(const Client& client, Ipv4 address, Time now) {
  impl_->stay(client, address);
  impl_->shortened.erase(address);
  if (!impl_->is_bound(client, address)) return;
  LeaseRecord& record = *impl_->table.find(address);
  if (record.is_durable) return;
  impl_->table.erase(record);
  impl_->hold(client, address, now);
}

std::optional<LeaseEvent> Allocator::release(const Client& client, Ipv4 address, Time now) {
  if (!impl_->is_bound(client, address)) return std::nullopt;
  LeaseRecord& record = *impl_->table.find(address);
  impl_->end(record, LeaseState::released, now);
  return impl_->event(LeaseEventKind::released, record);
}

std::optional<LeaseEvent> Allocator::decline(const Client& client, Ipv4 address, Time now) {
  if (!impl_->is_bound(client, address) && !has_offer(client, address)) return std::nullopt;
  if (!may_decline(client, now)) return std::nullopt;
  impl_->declines.add(std::string(as_text(client.mac.bytes())), now);
  return impl_->lay_to_rest(client, address, LeaseEventKind::declined, now + impl_->limits.decline_hold, now);
}

bool Allocator::may_decline(const Client& client, Time now) {
  return impl_->declines.count(std::string(as_text(client.mac.bytes())), now) < impl_->limits.max_declined_per_client;
}

bool Allocator::has_offer(const Client& client, Ipv4 address) const {
  return impl_->has_offer(client, address);
}

std::optional<LeaseEvent> Allocator::report_conflict(const Client& client, Ipv4 address, Time now) {
  if (!has_offer(client, address)) return std::nullopt;
  return impl_->lay_to_rest(client, address, LeaseEventKind::conflict, now + impl_->limits.conflict_hold, now);
}

std::optional<LeaseEvent> Allocator::end(Ipv4 address, Time now) {
  LeaseRecord* record = impl_->table.find(address);
  const bool is_running =
      record != nullptr && (record->state == LeaseState::bound || record->state == LeaseState::declined);
  if (!is_running) return std::nullopt;
  impl_->end(*record, LeaseState::released, now);
  return impl_->event(LeaseEventKind::released, *record);
}

// --- leases of other servers

/// In use now, by whoever had it before or not.
void Allocator::Impl::take_running(const Lease& lease) {
  const LeaseRecord* own = table.find(shown(lease));
  const bool is_older = own != nullptr && own->address != lease.address && own->state == LeaseState::bound &&
                        own->started > lease.started;
  LeaseRecord& record = fill(lease, lease.state);
  record.is_durable = true;
  if (lease.state == LeaseState::bound && !is_older) table.set_owner(record, shown(lease));
  table.schedule(record);
}

std::vector<LeaseEvent> Allocator::take(const Lease& written, Time now) {
  LeaseTable& table = impl_->table;
  Lease lease = written;
  LeaseRecord* record = table.find(lease.address);
  const bool was_bound = record != nullptr && record->state == LeaseState::bound;
  const bool was_running = was_bound || (record != nullptr && record->state == LeaseState::declined);
  const bool is_running = (lease.state == LeaseState::bound || lease.state == LeaseState::declined) &&
                          lease.expires + table.reuse_delay() > now;
  std::vector<LeaseEvent> events;
  if (!is_running) {
    if (was_running && !record->is_durable) return events;  // about to be bound: the store says whether it is
    impl_->shortened.erase(lease.address);
    if (was_running) {
      impl_->end(*record, LeaseState::released, now);
      events.push_back(impl_->event(LeaseEventKind::released, *record));
    } else if (Adopted remembered = impl_->remember(lease, now); remembered.event) {
      table.find(lease.address)->is_durable = true;
      impl_->replaced.erase(lease.address);
      events.push_back(*std::move(remembered.event));
    }
    return events;
  }
  const bool is_clients = was_running && record->state == lease.state && table.is_of(*record, shown(lease));
  if (is_clients) lease.expires = std::max(lease.expires, record->expires);  // a renewal of ours may be under way
  const bool is_same = is_clients && record->is_durable;
  if (is_same && record->expires == lease.expires) return events;
  if (was_bound && record->is_durable && !is_same) {
    Lease ended = impl_->lease(*record);
    ended.state = LeaseState::released;
    ended.expires = std::min(ended.expires, now);
    events.push_back({LeaseEventKind::released, std::move(ended)});
  }
  impl_->shortened.erase(lease.address);
  impl_->take_running(lease);
  impl_->replaced.erase(lease.address);
  const LeaseEventKind kind = lease.state == LeaseState::declined ? LeaseEventKind::declined
                              : is_same                           ? LeaseEventKind::renewed
                                                                  : LeaseEventKind::bound;
  events.push_back(impl_->event(kind, *table.find(lease.address)));
  return events;
}

// --- leases from elsewhere

bool Allocator::Impl::is_never_given(Ipv4 address) const {
  return !subnets[subnet_of(address)].cidr.is_host(address) || std::ranges::find(servers, address) != servers.end();
}

AdoptObstacle Allocator::obstacle(const Lease& lease, Time now) const {
  const bool is_running = lease.state == LeaseState::bound || lease.state == LeaseState::declined;
  if (!is_running || lease.expires <= now) return AdoptObstacle::none;
  if (impl_->is_never_given(lease.address)) return AdoptObstacle::own_address;
  if (lease.state == LeaseState::declined) return AdoptObstacle::none;
  const bool is_group = (lease.mac.bytes()[0] & 1) != 0;
  if (is_group || lease.mac == MacAddress()) return AdoptObstacle::no_client;
  const LeaseRecord* record = impl_->table.find(lease.address);
  if (record == nullptr || impl_->table.is_of(*record, shown(lease))) return AdoptObstacle::none;
  if (record->state == LeaseState::bound) return AdoptObstacle::held;
  return record->state == LeaseState::declined ? AdoptObstacle::resting : AdoptObstacle::none;
}

std::size_t Allocator::room() const noexcept {
  const std::size_t used = impl_->table.size();
  return used < impl_->limits.max_leases ? impl_->limits.max_leases - used : 0;
}

Allocator::Adopted Allocator::adopt(const Lease& lease, Time now) {
  BOOST_ASSERT(obstacle(lease, now) == AdoptObstacle::none);
  const bool is_running = lease.state == LeaseState::bound || lease.state == LeaseState::declined;
  if (!is_running || lease.expires <= now) return impl_->remember(lease, now);
  return lease.state == LeaseState::bound ? impl_->bind_adopted(lease) : impl_->let_rest(lease);
}

/// The record of the address, as the lease has it, in use by nobody else and not yet durable.
LeaseRecord& Allocator::Impl::fill(const Lease& lease, LeaseState state) {
  offers.erase(lease.address);
  pools.claim(lease.address);
  if (const LeaseRecord* before = table.find(lease.address); before != nullptr && before->is_durable)
    replaced.insert_or_assign(lease.address, this->lease(*before));
  LeaseRecord& record = obtain(lease.address);
  table.clear_owner(record);
  table.set_state(record, state);
  table.set_mac(record, lease.mac);
  record.is_durable = false;
  stored.erase(lease.address);
  record.started = lease.started;
  record.expires = lease.expires;
  record.texts.set(lease.client_id, lease.host_name, lease.relay_information);
  return record;
}

/// What fill() replaced, as it is on disk.
void Allocator::Impl::put_back(const Lease& before) {
  LeaseRecord& record = fill(before, before.state);
  record.is_durable = true;
  if (before.state == LeaseState::declined) return table.schedule(record);
  table.make_idle(record);
  if (table.find(shown(before)) == nullptr) table.set_owner(record, shown(before));
}

/// Who has another lease here keeps that; a client that really uses two addresses is not disturbed at either.
Allocator::Adopted Allocator::Impl::bind_adopted(const Lease& adopted) {
  LeaseRecord* same = table.find(adopted.address);
  const LeaseRecord* own = table.find(shown(adopted));
  if (same != nullptr && same->state == LeaseState::bound) {
    if (same->is_durable && same->expires >= adopted.expires) return {Adoption::unchanged, {}};
    if (same->is_durable) stored.try_emplace(same->address, same->expires);
    same->expires = std::max(same->expires, adopted.expires);
    return {Adoption::bound, event(LeaseEventKind::renewed, *same)};
  }
  const bool has_other = own != nullptr && own != same && own->state == LeaseState::bound;
  if (has_other) return let_rest(adopted);
  const OfferTable::Offer* offer = offer_of(shown(adopted));
  if (offer != nullptr && offer->address != adopted.address) drop_offer(offer->address);
  LeaseRecord& record = fill(adopted, LeaseState::bound);
  table.set_owner(record, shown(adopted));
  return {Adoption::bound, event(LeaseEventKind::bound, record)};
}

Allocator::Adopted Allocator::Impl::let_rest(const Lease& adopted) {
  const LeaseRecord* same = table.find(adopted.address);
  if (same != nullptr && same->state == LeaseState::bound) return {Adoption::left_out, {}};
  if (same != nullptr && same->state == LeaseState::declined && same->expires >= adopted.expires)
    return {Adoption::unchanged, {}};
  const LeaseRecord& record = fill(adopted, LeaseState::declined);
  return {Adoption::rests, event(LeaseEventKind::declined, record)};
}

/// An ended lease is of use only where nobody has had the address since.
Allocator::Adopted Allocator::Impl::remember(const Lease& adopted, Time now) {
  const LeaseRecord* same = table.find(adopted.address);
  if (same != nullptr && table.is_of(*same, shown(adopted))) return {Adoption::unchanged, {}};
  const bool is_clients = adopted.mac != MacAddress() && adopted.state != LeaseState::declined;
  const bool is_wanted = is_clients && same == nullptr && offers.find(adopted.address) == nullptr;
  if (!is_wanted || !pools.find(adopted.address)) return {};
  const bool is_released = adopted.state == LeaseState::released;
  LeaseRecord& record = fill(adopted, is_released ? LeaseState::released : LeaseState::expired);
  record.expires = std::min(record.expires, now);
  table.make_idle(record);
  const LeaseRecord* own = table.find(shown(adopted));
  if (own == nullptr || (own->state != LeaseState::bound && own->expires <= record.expires))
    table.set_owner(record, shown(adopted));
  return {Adoption::remembered, event(is_released ? LeaseEventKind::released : LeaseEventKind::expired, record)};
}

void Allocator::settle_adopted(const LeaseEvent& event, bool is_durable) {
  LeaseRecord* record = impl_->table.find(event.lease.address);
  const auto replaced = impl_->replaced.extract(event.lease.address);
  if (record == nullptr) {
    // A request of the same client, which was waiting for the disk before the import, has been taken back since.
    if (!is_durable || event.lease.state != LeaseState::bound) return;
    record = &impl_->fill(event.lease, LeaseState::bound);
    impl_->table.set_owner(*record, shown(event.lease));
  }
  if (!is_durable) {
    if (record->is_durable) return;  // one of ours that would have lasted longer; in memory it does
    if (replaced) return impl_->put_back(replaced.mapped());
    impl_->table.erase(*record);
    return impl_->pools.give_back(event.lease.address);
  }
  record->is_durable = true;
  impl_->stored.erase(event.lease.address);
  if (record->state == LeaseState::bound || record->state == LeaseState::declined) impl_->table.schedule(*record);
}

std::vector<LeaseEvent> Allocator::expire(Time now, std::size_t max) {
  for (std::size_t n = 0; n < max; ++n) {
    const OfferTable::Offer* offer = impl_->offers.first();
    if (offer == nullptr || offer->until > now) break;
    impl_->drop_offer(offer->address);
  }
  std::vector<LeaseEvent> events;
  while (events.size() < max) {
    LeaseRecord* record = impl_->table.pop_due(now);
    if (record == nullptr) break;
    const bool was_bound = record->state == LeaseState::bound;
    impl_->end(*record, LeaseState::expired, now);
    if (was_bound) events.push_back(impl_->event(LeaseEventKind::expired, *record));
  }
  return events;
}

std::optional<Allocator::Time> Allocator::next_due() const {
  const OfferTable::Offer* offer = impl_->offers.first();
  const auto lease = impl_->table.next_due();
  if (offer == nullptr) return lease;
  return lease ? std::min(*lease, offer->until) : offer->until;
}

std::vector<Lease> Allocator::leases() const {
  std::vector<const LeaseRecord*> durable;
  impl_->table.for_each([&](const LeaseRecord& record) {
    if (record.is_durable) durable.push_back(&record);
  });
  std::ranges::sort(durable, {}, &LeaseRecord::address);
  std::vector<Lease> out;
  out.reserve(durable.size());
  for (const LeaseRecord* record : durable) out.push_back(impl_->lease(*record));
  return out;
}

// --- figures

/// Takes time linear in the number of offers.
std::vector<Allocator::Usage> Allocator::Impl::usage_by_group() const {
  std::vector<Usage> out(pools.size() + subnets.size());
  for (std::size_t group = 0; group < out.size(); ++group) {
    if (group < pools.size()) out[group].pool_size = pools[group].free.size();
    out[group].bound = table.count(group, LeaseState::bound);
    out[group].declined = table.count(group, LeaseState::declined);
  }
  offers.for_each([&](const OfferTable::Offer& offer) {
    const LeaseRecord* record = table.find(offer.address);
    if (record == nullptr || record->state != LeaseState::bound) ++out[group_of(offer.address)].offered;
  });
  return out;
}

Allocator::Usage Allocator::usage() const {
  Usage out;
  for (const Usage& group : impl_->usage_by_group()) add(group, out);
  return out;
}

std::vector<Allocator::SubnetUsage> Allocator::usage_by_subnet() const {
  const std::vector<Usage> groups = impl_->usage_by_group();
  std::vector<SubnetUsage> out(impl_->subnets.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i].all = groups[impl_->pools.size() + i];
  for (std::size_t i = 0; i < impl_->pools.size(); ++i) {
    SubnetUsage& subnet = out[impl_->pools[i].subnet];
    add(groups[i], subnet.all);
    subnet.pools.push_back({impl_->pools[i].range, groups[i]});
  }
  return out;
}

}  // namespace hcpnet::dhcp
