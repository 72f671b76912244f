// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/dhcp6/config.hpp>
#include <hcpnet/dhcp6/lease.hpp>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace hcpnet::dhcp6 {

/// What an address is to its owner. The last four are those of a lease.
enum class Use : std::uint8_t { offered, bound, released, expired, declined };

struct Record {
  using Time = std::chrono::sys_seconds;

  Ipv6 address;
  Client client;
  std::string host_name;
  Use use = Use::expired;
  bool is_durable = false;
  bool had_lease = false;
  Time started{};
  Time ends{};                   ///< of the lease, the offer, or the rest after a decline
  std::uint64_t idle_since = 0;  ///< place in the order of re-use; 0: it is in use

  [[nodiscard]] bool is_live() const noexcept { return use == Use::offered || use == Use::bound; }
  [[nodiscard]] bool is_running() const noexcept { return is_live() || use == Use::declined; }
};

struct HashIpv6 {
  std::size_t operator()(const Ipv6& address) const noexcept { return std::hash<IpAddress>()(address); }
};

/// The records of one subnet, by address and by client, with the order of re-use and the times of ending.
class LeaseTable {
 public:
  using Time = Record::Time;

  /// Leases, and rests, come up as over so long after their end.
  LeaseTable(Identity identity, std::chrono::seconds reuse_delay) : identity_(identity), reuse_delay_(reuse_delay) {}
  LeaseTable(const LeaseTable&) = delete;  // records are pointed at
  LeaseTable& operator=(const LeaseTable&) = delete;

  void set_identity(Identity identity);
  [[nodiscard]] Record* find(const Ipv6& address);
  [[nodiscard]] const Record* find(const Ipv6& address) const;
  /// The record that is the client's, live or ended.
  [[nodiscard]] Record* find(const Client& client) const;
  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
  /// One interface, or one DUID where that is all that is known.
  [[nodiscard]] std::string holder_of(const Client& client) const;
  /// Addresses that one holder has in use.
  [[nodiscard]] std::size_t count_live(const Client& client) const;
  [[nodiscard]] std::uint64_t count(Use use) const noexcept { return counts_[static_cast<std::size_t>(use)]; }

  Record& obtain(const Ipv6& address);
  void erase(const Ipv6& address);
  /// Owner, use and end change together: they are in the indexes.
  void set(Record& record, const Client& client, Use use, Time ends);

  /// The address out of use longest that `is_allowed`; nullptr: none.
  template <class IsAllowed>
  Record* oldest_idle(IsAllowed is_allowed) {
    for (const auto& [since, address] : idle_) {
      if (is_allowed(address)) return find(address);
    }
    return nullptr;
  }
  [[nodiscard]] std::optional<Time> next_due() const;
  /// A running record that is over; nullptr: none.
  Record* find_due(Time now);

  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [address, record] : records_) visit(record);
  }

 private:
  [[nodiscard]] std::string key_of(const Client& client) const;
  [[nodiscard]] Record* find_by_mac(const Client& client) const;
  [[nodiscard]] Time due_of(const Record& record) const noexcept {
    return record.use == Use::offered ? record.ends : record.ends + reuse_delay_;
  }
  void link(Record& record);
  void unlink(Record& record);

  Identity identity_;
  std::chrono::seconds reuse_delay_;
  std::unordered_map<Ipv6, Record, HashIpv6> records_;  // nodes: a record never moves
  std::unordered_map<std::string, Record*> by_key_;
  std::unordered_map<MacAddress, Record*> by_mac_;
  std::unordered_map<std::string, std::size_t> live_;  // by holder
  std::set<std::pair<Time, Ipv6>> due_;                // running records
  std::set<std::pair<std::uint64_t, Ipv6>> idle_;      // ended ones
  std::uint64_t idle_count_ = 0;
  std::uint64_t counts_[5] = {};
};

}  // namespace hcpnet::dhcp6
