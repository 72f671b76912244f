// SPDX-License-Identifier: Apache-2.0
#include "dhcp/lease_table.hpp"

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

const LeaseRecord* LeaseTable::find(const MacAddress& mac) const {
  const auto found = by_mac_.find(mac);
  return found == by_mac_.end() ? nullptr : found->second;
}

void LeaseTable::reserve(std::size_t count) {
  records_.reserve(count);
  by_mac_.reserve(count);
}

LeaseRecord& LeaseTable::obtain(Ipv4 address) {
  const auto [place, is_new] = records_.try_emplace(address);
  LeaseRecord& record = place->second;
  if (is_new) {
    record.address = address;
    record.state = LeaseState::expired;
    ++counts_[static_cast<std::size_t>(record.state)];
  }
  unlink(record);
  return record;
}

void LeaseTable::erase(LeaseRecord& record) {
  clear_owner(record);
  unlink(record);
  --counts_[static_cast<std::size_t>(record.state)];
  records_.erase(record.address);
}

void LeaseTable::set_owner(LeaseRecord& record, const MacAddress& mac) {
  if (record.mac != mac) clear_owner(record);
  record.mac = mac;
  by_mac_[mac] = &record;
}

void LeaseTable::clear_owner(LeaseRecord& record) {
  const auto found = by_mac_.find(record.mac);
  if (found != by_mac_.end() && found->second == &record) by_mac_.erase(found);
}

void LeaseTable::set_state(LeaseRecord& record, LeaseState state) noexcept {
  --counts_[static_cast<std::size_t>(record.state)];
  ++counts_[static_cast<std::size_t>(state)];
  record.state = state;
}

void LeaseTable::make_idle(LeaseRecord& record, bool first) noexcept {
  unlink(record);
  record.is_idle = true;
  LeaseRecord*& end = first ? oldest_ : newest_;
  LeaseRecord*& other_end = first ? newest_ : oldest_;
  (first ? record.newer : record.older) = end;
  if (end != nullptr) (first ? end->older : end->newer) = &record;
  end = &record;
  if (other_end == nullptr) other_end = &record;
}

LeaseRecord* LeaseTable::take_idle() noexcept {
  LeaseRecord* record = oldest_;
  if (record != nullptr) unlink(*record);
  return record;
}

void LeaseTable::unlink(LeaseRecord& record) noexcept {
  if (!record.is_idle) return;
  (record.older != nullptr ? record.older->newer : oldest_) = record.newer;
  (record.newer != nullptr ? record.newer->older : newest_) = record.older;
  record.older = record.newer = nullptr;
  record.is_idle = false;
}

void LeaseTable::schedule(LeaseRecord& record) {
  if (record.wake <= record.expires) return;  // comes up early, and is put back then
  record.wake = record.expires;
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
    if (record->expires <= now) return record;
    schedule(*record);
  }
  return nullptr;
}

}  // namespace hcpnet::dhcp
