// SPDX-License-Identifier: Apache-2.0
#include "dhcp/lease_database.hpp"

#include <algorithm>
#include <filesystem>
#include <hcpnet/dhcp/client_class.hpp>
#include <stdexcept>

#include "dhcp/lease_clock.hpp"

namespace hcpnet::dhcp {
namespace {

constexpr std::size_t kMaxHostNameBytes = 255;
constexpr std::size_t kMaxClientIdBytes = 4096;

[[noreturn]] void refuse(const std::string& path, const std::string& why, const std::string& what_to_do) {
  throw std::runtime_error("the lease database " + path + " " + why + ": " + what_to_do);
}

[[noreturn]] void refuse_damaged(const std::string& path, const std::string& detail) {
  refuse(path, "is damaged (" + detail + ")",
         "restore it from a backup, or move it away together with " + path +
             "-wal; without it clients keep their addresses only by renewing them here");
}

/// A name that is only known by its companion is worse than none: SQLite would replay the companion into a new file.
void check_companions(const std::string& path) {
  if (std::filesystem::exists(path) || !std::filesystem::exists(path + "-wal")) return;
  refuse(path, "is missing, but " + path + "-wal is there",
         "put the database back beside it, or move that file away too");
}

enum Column { address = 0, mac, client_id, host_name, state, started, expires, relay_information };

bool is_time(const sqlite::Statement& row, int column) {
  return row.is_integer(column) && row.integer(column) >= 0 && row.integer(column) <= kLastLeaseTime;
}

std::chrono::sys_seconds time_of(const sqlite::Statement& row, int column) {
  return std::chrono::sys_seconds(std::chrono::seconds(row.integer(column)));
}

/// nullopt: not an address of the subnet.
std::optional<Ipv4> read_address(const sqlite::Statement& row, const Subnet& subnet) {
  const std::int64_t value = row.integer(Column::address);
  if (!row.is_integer(Column::address) || value < 0 || value > 0xFFFFFFFF) return std::nullopt;
  const Ipv4 out(static_cast<std::uint32_t>(value));
  if (!subnet.cidr.contains(out)) return std::nullopt;
  return out;
}

/// Everything but the address. False when a column makes no sense.
bool read_rest(const sqlite::Statement& row, Lease& out) {
  const ByteView hardware = row.blob(Column::mac);
  const std::int64_t state_value = row.integer(Column::state);
  if (hardware.size() != 6 || !row.is_integer(Column::state)) return false;
  if (state_value < 0 || state_value > static_cast<int>(LeaseState::declined)) return false;
  if (!is_time(row, Column::started) || !is_time(row, Column::expires)) return false;
  if (row.blob(Column::host_name).size() > kMaxHostNameBytes || row.blob(Column::client_id).size() > kMaxClientIdBytes)
    return false;
  if (row.blob(Column::relay_information).size() > kMaxRelayInformationBytes) return false;
  std::array<std::uint8_t, 6> bytes{};
  std::ranges::copy(hardware, bytes.begin());
  out.mac = MacAddress(bytes);
  out.client_id = row.text(Column::client_id);
  out.host_name = row.text(Column::host_name);
  out.relay_information = std::string(as_text(row.blob(Column::relay_information)));
  out.state = static_cast<LeaseState>(state_value);
  out.started = time_of(row, Column::started);
  out.expires = time_of(row, Column::expires);
  return true;
}

namespace column6 {
enum Column { address = 0, duid, iaid, mac, host_name, state, started, expires };
}

std::optional<Ipv6> read_address6(const sqlite::Statement& row) {
  const ByteView blob = row.blob(column6::address);
  std::array<std::uint8_t, 16> bytes{};
  if (blob.size() != bytes.size()) return std::nullopt;
  std::ranges::copy(blob, bytes.begin());
  return Ipv6(bytes);
}

/// nullopt: a column makes no sense.
std::optional<dhcp6::Lease> read_lease6(const sqlite::Statement& row) {
  const auto address = read_address6(row);
  const ByteView mac = row.blob(column6::mac);
  const auto duid = dhcp6::make_duid(row.blob(column6::duid));
  const std::int64_t state = row.integer(column6::state);
  const std::int64_t iaid = row.integer(column6::iaid);
  if (!address || (!mac.empty() && mac.size() != 6) || !duid) return std::nullopt;
  if (!row.is_integer(column6::state) || state < 0 || state > static_cast<int>(LeaseState::declined))
    return std::nullopt;
  if (!row.is_integer(column6::iaid) || iaid < 0 || iaid > 0xFFFFFFFF) return std::nullopt;
  if (!is_time(row, column6::started) || !is_time(row, column6::expires)) return std::nullopt;
  if (row.blob(column6::host_name).size() > kMaxHostNameBytes) return std::nullopt;
  dhcp6::Lease out;
  out.address = *address;
  out.client = {*duid, static_cast<std::uint32_t>(iaid), {}, {}};
  if (!mac.empty()) {
    std::array<std::uint8_t, 6> hardware{};
    std::ranges::copy(mac, hardware.begin());
    out.client.mac = MacAddress(hardware);
  }
  out.host_name = row.text(column6::host_name);
  out.state = static_cast<LeaseState>(state);
  out.started = time_of(row, column6::started);
  out.expires = time_of(row, column6::expires);
  return out;
}

std::string address_bytes(const IpAddress& address) {
  if (address.is_v6()) return std::string(as_text(address.v6().bytes()));
  return std::string(as_text(address.v4().bytes()));
}

std::optional<IpAddress> read_any_address(ByteView bytes) {
  if (bytes.size() == 4) return Ipv4(ByteReader(bytes).u32());
  std::array<std::uint8_t, 16> v6{};
  if (bytes.size() != v6.size()) return std::nullopt;
  std::ranges::copy(bytes, v6.begin());
  return Ipv6(v6);
}

/// nullopt: a column makes no sense.
std::optional<KeptAddress> read_reservation(const sqlite::Statement& row) {
  const auto address = read_any_address(row.blob(0));
  const ByteView mac = row.blob(1), duid = row.blob(2), client_id = row.blob(4);
  const int clients = int{!mac.empty()} + int{!duid.empty()} + int{!client_id.empty()};
  if (!address || (mac.size() != 6 && !mac.empty()) || clients != 1) return std::nullopt;
  if (address->is_v4() ? !duid.empty() : !client_id.empty()) return std::nullopt;
  if (row.blob(3).size() > kMaxHostNameBytes || client_id.size() > kMaxClientIdBytes) return std::nullopt;
  KeptAddress out;
  out.address = *address;
  out.duid = duid.empty() ? std::nullopt : dhcp6::make_duid(duid);
  if (!duid.empty() && !out.duid) return std::nullopt;
  if (!mac.empty()) {
    std::array<std::uint8_t, 6> bytes{};
    std::ranges::copy(mac, bytes.begin());
    out.mac = MacAddress(bytes);
  }
  out.host_name = row.text(3);
  out.client_id = as_text(client_id);
  out.is_by_hand = true;
  return out;
}

Lease resting(Ipv4 address, std::chrono::sys_seconds from, std::chrono::sys_seconds until) {
  Lease lease;
  lease.address = address;
  lease.state = LeaseState::declined;
  lease.started = from;
  lease.expires = until;
  return lease;
}

}  // namespace

LeaseDatabase::LeaseDatabase(std::string path, std::span<const Subnet> subnets, std::chrono::sys_seconds now)
    : path_(std::move(path)) {
  open([&] { check_subnets(subnets, now); });
}

LeaseDatabase::LeaseDatabase(std::string path) : path_(std::move(path)) {
  check_companions(path_);
  if (!std::filesystem::exists(path_)) refuse(path_, "is not there", "nothing has been served from this state folder");
  open([&] { read_networks(); });
}

template <class CheckNetworks>
void LeaseDatabase::open(CheckNetworks check_networks) {
  check_companions(path_);
  try {
    if (!std::filesystem::exists(path_)) create_lease_database(path_, kApplicationId, kVersion);
    lock_.emplace(path_);
    if (std::filesystem::file_size(path_) == 0) refuse_damaged(path_, "it is empty");
    connection_.emplace(path_);
    check_owner();
    connection_->run("PRAGMA busy_timeout=1000");
    if (connection_->read_text("PRAGMA journal_mode=WAL") != "wal") {
      refuse(path_, "cannot use a write-ahead log", "put it on a local file system");
    }
    connection_->run("PRAGMA synchronous=FULL");
    check_networks();
    if (version_ < kVersion) connection_->run(upgrade_to_version_3(version_));
    put6_ = connection_->prepare(
        "INSERT OR REPLACE INTO lease6(address, duid, iaid, mac, host_name, state, started, expires) "
        "VALUES(?,?,?,?,?,?,?,?)");
    put_ = connection_->prepare(
        "INSERT INTO lease(address, mac, client_id, host_name, state, started, expires, subnet, relay_information) "
        "VALUES(?,?,?,?,?,?,?,?,?) "
        "ON CONFLICT(subnet, address) DO UPDATE SET mac=excluded.mac, client_id=excluded.client_id, "
        "host_name=excluded.host_name, state=excluded.state, started=excluded.started, expires=excluded.expires, "
        "relay_information=excluded.relay_information");
  } catch (const sqlite::Error& error) {
    switch (error.primary_code()) {
      case SQLITE_CORRUPT:
      case SQLITE_NOTADB:
        refuse_damaged(path_, error.what());
      case SQLITE_BUSY:
        refuse(path_, "is locked by another program", "close that program first");
      default:
        refuse(path_, std::string("cannot be opened (") + error.what() + ")",
               "see to the file system, then start again");
    }
  }
}

void LeaseDatabase::read_networks() {
  sqlite::Statement rows = connection_->prepare("SELECT id, name, cidr FROM subnet ORDER BY id");
  while (rows.step()) {
    const auto cidr = parse_ipv4_cidr(rows.text(2));
    if (!cidr) refuse_damaged(path_, "a network of it is none");
    Subnet network;
    network.name = rows.text(1);
    network.cidr = *cidr;
    network.server_id = cidr->network();  // which no client can have anyway
    network.pools.push_back({{cidr->network(), cidr->broadcast()}});
    networks_.push_back(std::move(network));
    subnet_ids_.push_back(rows.integer(0));
  }
}

void LeaseDatabase::check_owner() {
  const std::int64_t owner = connection_->read_integer("PRAGMA application_id");
  const std::int64_t version = connection_->read_integer("PRAGMA user_version");
  if (owner != kApplicationId)
    refuse(path_, "was not made by hcpnet", "choose another state folder, or move the file away");
  if (version < 1 || version > kVersion) {
    refuse(path_, "has version " + std::to_string(version) + ", this program knows " + std::to_string(kVersion),
           "start the program that wrote it, or move the file away");
  }
  const std::string damage = connection_->read_text("PRAGMA quick_check(1)");
  if (damage != "ok") refuse_damaged(path_, damage);
  version_ = version;
}

/// A subnet is known by its CIDR; its name may change. Leases of subnets that are not configured now stay where they
/// are, as long as one network is still the same; else it is the file of somebody else. Networks without a lease don't
/// count. Where such a network is only resized, or was split or joined, its addresses would be given again while their
/// clients still have them: that is refused until the leases have ended.
void LeaseDatabase::check_subnets(std::span<const Subnet> subnets, std::chrono::sys_seconds now) {
  struct Known {
    std::string name, cidr;
    bool has_leases, is_in_use;
  };
  std::vector<Known> known;
  {
    sqlite::Statement rows = connection_->prepare(
        "SELECT name, cidr, EXISTS(SELECT 1 FROM lease WHERE lease.subnet=subnet.id), EXISTS(SELECT 1 FROM lease WHERE "
        "lease.subnet=subnet.id AND state IN (?, ?) AND expires > ?) FROM subnet ORDER BY id");
    rows.bind(1, std::int64_t{static_cast<int>(LeaseState::bound)});
    rows.bind(2, std::int64_t{static_cast<int>(LeaseState::declined)});
    rows.bind(3, std::int64_t{now.time_since_epoch().count()});
    while (rows.step()) known.push_back({rows.text(0), rows.text(1), rows.integer(2) != 0, rows.integer(3) != 0});
  }
  const auto is_known = [&](const Subnet& s) {
    return std::ranges::count(known, s.cidr.to_string(), &Known::cidr) > 0;
  };
  const auto is_configured = [&](const Known& k) {
    return std::ranges::any_of(subnets, [&](const Subnet& s) { return s.cidr.to_string() == k.cidr; });
  };
  const auto overlaps = [](const Known& k, const Subnet& subnet) {
    const auto cidr = parse_ipv4_cidr(k.cidr);
    return cidr && Cidr(*cidr).overlaps(subnet.cidr);
  };
  const bool is_foreign = !subnets.empty() && std::ranges::none_of(subnets, is_known);
  for (const Subnet& subnet : subnets) {
    const auto other = std::ranges::find_if(known, [&](const Known& k) {
      if (is_configured(k)) return false;
      const bool is_another = is_foreign || (k.name == subnet.name && !is_known(subnet));
      return (k.has_leases && is_another) || (k.is_in_use && overlaps(k, subnet));
    });
    if (other == known.end()) continue;
    refuse(path_, "belongs to network " + other->cidr + " (" + other->name + "), not to " + subnet.cidr.to_string(),
           "go back to that network, or move the file away once no client uses an address of it");
  }

  connection_->run("BEGIN IMMEDIATE");
  sqlite::Statement insert = connection_->prepare(
      "INSERT INTO subnet(name, cidr) VALUES(?,?) ON CONFLICT(cidr) DO UPDATE SET name=excluded.name RETURNING id");
  for (const Subnet& subnet : subnets) {
    const std::string cidr = subnet.cidr.to_string();
    insert.bind_text(1, subnet.name);
    insert.bind_text(2, cidr);
    insert.step();
    subnet_ids_.push_back(insert.integer(0));
    insert.reset();
  }
  connection_->run("COMMIT");
}

StoredLeases LeaseDatabase::load(std::span<const Subnet> subnets, std::chrono::sys_seconds now) try {
  StoredLeases out;
  for (std::size_t i = 0; i < subnets.size(); ++i) {
    out.by_subnet.push_back(load(subnet_ids_.at(i), subnets[i], now, out.problems));
  }
  load6(out);
  load_reservations(out);
  return out;
} catch (const sqlite::Error& error) {
  refuse_damaged(path_, error.what());
}

std::vector<Lease> LeaseDatabase::load(std::int64_t subnet_id, const Subnet& subnet, std::chrono::sys_seconds now,
                                       std::vector<std::string>& problems) {
  sqlite::Statement rows = connection_->prepare(
      "SELECT address, mac, client_id, host_name, state, started, expires, relay_information FROM lease WHERE subnet=? "
      "ORDER BY address");
  rows.bind(1, subnet_id);
  std::vector<Lease> out;
  for (std::size_t row = 1; rows.step(); ++row) {
    const auto place = read_address(rows, subnet);
    Lease lease;
    if (place) lease.address = *place;
    if (place && read_rest(rows, lease)) {
      out.push_back(std::move(lease));
      continue;
    }
    if (problems.size() < kMaxProblems) {
      problems.push_back("row " + std::to_string(row) + " of " + subnet.cidr.to_string() + ", address " +
                         rows.text(Column::address) + ", is no lease; it is left as it is");
    }
    // Whoever has that address may still use it: it rests for one lease time.
    if (place) out.push_back(resting(*place, now, now + subnet.lease_time));
  }
  return out;
}

void LeaseDatabase::load6(StoredLeases& out) {
  sqlite::Statement rows = connection_->prepare(
      "SELECT address, duid, iaid, mac, host_name, state, started, expires FROM lease6 ORDER BY address");
  for (std::size_t row = 1; rows.step(); ++row) {
    if (auto lease = read_lease6(rows)) {
      out.leases6.push_back(*std::move(lease));
      continue;
    }
    if (const auto address = read_address6(rows)) out.unreadable6.push_back(*address);
    if (out.problems.size() < kMaxProblems) {
      out.problems.push_back("row " + std::to_string(row) + " of the DHCPv6 leases is no lease; it is left as it is");
    }
  }
}

void LeaseDatabase::load_reservations(StoredLeases& out) {
  sqlite::Statement rows =
      connection_->prepare("SELECT address, mac, duid, host_name, client_id FROM reservation ORDER BY address");
  for (std::size_t row = 1; rows.step(); ++row) {
    if (auto reservation = read_reservation(rows)) {
      out.reservations.push_back(*std::move(reservation));
    } else if (out.problems.size() < kMaxProblems) {
      out.problems.push_back("row " + std::to_string(row) + " of the reservations is none; it is left as it is");
    }
  }
}

LeaseDatabase::Transaction::Transaction(LeaseDatabase& database) : database_(database) {
  if (database_.connection_->has_lost_file())
    throw sqlite::Error(SQLITE_CANTOPEN, "the lease database was removed or replaced");
  database_.connection_->run("BEGIN IMMEDIATE");
}

LeaseDatabase::Transaction::~Transaction() {
  database_.put_->reset();
  database_.put6_->reset();
  if (!database_.connection_->is_in_transaction()) return;
  try {
    database_.connection_->run("ROLLBACK");
  } catch (const sqlite::Error&) {
    // The connection undoes it by itself before it does anything else.
  }
}

void LeaseDatabase::Transaction::put(const LeaseChange& change) {
  const Lease& lease = change.event.lease;
  sqlite::Statement& put = *database_.put_;
  put.bind(1, std::int64_t{lease.address.value()});
  put.bind(2, ByteView(lease.mac.bytes()));
  put.bind(3, as_bytes(lease.client_id));
  put.bind_text(4, lease.host_name);
  put.bind(5, std::int64_t{static_cast<int>(lease.state)});
  put.bind(6, std::int64_t{lease.started.time_since_epoch().count()});
  put.bind(7, std::int64_t{lease.expires.time_since_epoch().count()});
  put.bind(8, database_.subnet_ids_.at(change.subnet));
  put.bind(9, as_bytes(lease.relay_information));
  put.step();
  put.reset();
}

void LeaseDatabase::Transaction::put(const dhcp6::Lease& lease) {
  sqlite::Statement& put = *database_.put6_;
  put.bind(1, ByteView(lease.address.bytes()));
  put.bind(2, lease.client.duid.bytes());
  put.bind(3, std::int64_t{lease.client.iaid});
  put.bind(4, lease.client.mac ? ByteView(lease.client.mac->bytes()) : ByteView());
  put.bind_text(5, lease.host_name);
  put.bind(6, std::int64_t{static_cast<int>(lease.state)});
  put.bind(7, std::int64_t{lease.started.time_since_epoch().count()});
  put.bind(8, std::int64_t{lease.expires.time_since_epoch().count()});
  put.step();
  put.reset();
}

void LeaseDatabase::Transaction::put(const KeptAddress& reservation) {
  sqlite::Statement put = database_.connection_->prepare(
      "INSERT OR REPLACE INTO reservation(address, mac, duid, host_name, client_id) VALUES(?,?,?,?,?)");
  const std::string address = address_bytes(reservation.address);
  put.bind(1, as_bytes(address));
  put.bind(2, reservation.mac ? ByteView(reservation.mac->bytes()) : ByteView());
  put.bind(3, reservation.duid ? reservation.duid->bytes() : ByteView());
  put.bind_text(4, reservation.host_name);
  put.bind(5, as_bytes(reservation.client_id));
  put.step();
}

void LeaseDatabase::Transaction::erase_reservation(const IpAddress& address) {
  sqlite::Statement erase = database_.connection_->prepare("DELETE FROM reservation WHERE address=?");
  const std::string bytes = address_bytes(address);
  erase.bind(1, as_bytes(bytes));
  erase.step();
}

void LeaseDatabase::Transaction::commit() {
  database_.connection_->run("COMMIT");
}

}  // namespace hcpnet::dhcp
