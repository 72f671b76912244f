// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <hcpnet/clock.hpp>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/log.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hcpnet::dhcp {

struct ServerOptions {
  std::string database;  ///< path of the SQLite file; created with mode 0600
  /// Binds this UDP port instead of the configured one (67); 0 lets the system choose.
  std::map<std::uint16_t, std::uint16_t> port_map;
  std::function<void(const LeaseEvent&)> on_event;  ///< on the executor's thread, after the change is on disk
  Clock* clock = &system_clock();
  Logger log;
};

/// Counters since start, and gauges; names as in docs/metrics.md.
struct ServerStats {
  std::map<std::string, std::uint64_t> received;  ///< by message type: "DISCOVER", "REQUEST", ...
  std::map<std::string, std::uint64_t> sent;      ///< "OFFER", "ACK", "NAK"
  /// By reason: "malformed", "no_subnet", "pool_exhausted", "not_for_us", ...; all of them in docs/dhcp.md.
  std::map<std::string, std::uint64_t> dropped;
  std::uint64_t commits = 0;  ///< group commits that reached the disk
  std::uint64_t commit_failures = 0;
  std::uint64_t omitted_options = 0;  ///< configured and asked for, but too large for what the client takes
  struct PerSubnet {
    std::uint64_t pool_size = 0, bound = 0, offered = 0, declined = 0;
  };
  std::map<std::string, PerSubnet> subnets;
};

struct BoundSubnet {
  std::string subnet;
  std::string interface;
  Ipv4 server_id;
  Ipv4Cidr cidr;
  Endpoint bound;
};

/// A DHCPv4 server (RFC 2131) for any number of subnets. An ACK leaves only after the lease is synced to disk.
///
/// On an interface that broadcasts it listens for broadcasts; replies to clients without an address go to their
/// hardware address as a raw frame where CAP_NET_RAW allows it, else by broadcast. On a loopback interface replies go
/// to the source of the request: for tests. All calls on the executor's thread (one thread), or before it runs; the
/// disk is written on a thread of the server's own.
class Server {
 public:
  Server(boost::asio::any_io_executor executor, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Opens the database and binds every subnet; all or nothing. Call once. Throws boost::system::system_error, or
  /// std::runtime_error for a database that is damaged or of another version, with what to do.
  void start(Config config);
  /// Serves `config` from now on. Leases stay; one that lies outside today's pools is kept until it ends, and not
  /// renewed. Throws boost::system::system_error unless the networks and server addresses are the same; then the old
  /// configuration stays.
  void replace(Config config);
  /// The first half of replace(): `config` in the order of what is served; nothing changes yet. Throws as replace()
  /// does.
  [[nodiscard]] Config prepare(Config config) const;
  /// The second half, for what prepare() gave: whatever is wrong with a configuration has been found before.
  void commit(Config prepared);
  /// Stops reading, finishes what waits for the disk, calls `done`.
  void stop(std::function<void()> done);

  [[nodiscard]] std::vector<Lease> leases() const;  ///< ordered by address
  [[nodiscard]] std::vector<BoundSubnet> bound() const;
  [[nodiscard]] ServerStats stats() const;
  /// False after a commit failed, until one succeeds again.
  [[nodiscard]] bool is_healthy() const noexcept;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace hcpnet::dhcp
