// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/dhcp/kept_address.hpp>
#include <hcpnet/dhcp/responder.hpp>
#include <hcpnet/dhcp6/lease.hpp>
#include <hcpnet/result.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dhcp/lease_database_file.hpp"
#include "dhcp/sqlite.hpp"

namespace hcpnet::dhcp {

/// What a lease database held when it was opened.
struct StoredLeases {
  std::vector<std::vector<Lease>> by_subnet;  ///< in the order of the configured subnets; Lease::subnet is left empty
  std::vector<dhcp6::Lease> leases6;          ///< of every network; Lease::subnet is left empty
  std::vector<Ipv6> unreadable6;              ///< addresses of rows that make no sense: somebody may use them
  std::vector<KeptAddress> reservations;      ///< made by hand; KeptAddress::subnet is left empty
  std::vector<std::string> problems;          ///< rows that make no sense, one sentence each; they stay in the file
};

/// Leases in one SQLite file: WAL, synchronous=FULL, so that a commit that returned survives a power failure.
///
/// The file says whose it is (application_id), in which version (user_version), and of which networks (table subnet).
/// What is not ours, damaged, of another version, of other networks, or used by another process is refused with
/// std::runtime_error that says what to do; it is never emptied. One thread at a time.
class LeaseDatabase {
 public:
  static constexpr std::int64_t kApplicationId = 0x68636E64;
  /// 1 had no DHCPv6 leases, 2 nothing of what relays say and of the client identifiers of reservations; such files
  /// are brought up to 3.
  static constexpr std::int64_t kVersion = 3;
  static constexpr std::size_t kMaxProblems = 100;  ///< reported; more are only counted

  /// Opens the file, or makes it where there is none, with mode 0600. `now` tells which leases of networks that are not
  /// among `subnets` still last.
  LeaseDatabase(std::string path, std::span<const Subnet> subnets, std::chrono::sys_seconds now);
  /// Opens a file that is there, with the networks that it has.
  explicit LeaseDatabase(std::string path);
  LeaseDatabase(const LeaseDatabase&) = delete;
  LeaseDatabase& operator=(const LeaseDatabase&) = delete;

  /// The networks that the file has, with every address as pool. Empty where the constructor was told them.
  [[nodiscard]] const std::vector<Subnet>& networks() const noexcept { return networks_; }
  /// Precondition: the subnets of the constructor, or networks().
  [[nodiscard]] StoredLeases load(std::span<const Subnet> subnets, std::chrono::sys_seconds now);

  /// One transaction, which writes all changes or none.
  class Transaction {
   public:
    explicit Transaction(LeaseDatabase& database);
    ~Transaction();  ///< rolls back what was not committed
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void put(const LeaseChange& change);
    void put(const dhcp6::Lease& lease);
    void put(const KeptAddress& reservation);
    void erase_reservation(const IpAddress& address);
    void commit();

   private:
    LeaseDatabase& database_;
  };

 private:
  template <class CheckNetworks>
  void open(CheckNetworks check_networks);
  void read_networks();
  void check_owner();
  void check_subnets(std::span<const Subnet> subnets, std::chrono::sys_seconds now);
  [[nodiscard]] std::vector<Lease> load(std::int64_t subnet_id, const Subnet& subnet, std::chrono::sys_seconds now,
                                        std::vector<std::string>& problems);
  void load6(StoredLeases& out);
  void load_reservations(StoredLeases& out);

  std::string path_;
  std::optional<LeaseDatabaseLock> lock_;  // before connection_: destroyed after it
  std::optional<sqlite::Connection> connection_;
  std::optional<sqlite::Statement> put_;
  std::optional<sqlite::Statement> put6_;
  std::vector<std::int64_t> subnet_ids_;
  std::vector<Subnet> networks_;
  std::int64_t version_ = kVersion;  ///< as it was found
};

}  // namespace hcpnet::dhcp
