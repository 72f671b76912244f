// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/net.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dhcp/due_queue.hpp"

namespace hcpnet::dhcp {

/// What is kept per address that was ever bound. Smaller than a Lease: the subnet is known.
struct LeaseRecord {
  using Time = std::chrono::sys_seconds;

  Ipv4 address;
  MacAddress mac;
  LeaseState state = LeaseState::bound;
  bool is_durable = false;
  bool is_idle = false;  ///< in the list of ended leases, free to be given to anybody
  Time started{};
  Time expires{};
  Time wake = Time::max();  ///< of its entry in the due queue; max: it has none
  std::string client_id;
  std::string host_name;
  LeaseRecord* older = nullptr;  ///< neighbours in that list
  LeaseRecord* newer = nullptr;
};

/// The records of one subnet, by address and by client, with the order of re-use and the times of ending.
class LeaseTable {
 public:
  using Time = LeaseRecord::Time;

  LeaseTable() = default;
  LeaseTable(const LeaseTable&) = delete;  // records point at one another
  LeaseTable& operator=(const LeaseTable&) = delete;

  [[nodiscard]] LeaseRecord* find(Ipv4 address);
  [[nodiscard]] const LeaseRecord* find(Ipv4 address) const;
  [[nodiscard]] const LeaseRecord* find(const MacAddress& mac) const;
  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
  void reserve(std::size_t count);

  /// The record of an address, new or not, taken out of the idle list.
  LeaseRecord& obtain(Ipv4 address);
  void erase(LeaseRecord& record);
  /// From now on this is the client's binding.
  void set_owner(LeaseRecord& record, const MacAddress& mac);
  /// The record stays, but its client is no longer known by it.
  void clear_owner(LeaseRecord& record);
  void set_state(LeaseRecord& record, LeaseState state) noexcept;
  [[nodiscard]] std::uint64_t count(LeaseState state) const noexcept {
    return counts_[static_cast<std::size_t>(state)];
  }

  /// To the end of the idle list: used again last. With `first`, to its front.
  void make_idle(LeaseRecord& record, bool first = false) noexcept;
  /// The address out of use longest, taken out of the list. nullptr: none.
  LeaseRecord* take_idle() noexcept;
  void unlink(LeaseRecord& record) noexcept;

  /// Sees to it that the record comes up in pop_due() when it expires.
  void schedule(LeaseRecord& record);
  /// A record whose time has come; nullptr: none is due.
  LeaseRecord* pop_due(Time now);
  [[nodiscard]] std::optional<Time> next_due() const { return due_.next(); }

  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [address, record] : records_) visit(record);
  }

 private:
  std::unordered_map<Ipv4, LeaseRecord> records_;  // nodes: a record never moves
  std::unordered_map<MacAddress, LeaseRecord*> by_mac_;
  LeaseRecord* oldest_ = nullptr;
  LeaseRecord* newest_ = nullptr;
  DueQueue due_;
  std::uint64_t counts_[4] = {};
};

}  // namespace hcpnet::dhcp
