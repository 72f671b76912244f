// SPDX-License-Identifier: Apache-2.0
#include "dhcp/probe_table.hpp"

#include <algorithm>

namespace hcpnet::dhcp {

ProbeTable::Added ProbeTable::add(ProbedOffer offer, Time now) {
  const Place place(offer.link, offer.probe.address);
  if (const auto known = waiting_.find(place); known != waiting_.end()) {
    ProbedOffer& before = known->second.offer;
    if (before.probe.client == offer.probe.client && before.probe.client_id == offer.probe.client_id) {
      offer.probe = before.probe;  // the question that was asked
      offer.conflicts = std::max(offer.conflicts, before.conflicts);
      before = std::move(offer);
      return {Verdict::waiting, known->second.sequence};
    }
    static_cast<void>(take(known));
  }
  if (waiting_.size() >= limits_.max_waiting) return {Verdict::full, 0};
  const Time due = now + offer.probe.timeout;
  const std::uint16_t sequence = next_sequence_++;
  due_.emplace(due, place);
  waiting_.emplace(place, Entry{std::move(offer), due, sequence});
  return {Verdict::ask, sequence};
}

std::optional<ProbedOffer> ProbeTable::take_answered(std::size_t link, const ProbeAnswer& answer) {
  const auto found = waiting_.find({link, answer.address});
  if (found == waiting_.end()) return std::nullopt;
  const AddressProbe& asked = found->second.offer.probe;
  const bool is_meant = answer.by ? !asked.is_relayed && answer.by != asked.client
                                  : asked.is_relayed && answer.sequence == found->second.sequence;
  if (!is_meant) return std::nullopt;
  return take(found);
}

std::optional<ProbedOffer> ProbeTable::take_due(Time now) {
  if (due_.empty() || due_.begin()->first > now) return std::nullopt;
  return take(waiting_.find(due_.begin()->second));
}

std::optional<ProbeTable::Time> ProbeTable::next_due() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

void ProbeTable::forget(std::size_t link, Ipv4 address) {
  const auto found = waiting_.find({link, address});
  if (found != waiting_.end()) static_cast<void>(take(found));
}

void ProbeTable::clear() {
  waiting_.clear();
  due_.clear();
}

ProbedOffer ProbeTable::take(Entries::iterator entry) {
  due_.erase({entry->second.due, entry->first});
  ProbedOffer out = std::move(entry->second.offer);
  waiting_.erase(entry);
  return out;
}

}  // namespace hcpnet::dhcp
