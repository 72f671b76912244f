// SPDX-License-Identifier: Apache-2.0
#include "dhcp/lease_table.hpp"

#include <algorithm>
#include <hcpnet/dhcp/options.hpp>
#include <tuple>
#include <utility>

namespace hcpnet::dhcp {

LeaseRecord* LeaseTable::find(Ipv4 address) {
  const auto found = records_.find(address);
  return found == records_.end() ? nullptr : &found->second;
}

const LeaseRecord* LeaseTable::find(Ipv4 address) const {
  const auto found = records_.find(address);
  return found == records_.end() ? nullptr : &found->second;
}

const LeaseRecord* LeaseTable::find(const Client& client) const {
  if (identity_ == Identity::client_id) {
    const auto found = by_id_.find(key_of(client));
    return found == by_id_.end() ? nullptr : found->second;
  }
  const auto found = by_mac_.find(client.mac);
  return found == by_mac_.end() ? nullptr : found->second;
}

// A client that sends what its hardware address stands for, and one that sends nothing, are one.
std::string LeaseTable::key_of(const Client& client) const {
  if (identity_ == Identity::client_id && !client.client_id.empty()) return std::string(client.client_id);
  return make_client_id(client.mac);
}

bool LeaseTable::is_of(const LeaseRecord& record, const Client& client) const {
  if (identity_ == Identity::mac) return record.mac == client.mac;
  return key_of({record.mac, record.texts.client_id()}) == key_of(client);
}

void LeaseTable::set_identity(Identity identity) {
  if (identity == identity_) return;
  by_mac_.clear();
  by_id_.clear();
  bound_.clear();
  identity_ = identity;
  std::vector<LeaseRecord*> clients;
  for (auto& [address, record] : records_) {
    if (record.state == LeaseState::bound) add_bound(record.mac);
    if (record.state != LeaseState::declined && record.mac != MacAddress()) clients.push_back(&record);
  }
  std::ranges::sort(clients, {}, [](const LeaseRecord* r) {
    return std::tuple(r->state == LeaseState::bound, r->started, r->expires, r->address);
  });
  for (LeaseRecord* record : clients)  // of one client the last one stays
    set_owner(*record, {record->mac, record->texts.client_id()});
}

void LeaseTable::reserve(std::size_t count) {
  records_.reserve(count);
  if (identity_ == Identity::mac)
    by_mac_.reserve(count);
  else
    by_id_.reserve(count);
}

LeaseRecord& LeaseTable::obtain(Ipv4 address, std::size_t group) {
  const auto [place, is_new] = records_.try_emplace(address);
  LeaseRecord& record = place->second;
  if (is_new) {
    record.address = address;
    record.state = LeaseState::expired;
    record.group = static_cast<std::uint16_t>(group);
    ++groups_[group].counts[static_cast<std::size_t>(record.state)];
  }
  unlink(record);
  return record;
}

void LeaseTable::erase(LeaseRecord& record) {
  clear_owner(record);
  unlink(record);
  if (record.state == LeaseState::bound) remove_bound(record.mac);
  --groups_[record.group].counts[static_cast<std::size_t>(record.state)];
  records_.erase(record.address);
}

void LeaseTable::set_owner(LeaseRecord& record, const Client& client) {
  if (!is_of(record, client)) clear_owner(record);
  set_mac(record, client.mac);
  record.texts.set(client.client_id, record.texts.host_name(), record.texts.relay_information());
  if (identity_ == Identity::mac)
    by_mac_[record.mac] = &record;
  else
    by_id_[key_of({record.mac, record.texts.client_id()})] = &record;
}

void LeaseTable::clear_owner(LeaseRecord& record) {
  const auto erase_from = [&](auto& map, const auto& key) {
    const auto found = map.find(key);
    if (found != map.end() && found->second == &record) map.erase(found);
  };
  if (identity_ == Identity::mac)
    erase_from(by_mac_, record.mac);
  else
    erase_from(by_id_, key_of({record.mac, record.texts.client_id()}));
}

void LeaseTable::set_mac(LeaseRecord& record, const MacAddress& mac) {
  if (record.state == LeaseState::bound && record.mac != mac) {
    add_bound(mac);
    remove_bound(record.mac);
  }
  record.mac = mac;
}

std::size_t LeaseTable::count_bound(const MacAddress& mac) const {
  const auto found = bound_.find(mac);
  return found == bound_.end() ? 0 : found->second;
}

void LeaseTable::add_bound(const MacAddress& mac) {
  if (identity_ == Identity::client_id) ++bound_[mac];
}

void LeaseTable::remove_bound(const MacAddress& mac) {
  const auto found = bound_.find(mac);
  if (found != bound_.end() && --found->second == 0) bound_.erase(found);
}

void LeaseTable::set_state(LeaseRecord& record, LeaseState state) {
  if (state == LeaseState::bound && record.state != LeaseState::bound) add_bound(record.mac);
  if (state != LeaseState::bound && record.state == LeaseState::bound) remove_bound(record.mac);
  auto& counts = groups_[record.group].counts;
  --counts[static_cast<std::size_t>(record.state)];
  ++counts[static_cast<std::size_t>(state)];
  record.state = state;
}

void LeaseTable::make_idle(LeaseRecord& record, bool first) noexcept {
  unlink(record);
  record.is_idle = true;
  Group& group = groups_[record.group];
  LeaseRecord*& end = first ? group.oldest : group.newest;
  LeaseRecord*& other_end = first ? group.newest : group.oldest;
  (first ? record.newer : record.older) = end;
  if (end != nullptr) (first ? end->older : end->newer) = &record;
  end = &record;
  if (other_end == nullptr) other_end = &record;
}

/// Several lists may have become one, so the time of ending decides.
void LeaseTable::make_idle_in_order(std::vector<LeaseRecord*> idle) {
  std::ranges::sort(idle, {}, [](const LeaseRecord* r) { return std::tuple(r->expires, r->address); });
  for (LeaseRecord* record : idle) make_idle(*record);
}

void LeaseTable::unlink(LeaseRecord& record) noexcept {
  if (!record.is_idle) return;
  Group& group = groups_[record.group];
  (record.older != nullptr ? record.older->newer : group.oldest) = record.newer;
  (record.newer != nullptr ? record.newer->older : group.newest) = record.older;
  record.older = record.newer = nullptr;
  record.is_idle = false;
}

void LeaseTable::schedule(LeaseRecord& record) {
  const Time due = record.expires + reuse_delay_;
  if (record.wake <= due) return;  // comes up early, and is put back then
  record.wake = due;
  due_.push(record.wake, record.address);
}

LeaseRecord* LeaseTable::pop_due(Time now) {
  while (due_.next() && *due_.next() <= now) {
    const auto [at, address] = due_.pop();
    LeaseRecord* record = find(address);
    if (record == nullptr || record->wake != at) continue;  // of an earlier life
    record->wake = Time::max();
    const bool is_running = record->state == LeaseState::bound || record->state == LeaseState::declined;
    if (!is_running) continue;
    if (record->expires + reuse_delay_ <= now) return record;
    schedule(*record);
  }
  return nullptr;
}

}  // namespace hcpnet::dhcp
