// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/clock.hpp>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/dhcp/kept_address.hpp>
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/dhcp/lease_file.hpp>
#include <hcpnet/dhcp/lease_import.hpp>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <memory>
#include <string>
#include <vector>

namespace hcpnet::dhcp {

/// The leases of a server that does not run, in its database. Holds the database for as long as it lives: no server can
/// start on it meanwhile, and it can't be opened while one runs.
///
/// Changes go through the same allocators as in a server, and are on disk, synced, when a function returns. One thread
/// at a time.
class StoppedServer {
 public:
  /// What a server left. Its IPv4 networks are those in the database, and all of their addresses may be in use; IPv6
  /// networks are not known, so that no lease in one can be added. Throws std::runtime_error for a database that is
  /// missing, damaged, of another version or in use, with what to do.
  explicit StoppedServer(const std::string& database, Clock& clock = system_clock());
  /// The same for the networks that are to be served. A database that is not there is made. A database of other
  /// networks is refused.
  StoppedServer(const std::string& database, Config config, Clock& clock = system_clock());
  ~StoppedServer();
  StoppedServer(const StoppedServer&) = delete;
  StoppedServer& operator=(const StoppedServer&) = delete;

  [[nodiscard]] std::vector<Lease> leases() const;                 ///< ordered by address
  [[nodiscard]] const std::vector<dhcp6::Lease>& leases6() const;  ///< ordered by address
  [[nodiscard]] const std::vector<std::string>& problems() const;  ///< rows of the database that are no leases

  /// As Server::import_leases().
  Result<LeaseImport, Diagnostics> import_leases(const LeaseList& list);
  /// As Server::release().
  Result<EndedLease, Diagnostics> release(const IpAddress& address);
  /// As those of Server. Without a configuration there are those made by hand alone.
  Result<KeptAddress, Diagnostics> reserve(const KeptAddress& wanted);
  Result<KeptAddress, Diagnostics> unreserve(const IpAddress& address);
  [[nodiscard]] std::vector<KeptAddress> reservations() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The leases that oooi, or another server on coredhcp's plugin `range`, keeps in SQLite: the table leases4(mac, ip,
/// expiry), with or without hostname. The file is only read. `path` names it in diagnostics, where a row is a line.
[[nodiscard]] Result<LeaseList, Diagnostics> read_oooi_leases(const std::string& path,
                                                              const LeaseFileLimits& limits = {});

}  // namespace hcpnet::dhcp
