// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/net.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dhcp/due_queue.hpp"
#include "dhcp/lease_texts.hpp"

namespace hcpnet::dhcp {

/// What is kept per address that was ever bound. Smaller than a Lease: the subnet is known. Only the table changes
/// `mac`, and, while it is its client's, the client identifier.
struct LeaseRecord {
  using Time = std::chrono::sys_seconds;

  Ipv4 address;
  MacAddress mac;
  LeaseState state = LeaseState::bound;
  bool is_durable = false;
  bool is_idle = false;     ///< in the list of ended leases of its group, free to be given to anybody
  std::uint16_t group = 0;  ///< of addresses that are counted, and used again, together
  Time started{};
  Time expires{};
  Time wake = Time::max();  ///< of its entry in the due queue; max: it has none
  LeaseTexts texts;
  LeaseRecord* older = nullptr;  ///< neighbours in that list
  LeaseRecord* newer = nullptr;
};

/// The records of one link, by address and by client, with the order of re-use and the times of ending. Addresses are
/// in groups, which the owner numbers.
class LeaseTable {
 public:
  using Time = LeaseRecord::Time;
  /// What a client shows of itself: its hardware address, and option 61 or nothing.
  struct Client {
    MacAddress mac;
    std::string_view client_id;
  };

  LeaseTable() = default;
  LeaseTable(const LeaseTable&) = delete;  // records point at one another
  LeaseTable& operator=(const LeaseTable&) = delete;

  [[nodiscard]] LeaseRecord* find(Ipv4 address);
  [[nodiscard]] const LeaseRecord* find(Ipv4 address) const;
  /// The record that is the client's, live or ended.
  [[nodiscard]] const LeaseRecord* find(const Client& client) const;
  [[nodiscard]] Identity identity() const noexcept { return identity_; }
  /// What clients are known by from now on. Of records that are one client's then, a bound one goes before an ended
  /// one, and what began later before what began earlier; the others are no client's any more. Takes time n log n in
  /// the number of records.
  void set_identity(Identity identity);
  /// The same for the same client, another one for every other.
  [[nodiscard]] std::string key_of(const Client& client) const;
  [[nodiscard]] bool is_of(const LeaseRecord& record, const Client& client) const;
  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
  void reserve(std::size_t count);

  /// The record of an address, new or not, taken out of the idle list. `group`: of the address.
  LeaseRecord& obtain(Ipv4 address, std::size_t group);
  void erase(LeaseRecord& record);
  /// From now on this is the client's binding; what it shows of itself is in the record.
  void set_owner(LeaseRecord& record, const Client& client);
  /// The record stays, but its client is no longer known by it: what it shows may be changed.
  void clear_owner(LeaseRecord& record);
  void set_mac(LeaseRecord& record, const MacAddress& mac);
  void set_state(LeaseRecord& record, LeaseState state);
  /// Addresses that are bound to one hardware address. Where that is what a client is known by it is not counted: 0.
  [[nodiscard]] std::size_t count_bound(const MacAddress& mac) const;
  [[nodiscard]] std::size_t groups() const noexcept { return groups_.size(); }
  [[nodiscard]] std::uint64_t count(std::size_t group, LeaseState state) const noexcept {
    return groups_[group].counts[static_cast<std::size_t>(state)];
  }

  /// Numbers the groups anew; group_of(address) is less than `groups`. Takes time linear in the number of records, n
  /// log n in that of idle ones.
  template <class GroupOf>
  void regroup(std::size_t groups, GroupOf group_of) {
    std::vector<LeaseRecord*> idle;
    groups_.assign(groups, {});
    for (auto& [address, record] : records_) {
      if (record.is_idle) idle.push_back(&record);
      record.is_idle = false;
      record.older = record.newer = nullptr;
      record.group = static_cast<std::uint16_t>(group_of(address));
      ++groups_[record.group].counts[static_cast<std::size_t>(record.state)];
    }
    make_idle_in_order(std::move(idle));
  }

  /// To the end of the idle list of its group: used again last. With `first`, to its front.
  void make_idle(LeaseRecord& record, bool first = false) noexcept;
  /// The address of a group that is out of use longest; it stays in the list. nullptr: none.
  [[nodiscard]] LeaseRecord* oldest_idle(std::size_t group) noexcept { return groups_[group].oldest; }
  void unlink(LeaseRecord& record) noexcept;

  /// Sees to it that the record comes up in pop_due() when it has been over for reuse_delay().
  void schedule(LeaseRecord& record);
  [[nodiscard]] std::chrono::seconds reuse_delay() const noexcept { return reuse_delay_; }
  void set_reuse_delay(std::chrono::seconds delay) noexcept { reuse_delay_ = delay; }
  /// A record whose time has come; nullptr: none is due. With a longer delay than before entries come up early, and are
  /// put back; with a shorter one late.
  LeaseRecord* pop_due(Time now);
  [[nodiscard]] std::optional<Time> next_due() const { return due_.next(); }

  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [address, record] : records_) visit(record);
  }

 private:
  struct Group {
    LeaseRecord* oldest = nullptr;  ///< ends of the idle list
    LeaseRecord* newest = nullptr;
    std::array<std::uint64_t, 4> counts{};  ///< by state
  };
  void make_idle_in_order(std::vector<LeaseRecord*> idle);
  void add_bound(const MacAddress& mac);
  void remove_bound(const MacAddress& mac);

  Identity identity_ = Identity::mac;
  std::chrono::seconds reuse_delay_{0};
  std::unordered_map<Ipv4, LeaseRecord> records_;  // nodes: a record never moves
  // By client. One of the two is in use; the first one is the smaller.
  std::unordered_map<MacAddress, LeaseRecord*> by_mac_;
  std::unordered_map<std::string, LeaseRecord*> by_id_;
  std::unordered_map<MacAddress, std::size_t> bound_;  // beside by_id_
  std::vector<Group> groups_ = std::vector<Group>(1);
  DueQueue due_;
};

}  // namespace hcpnet::dhcp
