// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/assert.hpp>
#include <hcpnet/dhcp6/allocator.hpp>
#include <utility>

#include "dhcp/decline_counts.hpp"
#include "dhcp6/lease_table.hpp"

namespace hcpnet::dhcp6 {
namespace {

using Time = Allocator::Time;

/// The pool lies in one /64, so that its addresses are told apart by this half.
std::uint64_t low(const Ipv6& address) noexcept {
  return ByteReader(ByteView(address.bytes()).subspan(8)).u64();
}

Ipv6 with_low(const Ipv6& network, std::uint64_t value) noexcept {
  std::array<std::uint8_t, 16> bytes = network.bytes();
  ByteWriter(std::span(bytes).subspan(8)).u64(value);
  return Ipv6(bytes);
}

LeaseState to_state(Use use) noexcept {
  switch (use) {
    case Use::bound:
      return LeaseState::bound;
    case Use::released:
      return LeaseState::released;
    case Use::declined:
      return LeaseState::declined;
    case Use::offered:
    case Use::expired:
      break;
  }
  return LeaseState::expired;
}

Use to_use(LeaseState state) noexcept {
  switch (state) {
    case LeaseState::bound:
      return Use::bound;
    case LeaseState::released:
      return Use::released;
    case LeaseState::declined:
      return Use::declined;
    case LeaseState::expired:
      break;
  }
  return Use::expired;
}

}  // namespace

struct Allocator::Impl {
  Impl(const Subnet& s, const AllocatorLimits& l)
      : limits(l), table(s.identity, l.reuse_delay), declines(l.decline_hold) {
    reconfigure(s);
  }

  void reconfigure(const Subnet& s);
  [[nodiscard]] std::optional<Ipv6> reservation(const Client& client) const;
  [[nodiscard]] bool is_in_pool(const Ipv6& address) const noexcept;
  [[nodiscard]] bool may_have(const Client& client, const Ipv6& address) const;
  [[nodiscard]] bool is_free(const Record* own, const Ipv6& address) const;
  std::optional<Ipv6> choose(const Client& client, std::span<const Ipv6> hints);
  std::optional<Ipv6> next_unused();
  LeaseEvent event(LeaseEventKind kind, const Record& record) const;
  [[nodiscard]] Lease lease_of(const Record& record) const;
  LeaseEvent end(Record& record, LeaseEventKind kind, Use use, Time now);
  Record* owned(const Client& client, const Ipv6& address);
  void drop_offer(Record& record, Time now);
  [[nodiscard]] Record* left_for(const Ipv6& address);
  void end_left(const Ipv6& address);
  void stay(const Ipv6& address);
  [[nodiscard]] bool is_never_given(const Ipv6& address) const;
  Adopted bind_adopted(const Lease& lease, Time now);
  Adopted let_rest(const Lease& lease);
  Adopted remember(const Lease& lease, Time now);
  Record& fill(const Lease& lease, Use use, Time ends);

  /// A client that moves: what it has ends when what it gets is on disk.
  struct Move {
    Ipv6 from;
    Client client;  ///< as that record has it
    Time at;
  };

  AllocatorLimits limits;
  Subnet subnet;
  LeaseTable table;
  dhcp::DeclineCounts declines;  // by holder
  std::vector<Ipv6> fixed;       // addresses that the pool has but does not give; ascending
  std::unordered_map<MacAddress, Ipv6> reserved_by_mac;
  std::unordered_map<std::string, Ipv6> reserved_by_duid;
  std::unordered_map<Ipv6, Move, HashIpv6> moves;      // by the address offered instead
  std::unordered_map<Ipv6, Time, HashIpv6> shortened;  // when leases end that a renewal makes shorter, once on disk
  std::set<Ipv6> returned;                             // below `next`, offered but never bound
  std::unordered_map<Ipv6, Lease, HashIpv6> replaced;  // on disk, until settle_adopted() tells what is there now
  std::unordered_map<Ipv6, Time, HashIpv6> stored;     // ends on disk, where those of the records are not there (yet)
  std::uint64_t next = 0;                              // low half of the lowest address that was never given
  bool is_passed = false;                              // every address of the pool was given once
};

void Allocator::Impl::reconfigure(const Subnet& s) {
  subnet = s;
  table.set_identity(s.identity);
  fixed = s.dns_servers;
  reserved_by_mac.clear();
  reserved_by_duid.clear();
  for (const Reservation& r : s.reservations) {
    fixed.push_back(r.address);
    if (r.mac) reserved_by_mac.emplace(*r.mac, r.address);
    if (r.duid) reserved_by_duid.emplace(as_text(r.duid->bytes()), r.address);
  }
  fixed.push_back(s.cidr.network().v6());  // RFC 4291 section 2.6.1: that of all routers of the link
  std::ranges::sort(fixed);
  const auto repeated = std::ranges::unique(fixed);
  fixed.erase(repeated.begin(), repeated.end());
  returned.clear();  // the search starts over: what was reserved may be free now
  next = low(s.pool.first);
  is_passed = false;
}

std::optional<Ipv6> Allocator::Impl::reservation(const Client& client) const {
  if (const auto by_duid = reserved_by_duid.find(std::string(as_text(client.duid.bytes())));
      by_duid != reserved_by_duid.end()) {
    return by_duid->second;
  }
  if (!client.mac) return std::nullopt;
  const auto by_mac = reserved_by_mac.find(*client.mac);
  return by_mac == reserved_by_mac.end() ? std::nullopt : std::optional(by_mac->second);
}

bool Allocator::Impl::is_in_pool(const Ipv6& address) const noexcept {
  return subnet.pool.first <= address && address <= subnet.pool.last && !std::ranges::binary_search(fixed, address);
}

bool Allocator::Impl::may_have(const Client& client, const Ipv6& address) const {
  return is_in_pool(address) || reservation(client) == address;
}

/// Nobody has it, or the client itself (`own`) has or had it.
bool Allocator::Impl::is_free(const Record* own, const Ipv6& address) const {
  const Record* record = table.find(address);
  return record == nullptr || (record == own && record->use != Use::declined);
}

std::optional<Ipv6> Allocator::Impl::choose(const Client& client, std::span<const Ipv6> hints) {
  const Record* own = table.find(client);
  const Record* left = own != nullptr && own->use == Use::offered ? left_for(own->address) : nullptr;
  if (const auto reserved = reservation(client)) {
    const Record* holder = table.find(*reserved);
    if (holder == nullptr || holder == own || holder == left || !holder->is_running()) return reserved;
  }
  if (left != nullptr && is_in_pool(left->address)) return left->address;  // there is no reason left to move
  if (own != nullptr && is_in_pool(own->address)) return own->address;
  if (table.count_live(client) >= limits.max_per_client) return std::nullopt;
  const auto hint = std::ranges::find_if(hints, [&](const Ipv6& h) { return is_in_pool(h) && is_free(own, h); });
  if (hint != hints.end() && table.size() < limits.max_leases) return *hint;
  if (table.size() < limits.max_leases) {
    if (const auto unused = next_unused()) return unused;
  }
  const Record* idle = table.oldest_idle([&](const Ipv6& address) { return is_in_pool(address); });
  return idle == nullptr ? std::nullopt : std::optional(idle->address);
}

std::optional<Ipv6> Allocator::Impl::next_unused() {
  while (!returned.empty()) {
    const Ipv6 address = returned.extract(returned.begin()).value();
    if (is_in_pool(address) && table.find(address) == nullptr) {
      returned.insert(address);  // it may not be taken after all
      return address;
    }
  }
  const std::uint64_t last = low(subnet.pool.last);
  for (; !is_passed; ++next) {
    const Ipv6 address = with_low(subnet.pool.first, next);
    if (is_in_pool(address) && table.find(address) == nullptr) return address;
    is_passed = next == last;
  }
  return std::nullopt;
}

Lease Allocator::Impl::lease_of(const Record& record) const {
  return {record.address,       record.client,  record.host_name, subnet.name,
          to_state(record.use), record.started, record.ends};
}

LeaseEvent Allocator::Impl::event(LeaseEventKind kind, const Record& record) const {
  return {kind, lease_of(record)};
}

LeaseEvent Allocator::Impl::end(Record& record, LeaseEventKind kind, Use use, Time until) {
  stored.erase(record.address);
  table.set(record, record.client, use, until);
  return event(kind, record);
}

Record* Allocator::Impl::owned(const Client& client, const Ipv6& address) {
  Record* record = table.find(client);
  return record != nullptr && record->address == address && record->is_live() ? record : nullptr;
}

/// An offer that nobody took up. What was never bound is forgotten, so that a flood of clients leaves nothing behind.
void Allocator::Impl::drop_offer(Record& record, Time now) {
  stay(record.address);
  if (record.had_lease) return table.set(record, record.client, Use::expired, now);
  returned.insert(record.address);
  table.erase(Ipv6(record.address));
}

/// The binding that the client of this address moves away from, unless it is somebody else's, or has ended, meanwhile.
Record* Allocator::Impl::left_for(const Ipv6& address) {
  const auto move = moves.find(address);
  if (move == moves.end()) return nullptr;
  Record* left = table.find(move->second.from);
  const bool is_its = left != nullptr && left->use == Use::bound && left->client == move->second.client;
  return is_its ? left : nullptr;
}

void Allocator::Impl::end_left(const Ipv6& address) {
  if (Record* left = left_for(address))
    table.set(*left, Client(left->client), Use::released, std::min(left->ends, moves.at(address).at));
  moves.erase(address);
}

/// The client does not get there: it is where it was, and is found there again.
void Allocator::Impl::stay(const Ipv6& address) {
  Record* left = left_for(address);
  moves.erase(address);
  if (left != nullptr) table.set(*left, Client(left->client), Use::bound, left->ends);
}

Allocator::Allocator(const Subnet& subnet, AllocatorLimits limits) : impl_(std::make_unique<Impl>(subnet, limits)) {}
Allocator::~Allocator() = default;
Allocator::Allocator(Allocator&&) noexcept = default;
Allocator& Allocator::operator=(Allocator&&) noexcept = default;

void Allocator::reconfigure(const Subnet& subnet) {
  impl_->reconfigure(subnet);
}

/// The older first: of two bindings of one client the newer is the one that is found.
void Allocator::restore(std::vector<Lease> leases, Time now) {
  std::ranges::stable_sort(leases, {}, &Lease::expires);
  for (Lease& lease : leases) {
    Record& record = impl_->table.obtain(lease.address);
    record.host_name = std::move(lease.host_name);
    record.started = lease.started;
    record.is_durable = record.had_lease = true;
    const bool is_over = lease.expires + impl_->limits.reuse_delay <= now && lease.state != LeaseState::released;
    impl_->table.set(record, lease.client, is_over ? Use::expired : to_use(lease.state), lease.expires);
  }
}

std::optional<Ipv6> Allocator::offer(const Client& client, std::span<const Ipv6> hints, Time now) {
  const auto address = impl_->choose(client, hints);
  if (!address) return std::nullopt;
  Record* own = impl_->table.find(client);
  const auto has_it = [&] { return own != nullptr && own->address == *address && own->use == Use::bound; };
  if (has_it()) return address;
  const bool is_held = own != nullptr && own->use == Use::offered;
  if (!is_held && impl_->table.count(Use::offered) >= impl_->limits.max_offers) return std::nullopt;
  if (is_held && own->address != *address) {
    impl_->drop_offer(*own, now);
    own = impl_->table.find(client);  // what it would have moved away from
    if (has_it()) return address;
  }
  if (own != nullptr && own->use == Use::bound)
    impl_->moves.insert_or_assign(*address, Impl::Move{own->address, own->client, now});
  Record& record = impl_->table.obtain(*address);
  record.is_durable = false;
  record.host_name.clear();
  record.started = now;
  impl_->table.set(record, client, Use::offered, now + impl_->limits.offer_hold);
  return address;
}

std::optional<Ipv6> Allocator::bound(const Client& client) const {
  const Record* record = impl_->table.find(client);
  if (record != nullptr && record->use == Use::offered) record = impl_->left_for(record->address);
  return record != nullptr && record->use == Use::bound ? std::optional(record->address) : std::nullopt;
}

std::optional<Time> Allocator::stored_end(const Ipv6& address) const {
  const Record* record = impl_->table.find(address);
  if (record == nullptr || record->use != Use::bound || !record->is_durable) return std::nullopt;
  const auto known = impl_->stored.find(address);
  return known == impl_->stored.end() ? record->ends : known->second;
}

bool Allocator::is_available(const Client& client, const Ipv6& address) const {
  const Record* own = impl_->table.find(client);
  return impl_->may_have(client, address) && impl_->is_free(own, address);
}

std::vector<LeaseEvent> Allocator::bind(const Client& client, const Ipv6& address, std::string host_name, Time now) {
  std::vector<LeaseEvent> out;
  Record* record = impl_->table.find(address);
  BOOST_ASSERT(record != nullptr && record->is_live());
  const bool is_renewal = record->use == Use::bound;
  if (!is_renewal) record->started = now;
  if (const Record* left = is_renewal ? nullptr : impl_->left_for(address)) {
    impl_->moves.at(address).at = now;
    LeaseEvent ended = impl_->event(LeaseEventKind::released, *left);
    ended.lease.state = LeaseState::released;
    ended.lease.expires = std::min(ended.lease.expires, now);
    out.push_back(std::move(ended));
  }
  record->had_lease = true;
  record->host_name = std::move(host_name);
  const Time ends = now + impl_->subnet.lease_time;
  const bool is_shorter = is_renewal && ends < record->ends;
  if (is_renewal && record->is_durable) {
    Time& earliest = impl_->stored.try_emplace(address, record->ends).first->second;
    earliest = std::min(earliest, ends);
  }
  impl_->table.set(*record, client, Use::bound, is_shorter ? record->ends : ends);
  if (is_shorter)
    impl_->shortened.insert_or_assign(address, ends);
  else
    impl_->shortened.erase(address);
  out.push_back(impl_->event(is_renewal ? LeaseEventKind::renewed : LeaseEventKind::bound, *record));
  out.back().lease.expires = ends;
  return out;
}

/// A renewal may be on disk although the binding before it failed: then it is a binding again.
void Allocator::confirm(const Lease& lease) {
  Record* record = impl_->table.find(lease.address);
  if (record == nullptr) return;
  if (record->client == lease.client) {
    if (record->use == Use::offered) impl_->table.set(*record, lease.client, Use::bound, lease.expires);
    impl_->end_left(lease.address);
  }
  if (record->use != Use::bound) return;
  record->is_durable = true;
  const auto pending = impl_->shortened.find(lease.address);
  if (pending != impl_->shortened.end() && pending->second == lease.expires) {
    impl_->table.set(*record, Client(record->client), Use::bound, pending->second);
    impl_->shortened.erase(pending);
  }
  if (lease.expires == record->ends)
    impl_->stored.erase(lease.address);
  else
    impl_->stored.insert_or_assign(lease.address, lease.expires);  // a later renewal waits
}

void Allocator::revert(const Ipv6& address, Time now) {
  impl_->shortened.erase(address);
  Record* record = impl_->table.find(address);
  if (record == nullptr || record->use != Use::bound || record->is_durable) return;
  impl_->table.set(*record, record->client, Use::offered, now + impl_->limits.offer_hold);
}

std::optional<LeaseEvent> Allocator::release(const Client& client, const Ipv6& address, Time now) {
  Record* record = impl_->owned(client, address);
  if (record == nullptr) return std::nullopt;
  return impl_->end(*record, LeaseEventKind::released, Use::released, now);
}

std::optional<LeaseEvent> Allocator::decline(const Client& client, const Ipv6& address, Time now) {
  Record* record = impl_->owned(client, address);
  if (record == nullptr) return std::nullopt;
  std::string holder = impl_->table.holder_of(client);
  if (impl_->declines.count(holder, now) >= impl_->limits.max_declined_per_client) return std::nullopt;
  impl_->declines.add(std::move(holder), now);
  record->is_durable = true;
  return impl_->end(*record, LeaseEventKind::declined, Use::declined, now + impl_->limits.decline_hold);
}

std::optional<LeaseEvent> Allocator::end(const Ipv6& address, Time now) {
  Record* record = impl_->table.find(address);
  const bool is_lease = record != nullptr && (record->use == Use::bound || record->use == Use::declined);
  if (!is_lease) return std::nullopt;
  return impl_->end(*record, LeaseEventKind::released, Use::released, std::min(record->ends, now));
}

// --- leases from elsewhere

bool Allocator::Impl::is_never_given(const Ipv6& address) const {
  return address == subnet.cidr.network().v6() ||
         std::ranges::find(subnet.dns_servers, address) != subnet.dns_servers.end();
}

dhcp::AdoptObstacle Allocator::obstacle(const Lease& lease, Time now) const {
  using dhcp::AdoptObstacle;
  const bool is_running = lease.state == LeaseState::bound || lease.state == LeaseState::declined;
  if (!is_running || lease.expires <= now) return AdoptObstacle::none;
  if (impl_->is_never_given(lease.address)) return AdoptObstacle::own_address;
  if (lease.client.duid.empty()) return AdoptObstacle::no_client;
  const Record* record = impl_->table.find(lease.address);
  if (lease.state == LeaseState::declined || record == nullptr) return AdoptObstacle::none;
  if (record->use == Use::bound && impl_->table.find(lease.client) != record) return AdoptObstacle::held;
  return record->use == Use::declined && record->client != lease.client ? AdoptObstacle::resting : AdoptObstacle::none;
}

std::size_t Allocator::room() const noexcept {
  const std::size_t used = impl_->table.size();
  return used < impl_->limits.max_leases ? impl_->limits.max_leases - used : 0;
}

Allocator::Adopted Allocator::adopt(const Lease& lease, Time now) {
  BOOST_ASSERT(obstacle(lease, now) == dhcp::AdoptObstacle::none);
  const bool is_running = lease.state == LeaseState::bound || lease.state == LeaseState::declined;
  if (!is_running || lease.expires <= now) return impl_->remember(lease, now);
  return lease.state == LeaseState::bound ? impl_->bind_adopted(lease, now) : impl_->let_rest(lease);
}

/// The record of the address, as the lease has it, in use by nobody else and not yet durable.
Record& Allocator::Impl::fill(const Lease& lease, Use use, Time ends) {
  stay(lease.address);
  returned.erase(lease.address);
  if (const Record* before = table.find(lease.address); before != nullptr && before->is_durable)
    replaced.insert_or_assign(lease.address, lease_of(*before));
  Record& record = table.obtain(lease.address);
  record.host_name = lease.host_name;
  record.started = lease.started;
  record.is_durable = false;
  record.had_lease = true;
  table.set(record, lease.client, use, ends);
  return record;
}

/// Who has another lease here keeps that; a client that really uses two addresses is not disturbed at either.
Allocator::Adopted Allocator::Impl::bind_adopted(const Lease& adopted, Time now) {
  Record* same = table.find(adopted.address);
  Record* own = table.find(adopted.client);
  if (same != nullptr && same->use == Use::bound) {
    if (same->is_durable && same->ends >= adopted.expires) return {dhcp::Adoption::unchanged, {}};
    if (same->is_durable) stored.try_emplace(same->address, same->ends);
    table.set(*same, Client(same->client), Use::bound, std::max(same->ends, adopted.expires));
    return {dhcp::Adoption::bound, event(LeaseEventKind::renewed, *same)};
  }
  const bool is_elsewhere = own != nullptr && own != same;
  if (is_elsewhere && (own->use == Use::bound || moves.contains(own->address))) return let_rest(adopted);
  if (is_elsewhere && own->use == Use::offered) drop_offer(*own, now);
  const Record& record = fill(adopted, Use::bound, adopted.expires);
  return {dhcp::Adoption::bound, event(LeaseEventKind::bound, record)};
}

Allocator::Adopted Allocator::Impl::let_rest(const Lease& adopted) {
  const Record* same = table.find(adopted.address);
  if (same != nullptr && same->use == Use::bound) return {dhcp::Adoption::left_out, {}};
  if (same != nullptr && same->use == Use::declined && same->ends >= adopted.expires)
    return {dhcp::Adoption::unchanged, {}};
  const Record& record = fill(adopted, Use::declined, adopted.expires);
  return {dhcp::Adoption::rests, event(LeaseEventKind::declined, record)};
}

/// An ended lease is of use only where nobody has had the address since.
Allocator::Adopted Allocator::Impl::remember(const Lease& adopted, Time now) {
  const Record* same = table.find(adopted.address);
  if (same != nullptr && same->client == adopted.client) return {dhcp::Adoption::unchanged, {}};
  const bool is_clients = !adopted.client.duid.empty() && adopted.state != LeaseState::declined;
  if (!is_clients || same != nullptr || !is_in_pool(adopted.address)) return {};
  const bool is_released = adopted.state == LeaseState::released;
  const Record& record = fill(adopted, is_released ? Use::released : Use::expired, std::min(adopted.expires, now));
  return {dhcp::Adoption::remembered, event(is_released ? LeaseEventKind::released : LeaseEventKind::expired, record)};
}

void Allocator::settle_adopted(const LeaseEvent& event, bool is_durable) {
  Record* record = impl_->table.find(event.lease.address);
  const auto replaced = impl_->replaced.extract(event.lease.address);
  if (record == nullptr) return;
  if (is_durable) {
    // A request of the same client, which was waiting for the disk before the import, may have been taken back since.
    if (record->use == Use::offered && event.lease.state == LeaseState::bound)
      impl_->table.set(*record, event.lease.client, Use::bound, event.lease.expires);
    record->is_durable = true;
    impl_->stored.erase(event.lease.address);
  } else if (record->is_durable) {
    return;  // one of ours that would have lasted longer; in memory it does
  } else if (replaced) {
    const Lease& before = replaced.mapped();
    impl_->fill(before, to_use(before.state), before.expires).is_durable = true;
  } else {
    impl_->table.erase(event.lease.address);
    impl_->returned.insert(event.lease.address);
  }
}

std::vector<LeaseEvent> Allocator::expire(Time now, std::size_t max) {
  std::vector<LeaseEvent> out;
  for (std::size_t i = 0; i < max; ++i) {
    Record* record = impl_->table.find_due(now);
    if (record == nullptr) break;
    if (record->use == Use::offered) {
      impl_->drop_offer(*record, record->ends);
    } else {
      out.push_back(impl_->end(*record, LeaseEventKind::expired, Use::expired, record->ends));
    }
  }
  return out;
}

std::optional<Allocator::Time> Allocator::next_due() const {
  return impl_->table.next_due();
}

std::vector<Lease> Allocator::leases() const {
  std::vector<Lease> out;
  impl_->table.for_each([&](const Record& record) {
    if (record.is_durable && record.use != Use::offered) out.push_back(impl_->lease_of(record));
  });
  std::ranges::sort(out, {}, &Lease::address);
  return out;
}

Allocator::Usage Allocator::usage() const {
  const Ipv6Range& pool = impl_->subnet.pool;
  const auto in_range = [&](const Ipv6& a) { return pool.first <= a && a <= pool.last; };
  const auto holes = static_cast<std::uint64_t>(std::ranges::count_if(impl_->fixed, in_range));
  const std::uint64_t span = low(pool.last) - low(pool.first);  // one less than the size, which may not fit
  const std::uint64_t size = holes > span ? 0 : span == UINT64_MAX && holes == 0 ? UINT64_MAX : span - holes + 1;
  return {size, impl_->table.count(Use::bound), impl_->table.count(Use::offered), impl_->table.count(Use::declined)};
}

}  // namespace hcpnet::dhcp6
