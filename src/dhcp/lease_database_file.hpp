// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace hcpnet::dhcp {

/// Makes an empty lease database with mode 0600, whole or not at all: it gets its name when it is complete and synced.
/// Does nothing when the name is taken meanwhile. Throws boost::system::system_error or sqlite::Error.
void create_lease_database(const std::string& path, std::int64_t application_id, std::int64_t version);

/// SQL that makes version 3 of what has version 1 or 2.
[[nodiscard]] std::string upgrade_to_version_3(std::int64_t from);

/// Keeps other processes away from a lease database for as long as it lives, and its mode at 0600.
///
/// It has to outlive SQLite's connection: closing any descriptor of a file drops the locks that the process holds on
/// it.
class LeaseDatabaseLock {
 public:
  /// Throws boost::system::system_error, or std::runtime_error when somebody else has the lock.
  explicit LeaseDatabaseLock(const std::string& path);
  ~LeaseDatabaseLock();
  LeaseDatabaseLock(const LeaseDatabaseLock&) = delete;
  LeaseDatabaseLock& operator=(const LeaseDatabaseLock&) = delete;

 private:
  int fd_;
};

}  // namespace hcpnet::dhcp
