// SPDX-License-Identifier: Apache-2.0
// The file is somebody else's: it is opened for reading, and only a plain table is read, so that no expression in it is
// ever computed.
#include <algorithm>
#include <filesystem>
#include <hcpnet/dhcp/options.hpp>
#include <hcpnet/dhcp/stopped_server.hpp>
#include <set>

#include "dhcp/lease_file_reader.hpp"
#include "dhcp/sqlite.hpp"

namespace hcpnet::dhcp {
namespace {

constexpr std::size_t kMaxTextBytes = 255;

class Reader {
 public:
  Reader(const std::string& path, LeaseListBuilder& out)
      : connection_(path, sqlite::Connection::Mode::read), out_(out) {}

  void read() {
    if (!has_table()) return;
    const bool has_names = columns_.contains("hostname");
    sqlite::Statement rows = connection_.prepare(std::string("SELECT mac, ip, expiry") +
                                                 (has_names ? ", hostname" : "") + " FROM leases4 ORDER BY rowid");
    for (std::uint32_t row = 1; !out_.is_full() && rows.step(); ++row) read_row(rows, row, has_names);
  }

 private:
  /// A view, a virtual table or a computed column could make us compute what its maker wants.
  bool has_table() {
    connection_.run("PRAGMA trusted_schema=OFF");
    if (connection_.read_integer("SELECT count(*) FROM sqlite_schema WHERE name='leases4' AND type='table' AND "
                                 "rootpage>0 AND sql NOT LIKE '%WITHOUT%ROWID%'") == 0) {
      out_.error(0, "lease-syntax", "the file has no table leases4(mac, ip, expiry)");
      return false;
    }
    sqlite::Statement rows = connection_.prepare("SELECT lower(name), hidden FROM pragma_table_xinfo('leases4')");
    while (rows.step())
      if (rows.integer(1) == 0) columns_.insert(rows.text(0));
    for (const char* needed : {"mac", "ip", "expiry"}) {
      if (columns_.contains(needed)) continue;
      out_.error(0, "lease-syntax", std::string("the table leases4 has no column ") + needed);
      return false;
    }
    return true;
  }

  void read_row(const sqlite::Statement& rows, std::uint32_t row, bool has_names) {
    const auto error = [&](std::string message, const std::string& found) {
      out_.error(row, "lease-bad-value", std::move(message), found);
    };
    Lease lease;
    for (int column = 0; column < 2; ++column)
      if (rows.blob(column).size() > kMaxTextBytes) return error("a text is too long", {});
    const auto mac = parse_mac_address(rows.text(0));
    if (!mac || !is_client_mac(*mac)) return error("mac: the hardware address of a client is needed", rows.text(0));
    const auto address = parse_ipv4(rows.text(1));
    if (!address) return error("ip: an IPv4 address is needed", rows.text(1));
    if (!rows.is_integer(2) || rows.integer(2) < 0) return error("expiry: seconds since 1970 are needed", {});
    lease.mac = *mac;
    lease.address = *address;
    lease.expires = lease_time(static_cast<std::uint64_t>(rows.integer(2)));
    if (has_names) lease.host_name = make_host_label(as_bytes(rows.text(3).substr(0, kMaxTextBytes)));
    out_.put(std::move(lease), row);
  }

  sqlite::Connection connection_;
  LeaseListBuilder& out_;
  std::set<std::string> columns_;
};

}  // namespace

Result<LeaseList, Diagnostics> read_oooi_leases(const std::string& path, const LeaseFileLimits& limits) {
  LeaseListBuilder builder(path, limits, LeaseListBuilder::Repeated::is_error);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    builder.error(0, "unreadable-file",
                  std::filesystem::is_directory(path, ignored)
                      ? "a folder: oooi with Chai keeps its leases in one; write them into SQLite first"
                      : "there is no such file");
    return builder.finish();
  }
  try {
    Reader(path, builder).read();
  } catch (const sqlite::Error& error) {
    builder.error(0, "unreadable-file", std::string("SQLite can't read it: ") + error.what());
  }
  return builder.finish();
}

}  // namespace hcpnet::dhcp
