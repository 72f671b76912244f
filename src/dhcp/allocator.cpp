// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/assert.hpp>
#include <hcpnet/dhcp/allocator.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "dhcp/free_pool.hpp"
#include "dhcp/lease_table.hpp"
#include "dhcp/offer_table.hpp"

namespace hcpnet::dhcp {

struct Allocator::Impl {
  explicit Impl(const AllocatorLimits& l) : limits(l), offers(l.offer_hold) {}

  void configure(const Subnet& subnet);
  [[nodiscard]] bool is_used(Ipv4 address) const;
  [[nodiscard]] bool is_others(const MacAddress& mac, Ipv4 address) const;
  [[nodiscard]] bool is_allowed(const MacAddress& mac, Ipv4 address) const;
  [[nodiscard]] std::optional<Ipv4> reservation(const MacAddress& mac) const;
  [[nodiscard]] Claim claim(const MacAddress& mac, Ipv4 address) const;
  [[nodiscard]] std::optional<Ipv4> choose(const MacAddress& mac, std::optional<Ipv4> requested);
  [[nodiscard]] std::optional<Ipv4> choose_known(const MacAddress& mac, std::optional<Ipv4> requested) const;
  void hold(const MacAddress& mac, Ipv4 address, Time now);
  void drop_offer(Ipv4 address);
  void end(LeaseRecord& record, LeaseState state, Time now);
  void restore_owner(LeaseRecord& record, Time now, std::vector<Lease>& superseded);
  [[nodiscard]] bool is_never_given(Ipv4 address) const;
  Adopted bind_adopted(const Lease& lease);
  Adopted let_rest(const Lease& lease);
  Adopted remember(const Lease& lease, Time now);
  LeaseRecord& fill(const Lease& lease, LeaseState state);
  void put_back(const Lease& lease);
  [[nodiscard]] Lease lease(const LeaseRecord& record) const;
  [[nodiscard]] LeaseEvent event(LeaseEventKind kind, const LeaseRecord& record) const { return {kind, lease(record)}; }

  AllocatorLimits limits;
  std::string subnet_name;
  Ipv4Cidr cidr;
  std::vector<Ipv4> servers;  // and the router: addresses that no client can have
  std::chrono::seconds lease_time{};
  FreePool pool;
  std::unordered_map<MacAddress, Ipv4> reserved_for;
  std::unordered_map<Ipv4, MacAddress> reserved;
  LeaseTable table;
  OfferTable offers;
  std::unordered_map<Ipv4, Lease> replaced;  ///< on disk, until settle_adopted() tells what is there now
};

void Allocator::Impl::configure(const Subnet& subnet) {
  subnet_name = subnet.name;
  cidr = subnet.cidr;
  servers = subnet.dns_servers;
  servers.push_back(subnet.server_id);
  if (subnet.router) servers.push_back(*subnet.router);
  lease_time = subnet.lease_time;
  pool = FreePool(subnet);
  reserved_for.clear();
  reserved.clear();
  for (const Reservation& reservation : subnet.reservations) {
    const bool is_ours = reservation.address == subnet.server_id || reservation.address == subnet.router;
    if (is_ours || !subnet.cidr.is_host(reservation.address)) continue;
    if (reserved.emplace(reservation.address, reservation.mac).second)
      reserved_for.emplace(reservation.mac, reservation.address);
  }
  pool.skip([this](Ipv4 address) { return is_used(address); });
}

bool Allocator::Impl::is_used(Ipv4 address) const {
  return table.find(address) != nullptr || offers.find(address) != nullptr;
}

/// True while somebody else may be using the address, or is about to.
bool Allocator::Impl::is_others(const MacAddress& mac, Ipv4 address) const {
  if (const LeaseRecord* record = table.find(address)) {
    if (record->state == LeaseState::declined) return true;
    if (record->state == LeaseState::bound && record->mac != mac) return true;
  }
  const OfferTable::Offer* offer = offers.find(address);
  return offer != nullptr && offer->mac != mac;
}

std::optional<Ipv4> Allocator::Impl::reservation(const MacAddress& mac) const {
  const auto found = reserved_for.find(mac);
  if (found == reserved_for.end()) return std::nullopt;
  return found->second;
}

/// True when configuration lets the client have the address, whoever has it now.
bool Allocator::Impl::is_allowed(const MacAddress& mac, Ipv4 address) const {
  if (const auto own = reservation(mac)) {
    if (*own == address) return true;
    if (!is_others(mac, *own)) return false;  // its own place is waiting for it
  }
  return pool.contains(address);
}

Allocator::Claim Allocator::Impl::claim(const MacAddress& mac, Ipv4 address) const {
  const LeaseRecord* record = table.find(address);
  if (record != nullptr && record->state == LeaseState::bound && record->mac == mac) {
    return is_allowed(mac, address) ? Claim::own : Claim::retired;
  }
  if (!is_allowed(mac, address)) return Claim::outside;
  if (is_others(mac, address)) return Claim::taken;
  if (offers.find(address) != nullptr) return Claim::own;
  const bool has_room = record != nullptr || table.size() < limits.max_leases;
  return has_room ? Claim::free : Claim::taken;
}

/// What the client has, had, or asks for.
std::optional<Ipv4> Allocator::Impl::choose_known(const MacAddress& mac, std::optional<Ipv4> requested) const {
  const auto may_have = [&](Ipv4 address) {
    const Claim c = claim(mac, address);
    return c == Claim::own || c == Claim::free;
  };
  if (const auto own = reservation(mac); own && may_have(*own)) return own;
  if (const LeaseRecord* record = table.find(mac); record != nullptr && may_have(record->address))
    return record->address;
  if (requested && may_have(*requested)) return requested;
  if (const OfferTable::Offer* offer = offers.find(mac); offer != nullptr && may_have(offer->address))
    return offer->address;
  return std::nullopt;
}

std::optional<Ipv4> Allocator::Impl::choose(const MacAddress& mac, std::optional<Ipv4> requested) {
  if (const auto known = choose_known(mac, requested)) return known;
  if (table.size() < limits.max_leases) {
    if (const auto fresh = pool.take([this](Ipv4 address) { return is_used(address); })) return fresh;
  }
  while (LeaseRecord* record = table.take_idle()) {
    if (pool.contains(record->address)) return record->address;
    table.erase(*record);  // of a pool that is no more
  }
  return std::nullopt;
}

void Allocator::Impl::hold(const MacAddress& mac, Ipv4 address, Time now) {
  if (const OfferTable::Offer* offer = offers.find(mac); offer != nullptr && offer->address != address) {
    drop_offer(offer->address);
  }
  if (LeaseRecord* record = table.find(address)) table.unlink(*record);
  pool.claim(address);
  offers.hold(mac, address, now);
}

/// The address goes back to where it came from: an ended lease is next in turn again, a fresh address is fresh again.
void Allocator::Impl::drop_offer(Ipv4 address) {
  offers.erase(address);
  LeaseRecord* record = table.find(address);
  if (record == nullptr) return pool.give_back(address);
  const bool is_ended = record->state == LeaseState::released || record->state == LeaseState::expired;
  if (is_ended) table.make_idle(*record, true);
}

void Allocator::Impl::end(LeaseRecord& record, LeaseState state, Time now) {
  table.set_state(record, state);
  record.expires = std::min(record.expires, now);
  table.make_idle(record);
}

Lease Allocator::Impl::lease(const LeaseRecord& record) const {
  return {.address = record.address,
          .mac = record.mac,
          .client_id = record.client_id,
          .host_name = record.host_name,
          .subnet = subnet_name,
          .state = record.state,
          .started = record.started,
          .expires = record.expires};
}

Allocator::Allocator(const Subnet& subnet, AllocatorLimits limits) : impl_(std::make_unique<Impl>(limits)) {
  impl_->configure(subnet);
}
Allocator::~Allocator() = default;
Allocator::Allocator(Allocator&&) noexcept = default;
Allocator& Allocator::operator=(Allocator&&) noexcept = default;

void Allocator::reconfigure(const Subnet& subnet) {
  impl_->configure(subnet);
}

/// One lease per client: of two, the present one before an ended one, then the newer one.
void Allocator::Impl::restore_owner(LeaseRecord& record, Time now, std::vector<Lease>& superseded) {
  const auto rank = [](const LeaseRecord& r) {
    return std::tuple(r.state == LeaseState::bound, r.started, r.expires, r.address);
  };
  const LeaseRecord* known = std::as_const(table).find(record.mac);
  const bool is_best = known == nullptr || rank(*known) < rank(record);
  LeaseRecord* loser = is_best ? (known != nullptr ? table.find(known->address) : nullptr) : &record;
  if (is_best) table.set_owner(record, record.mac);
  if (loser == nullptr || loser->state != LeaseState::bound) return;
  end(*loser, LeaseState::released, now);
  superseded.push_back(lease(*loser));
}

std::vector<Lease> Allocator::restore(std::vector<Lease> leases, Time now) {
  std::vector<Lease> superseded;
  impl_->table.reserve(leases.size());
  std::ranges::sort(leases, {}, &Lease::expires);  // ended ones become idle in the order in which they ended
  for (Lease& stored : leases) {
    LeaseRecord& record = impl_->table.obtain(stored.address);
    record.mac = stored.mac;
    record.is_durable = true;
    record.started = stored.started;
    record.expires = stored.expires;
    record.client_id = std::move(stored.client_id);
    record.host_name = std::move(stored.host_name);
    impl_->table.set_state(record, stored.state);
    const bool is_running = stored.state == LeaseState::bound || stored.state == LeaseState::declined;
    if (is_running) {
      impl_->table.schedule(record);
    } else {
      impl_->table.make_idle(record);
    }
    if (stored.state != LeaseState::declined) impl_->restore_owner(record, now, superseded);
  }
  impl_->pool.skip([this](Ipv4 address) { return impl_->is_used(address); });
  return superseded;
}

std::optional<Ipv4> Allocator::offer(const MacAddress& mac, std::optional<Ipv4> requested, Time now) {
  if (impl_->offers.size() >= impl_->limits.max_offers && impl_->offers.find(mac) == nullptr) return std::nullopt;
  const auto address = impl_->choose(mac, requested);
  if (!address) return std::nullopt;
  const LeaseRecord* record = impl_->table.find(*address);
  if (record != nullptr && record->state == LeaseState::bound) {
    withdraw(mac);  // it is the client's already: nothing to hold
  } else {
    impl_->hold(mac, *address, now);
  }
  return address;
}

void Allocator::withdraw(const MacAddress& mac) {
  if (const OfferTable::Offer* offer = impl_->offers.find(mac)) impl_->drop_offer(offer->address);
}

std::optional<Allocator::Held> Allocator::find(const MacAddress& mac) const {
  const LeaseRecord* record = std::as_const(impl_->table).find(mac);
  if (record == nullptr) return std::nullopt;
  return Held{record->address, record->state};
}

Allocator::Claim Allocator::claim(const MacAddress& mac, Ipv4 address) const {
  return impl_->claim(mac, address);
}

std::optional<Ipv4> Allocator::reservation(const MacAddress& mac) const {
  return impl_->reservation(mac);
}

std::vector<LeaseEvent> Allocator::bind(const MacAddress& mac, Ipv4 address, std::string client_id,
                                        std::string host_name, Time now) {
  BOOST_ASSERT(claim(mac, address) == Claim::own || claim(mac, address) == Claim::free);
  std::vector<LeaseEvent> events;
  LeaseTable& table = impl_->table;
  const LeaseRecord* previous = table.find(mac);
  if (previous != nullptr && previous->address != address && previous->state == LeaseState::bound) {
    LeaseRecord& old = *table.find(previous->address);
    impl_->end(old, LeaseState::released, now);
    events.push_back(impl_->event(LeaseEventKind::released, old));
  }
  if (const OfferTable::Offer* offer = impl_->offers.find(mac)) {
    if (offer->address == address) {
      impl_->offers.erase(address);
    } else {
      impl_->drop_offer(offer->address);
    }
  }
  impl_->pool.claim(address);
  LeaseRecord& record = table.obtain(address);
  const bool is_renewal = record.state == LeaseState::bound;
  table.set_owner(record, mac);
  table.set_state(record, LeaseState::bound);
  if (!is_renewal) {
    record.is_durable = false;
    record.started = now;
  }
  record.expires = now + impl_->lease_time;
  record.client_id = std::move(client_id);
  record.host_name = std::move(host_name);
  events.push_back(impl_->event(is_renewal ? LeaseEventKind::renewed : LeaseEventKind::bound, record));
  return events;
}

void Allocator::confirm(const MacAddress& mac, Ipv4 address) {
  LeaseRecord* record = impl_->table.find(address);
  if (record == nullptr || record->mac != mac) return;
  record->is_durable = true;
  if (record->state == LeaseState::bound) impl_->table.schedule(*record);
}

void Allocator::confirm(const Lease& lease) {
  const LeaseRecord* record = impl_->table.find(lease.address);
  if (record == nullptr && !impl_->is_others(lease.mac, lease.address)) {
    impl_->table.set_owner(impl_->fill(lease, LeaseState::bound), lease.mac);
  }
  confirm(lease.mac, lease.address);
}

void Allocator::revert(const MacAddress& mac, Ipv4 address, Time now) {
  LeaseRecord* record = impl_->table.find(address);
  const bool is_pending =
      record != nullptr && record->mac == mac && record->state == LeaseState::bound && !record->is_durable;
  if (!is_pending) return;
  impl_->table.erase(*record);
  impl_->hold(mac, address, now);
}

std::optional<LeaseEvent> Allocator::release(const MacAddress& mac, Ipv4 address, Time now) {
  LeaseRecord* record = impl_->table.find(address);
  if (record == nullptr || record->state != LeaseState::bound || record->mac != mac) return std::nullopt;
  impl_->end(*record, LeaseState::released, now);
  return impl_->event(LeaseEventKind::released, *record);
}

std::optional<LeaseEvent> Allocator::decline(const MacAddress& mac, Ipv4 address, Time now) {
  LeaseRecord* record = impl_->table.find(address);
  const OfferTable::Offer* offer = impl_->offers.find(address);
  const bool is_bound = record != nullptr && record->state == LeaseState::bound && record->mac == mac;
  const bool is_offered = offer != nullptr && offer->mac == mac;
  if (!is_bound && !is_offered) return std::nullopt;
  impl_->offers.erase(address);
  LeaseRecord& declined = impl_->table.obtain(address);
  impl_->table.clear_owner(declined);
  impl_->table.set_state(declined, LeaseState::declined);
  declined.mac = mac;
  declined.is_durable = true;
  declined.started = now;
  declined.expires = now + impl_->limits.decline_hold;
  impl_->table.schedule(declined);
  return impl_->event(LeaseEventKind::declined, declined);
}

std::optional<LeaseEvent> Allocator::end(Ipv4 address, Time now) {
  LeaseRecord* record = impl_->table.find(address);
  if (record == nullptr) return std::nullopt;
  if (record->state == LeaseState::bound) return release(record->mac, address, now);
  if (record->state != LeaseState::declined) return std::nullopt;
  impl_->end(*record, LeaseState::released, now);
  return impl_->event(LeaseEventKind::released, *record);
}

// --- leases from elsewhere

bool Allocator::Impl::is_never_given(Ipv4 address) const {
  return !cidr.is_host(address) || std::ranges::find(servers, address) != servers.end();
}

AdoptObstacle Allocator::obstacle(const Lease& lease, Time now) const {
  const bool is_running = lease.state == LeaseState::bound || lease.state == LeaseState::declined;
  if (!is_running || lease.expires <= now) return AdoptObstacle::none;
  if (impl_->is_never_given(lease.address)) return AdoptObstacle::own_address;
  if (lease.state == LeaseState::declined) return AdoptObstacle::none;
  const bool is_group = (lease.mac.bytes()[0] & 1) != 0;
  if (is_group || lease.mac == MacAddress()) return AdoptObstacle::no_client;
  const LeaseRecord* record = impl_->table.find(lease.address);
  if (record == nullptr || record->mac == lease.mac) return AdoptObstacle::none;
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
  pool.claim(lease.address);
  if (const LeaseRecord* before = table.find(lease.address); before != nullptr && before->is_durable)
    replaced.insert_or_assign(lease.address, this->lease(*before));
  LeaseRecord& record = table.obtain(lease.address);
  table.clear_owner(record);
  table.set_state(record, state);
  record.mac = lease.mac;
  record.is_durable = false;
  record.started = lease.started;
  record.expires = lease.expires;
  record.client_id = lease.client_id;
  record.host_name = lease.host_name;
  return record;
}

/// What fill() replaced, as it is on disk.
void Allocator::Impl::put_back(const Lease& before) {
  LeaseRecord& record = fill(before, before.state);
  record.is_durable = true;
  if (before.state == LeaseState::declined) return table.schedule(record);
  table.make_idle(record);
  if (std::as_const(table).find(before.mac) == nullptr) table.set_owner(record, before.mac);
}

/// Who has another lease here keeps that; a client that really uses two addresses is not disturbed at either.
Allocator::Adopted Allocator::Impl::bind_adopted(const Lease& adopted) {
  LeaseRecord* same = table.find(adopted.address);
  const LeaseRecord* own = std::as_const(table).find(adopted.mac);
  if (same != nullptr && same->state == LeaseState::bound) {
    if (same->is_durable && same->expires >= adopted.expires) return {Adoption::unchanged, {}};
    same->expires = std::max(same->expires, adopted.expires);
    return {Adoption::bound, event(LeaseEventKind::renewed, *same)};
  }
  const bool has_other = own != nullptr && own != same && own->state == LeaseState::bound;
  if (has_other) return let_rest(adopted);
  if (const OfferTable::Offer* offer = offers.find(adopted.mac); offer != nullptr && offer->address != adopted.address)
    drop_offer(offer->address);
  LeaseRecord& record = fill(adopted, LeaseState::bound);
  table.set_owner(record, adopted.mac);
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
  if (same != nullptr && same->mac == adopted.mac) return {Adoption::unchanged, {}};
  const bool is_clients = adopted.mac != MacAddress() && adopted.state != LeaseState::declined;
  const bool is_wanted = is_clients && same == nullptr && offers.find(adopted.address) == nullptr;
  if (!is_wanted || !pool.contains(adopted.address)) return {};
  const bool is_released = adopted.state == LeaseState::released;
  LeaseRecord& record = fill(adopted, is_released ? LeaseState::released : LeaseState::expired);
  record.expires = std::min(record.expires, now);
  table.make_idle(record);
  const LeaseRecord* own = std::as_const(table).find(adopted.mac);
  if (own == nullptr || (own->state != LeaseState::bound && own->expires <= record.expires))
    table.set_owner(record, adopted.mac);
  return {Adoption::remembered, event(is_released ? LeaseEventKind::released : LeaseEventKind::expired, record)};
}

void Allocator::settle_adopted(const LeaseEvent& event, bool is_durable) {
  LeaseRecord* record = impl_->table.find(event.lease.address);
  const auto replaced = impl_->replaced.extract(event.lease.address);
  if (record == nullptr) {
    // A request of the same client, which was waiting for the disk before the import, has been taken back since.
    if (!is_durable || event.lease.state != LeaseState::bound) return;
    record = &impl_->fill(event.lease, LeaseState::bound);
    impl_->table.set_owner(*record, event.lease.mac);
  }
  if (!is_durable) {
    if (record->is_durable) return;  // one of ours that would have lasted longer; in memory it does
    if (replaced) return impl_->put_back(replaced.mapped());
    impl_->table.erase(*record);
    return impl_->pool.give_back(event.lease.address);
  }
  record->is_durable = true;
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
  std::vector<Lease> out;
  impl_->table.for_each([&](const LeaseRecord& record) {
    if (record.is_durable) out.push_back(impl_->lease(record));
  });
  std::ranges::sort(out, {}, &Lease::address);
  return out;
}

Allocator::Usage Allocator::usage() const {
  return {.pool_size = impl_->pool.size(),
          .bound = impl_->table.count(LeaseState::bound),
          .offered = impl_->offers.size(),
          .declined = impl_->table.count(LeaseState::declined)};
}

}  // namespace hcpnet::dhcp
