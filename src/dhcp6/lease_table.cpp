// SPDX-License-Identifier: Apache-2.0
#include "dhcp6/lease_table.hpp"

#include <vector>

namespace hcpnet::dhcp6 {
namespace {

template <class Map, class Key>
auto find_in(Map& map, const Key& key) -> decltype(&map.find(key)->second) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

/// What is in use says more than what has ended.
template <class Map, class Key>
void remember(Map& map, const Key& key, Record& record) {
  const auto [place, is_new] = map.try_emplace(key, &record);
  if (!is_new && (record.is_live() || !place->second->is_live())) place->second = &record;
}

template <class Map, class Key>
void forget(Map& map, const Key& key, const Record& record) {
  const auto found = map.find(key);
  if (found != map.end() && found->second == &record) map.erase(found);
}

}  // namespace

/// Cloned machines show one DUID and one IAID: with Identity::mac the hardware address keeps them apart.
std::string LeaseTable::key_of(const Client& client) const {
  std::string key(as_text(client.duid.bytes()));
  for (int shift = 24; shift >= 0; shift -= 8) key += static_cast<char>(client.iaid >> shift);
  if (identity_ == Identity::mac && client.mac) key += as_text(client.mac->bytes());
  return key;
}

void LeaseTable::set_identity(Identity identity) {
  if (identity == identity_) return;
  std::vector<Record*> all;
  for (auto& [address, record] : records_) all.push_back(&record);
  for (Record* record : all) unlink(*record);
  identity_ = identity;
  for (Record* record : all) link(*record);
}

Record* LeaseTable::find(const Ipv6& address) {
  return find_in(records_, address);
}

const Record* LeaseTable::find(const Ipv6& address) const {
  return find_in(records_, address);
}

Record* LeaseTable::find(const Client& client) const {
  if (Record* const* exact = find_in(by_key_, key_of(client))) return *exact;
  if (identity_ == Identity::duid || !client.mac) return nullptr;
  if (Record* same_interface = find_by_mac(client)) return same_interface;
  Client unseen = client;  // as it was when its hardware address was not known
  unseen.mac.reset();
  Record* const* before = find_in(by_key_, key_of(unseen));
  return before == nullptr ? nullptr : *before;
}

Record* LeaseTable::find_by_mac(const Client& client) const {
  const auto is_another = [&](const Record& record, const MacAddress& mac) {
    if (!record.is_live()) return false;
    if (record.client.duid == client.duid) return record.client.iaid != client.iaid;
    return client.link_mac && *client.link_mac != mac;
  };
  for (const auto& mac : {client.mac, client.link_mac}) {
    if (!mac) continue;
    Record* const* found = find_in(by_mac_, *mac);
    if (found != nullptr && !is_another(**found, *mac)) return *found;
  }
  return nullptr;
}

std::string LeaseTable::holder_of(const Client& client) const {
  const bool is_by_mac = identity_ == Identity::mac && client.mac;
  return std::string(is_by_mac ? "m" : "d")
      .append(as_text(is_by_mac ? ByteView(client.mac->bytes()) : client.duid.bytes()));
}

std::size_t LeaseTable::count_live(const Client& client) const {
  const std::size_t* count = find_in(live_, holder_of(client));
  return count == nullptr ? 0 : *count;
}

Record& LeaseTable::obtain(const Ipv6& address) {
  const auto [place, is_new] = records_.try_emplace(address);
  if (is_new) {
    place->second.address = address;
    link(place->second);
  }
  return place->second;
}

void LeaseTable::erase(const Ipv6& address) {
  const auto found = records_.find(address);
  if (found == records_.end()) return;
  unlink(found->second);
  records_.erase(found);
}

void LeaseTable::set(Record& record, const Client& client, Use use, Time ends) {
  unlink(record);
  record.client = client;
  record.client.link_mac.reset();
  record.use = use;
  record.ends = ends;
  link(record);
}

void LeaseTable::link(Record& record) {
  ++counts_[static_cast<std::size_t>(record.use)];
  if (record.is_running()) {
    due_.emplace(due_of(record), record.address);
  } else {
    record.idle_since = ++idle_count_;
    idle_.emplace(record.idle_since, record.address);
  }
  if (record.client.duid.empty() || record.use == Use::declined) return;  // whoever declined it wants another one
  if (record.is_live()) ++live_[holder_of(record.client)];
  remember(by_key_, key_of(record.client), record);
  if (record.client.mac) remember(by_mac_, *record.client.mac, record);
}

void LeaseTable::unlink(Record& record) {
  --counts_[static_cast<std::size_t>(record.use)];
  if (record.is_running()) {
    due_.erase({due_of(record), record.address});
  } else {
    idle_.erase({record.idle_since, record.address});
    record.idle_since = 0;
  }
  if (record.client.duid.empty() || record.use == Use::declined) return;
  if (const auto count = live_.find(holder_of(record.client)); record.is_live()) {
    if (--count->second == 0) live_.erase(count);
  }
  forget(by_key_, key_of(record.client), record);
  if (record.client.mac) forget(by_mac_, *record.client.mac, record);
}

std::optional<LeaseTable::Time> LeaseTable::next_due() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

Record* LeaseTable::find_due(Time now) {
  if (due_.empty() || due_.begin()->first > now) return nullptr;
  return find(due_.begin()->second);
}

}  // namespace hcpnet::dhcp6
