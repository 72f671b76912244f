// SPDX-License-Identifier: Apache-2.0
#include "dhcp/lease_database_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/system/system_error.hpp>
#include <filesystem>
#include <stdexcept>

#include "dhcp/sqlite.hpp"

namespace hcpnet::dhcp {
namespace {

constexpr const char* kSchema = R"sql(
CREATE TABLE subnet(id INTEGER PRIMARY KEY, name TEXT NOT NULL, cidr TEXT NOT NULL UNIQUE);
CREATE TABLE lease(
  subnet INTEGER NOT NULL REFERENCES subnet(id),
  address INTEGER NOT NULL,
  mac BLOB NOT NULL,
  client_id BLOB NOT NULL,
  host_name TEXT NOT NULL,
  state INTEGER NOT NULL,
  started INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  relay_information BLOB NOT NULL DEFAULT x'',
  PRIMARY KEY(subnet, address)) WITHOUT ROWID;
CREATE VIEW readable AS SELECT
  subnet.name AS subnet,
  printf('%d.%d.%d.%d', address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255) AS address,
  lower(hex(mac)) AS mac,
  host_name,
  CASE state WHEN 0 THEN 'bound' WHEN 1 THEN 'released' WHEN 2 THEN 'expired' WHEN 3 THEN 'declined' END AS state,
  datetime(started, 'unixepoch') AS started,
  datetime(expires, 'unixepoch') AS expires
  FROM lease JOIN subnet ON subnet.id = lease.subnet;
)sql";

// Made by hand, of both families: a client is in one of mac, duid and client_id.
constexpr const char* kReservations = R"sql(
CREATE TABLE reservation(
  address BLOB NOT NULL PRIMARY KEY,
  mac BLOB NOT NULL,
  duid BLOB NOT NULL,
  host_name TEXT NOT NULL,
  client_id BLOB NOT NULL DEFAULT x'') WITHOUT ROWID;
)sql";
// Version 2 made the table with the first reservation, and had no client_id.
constexpr const char* kReservationsOfVersion2 = R"sql(
CREATE TABLE IF NOT EXISTS reservation(
  address BLOB NOT NULL PRIMARY KEY,
  mac BLOB NOT NULL,
  duid BLOB NOT NULL,
  host_name TEXT NOT NULL) WITHOUT ROWID;
ALTER TABLE reservation ADD COLUMN client_id BLOB NOT NULL DEFAULT x'';
)sql";

// An IPv6 address tells its network, so there is no subnet here.
constexpr const char* kSchema6 = R"sql(
CREATE TABLE lease6(
  address BLOB NOT NULL PRIMARY KEY,
  duid BLOB NOT NULL,
  iaid INTEGER NOT NULL,
  mac BLOB NOT NULL,
  host_name TEXT NOT NULL,
  state INTEGER NOT NULL,
  started INTEGER NOT NULL,
  expires INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIEW readable6 AS SELECT
  lower(hex(address)) AS address,
  lower(hex(duid)) AS duid,
  iaid,
  lower(hex(mac)) AS mac,
  host_name,
  CASE state WHEN 0 THEN 'bound' WHEN 1 THEN 'released' WHEN 2 THEN 'expired' WHEN 3 THEN 'declined' END AS state,
  datetime(started, 'unixepoch') AS started,
  datetime(expires, 'unixepoch') AS expires
  FROM lease6;
)sql";

[[noreturn]] void raise(const std::string& what) {
  throw boost::system::system_error(errno, boost::system::system_category(), what);
}

/// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 || ::fsync(fd.get()) != 0) raise("lease database: cannot sync folder " + folder);
}

/// Removes the file of an unfinished creation.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {
    ::unlink(path_.c_str());
    const Descriptor fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (fd.get() < 0) raise("lease database: cannot create " + path_);
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace

void create_lease_database(const std::string& path, std::int64_t application_id, std::int64_t version) {
  const TemporaryFile file(path + ".new." + std::to_string(::getpid()));
  {
    sqlite::Connection connection(file.path());
    connection.run("PRAGMA synchronous=FULL");
    connection.run("PRAGMA application_id=" + std::to_string(application_id));
    connection.run("PRAGMA user_version=" + std::to_string(version));
    connection.run(std::string("BEGIN;") + kSchema + kReservations + kSchema6 + "COMMIT;");
  }
  // link() instead of rename(): of two processes that start at once only one makes the file.
  if (::link(file.path().c_str(), path.c_str()) != 0 && errno != EEXIST) raise("lease database: cannot create " + path);
  sync_folder_of(path);
}

std::string upgrade_to_version_3(std::int64_t from) {
  return std::string("BEGIN IMMEDIATE;") + (from < 2 ? kSchema6 : "") + kReservationsOfVersion2 +
         "ALTER TABLE lease ADD COLUMN relay_information BLOB NOT NULL DEFAULT x'';PRAGMA user_version=3;COMMIT;";
}

LeaseDatabaseLock::LeaseDatabaseLock(const std::string& path) : fd_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
  if (fd_ < 0) raise("lease database: cannot open " + path);
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd_);
    throw std::runtime_error(
        "the lease database " + path +
        " is in use by another process: stop that one first, or give this one a state folder of its own");
  }
  static_cast<void>(
      ::fchmod(fd_, S_IRUSR | S_IWUSR));  // names of clients are nobody else's business; another owner may forbid it
}

LeaseDatabaseLock::~LeaseDatabaseLock() {
  ::close(fd_);
}

}  // namespace hcpnet::dhcp
