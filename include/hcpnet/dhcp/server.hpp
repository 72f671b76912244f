// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <hcpnet/clock.hpp>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/dhcp/kept_address.hpp>
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/dhcp/lease_file.hpp>
#include <hcpnet/dhcp/lease_import.hpp>
#include <hcpnet/dhcp6/lease.hpp>
#include <hcpnet/log.hpp>
#include <hcpnet/result.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hcpnet::dhcp {

struct ServerOptions {
  std::string database;  ///< path of the SQLite file; created with mode 0600; the server's DUID lies beside it
  /// Binds this UDP port instead of the configured one (67, 547); 0 lets the system choose.
  std::map<std::uint16_t, std::uint16_t> port_map;
  std::function<void(const LeaseEvent&)> on_event;          ///< on the executor's thread, after the change is on disk
  std::function<void(const dhcp6::LeaseEvent&)> on_event6;  ///< likewise
  Clock* clock = &system_clock();
  Logger log;
};

/// Counters since start, and gauges; names as in docs/metrics.md.
struct ServerStats {
  std::map<std::string, std::uint64_t> received;  ///< by message type: "DISCOVER", "REQUEST", ...
  std::map<std::string, std::uint64_t> sent;      ///< "OFFER", "ACK", "NAK"
  /// By reason: "malformed", "no_subnet", "pool_exhausted", "not_for_us", ...; all of them in docs/dhcp.md.
  std::map<std::string, std::uint64_t> dropped;
  /// Of addresses before they were offered: "unanswered", "answered".
  std::map<std::string, std::uint64_t> probes;
  /// Of leases: "bound", "renewed", "released", "expired", "declined", "conflict". Where they are shared, those of the
  /// other servers too.
  std::map<std::string, std::uint64_t> events;
  std::uint64_t commits = 0;  ///< group commits that reached the disk
  std::uint64_t commit_failures = 0;
  std::uint64_t omitted_options = 0;  ///< configured and asked for, but too large for what the client takes
  struct PerPool {
    Ipv4Range range;         ///< as configured
    std::uint64_t size = 0;  ///< what is left of it for clients
    std::uint64_t bound = 0, offered = 0, declined = 0;
  };
  /// Counts hold addresses outside the pools as well: reservations, and leases of former pools.
  struct PerSubnet {
    std::uint64_t pool_size = 0, bound = 0, offered = 0, declined = 0;
    std::vector<PerPool> pools = {};  ///< IPv4 only; as configured
  };
  std::map<std::string, PerSubnet> subnets;  ///< by Subnet::name
  /// Of a link whose leases are shared with other servers.
  struct Shared {
    bool is_reachable = false;                    ///< the store; while it is not, nobody is answered
    std::map<std::string, std::uint64_t> claims;  ///< writes of leases by result: "owned", "lost", "unreachable"
    std::uint64_t taken = 0;                      ///< records of other servers
    std::uint64_t unreadable = 0;                 ///< of them, damaged or of a later version: their addresses rest
    std::uint64_t losses = 0;                     ///< of the connection
  };
  std::map<std::string, Shared> shared;  ///< by Subnet::name of the first subnet on the link
  /// DHCPv6: "SOLICIT", "REQUEST", ... and "ADVERTISE", "REPLY".
  struct V6 {
    std::map<std::string, std::uint64_t> received, sent, dropped, events;
    std::map<std::string, PerSubnet> subnets;
  } v6;
};

/// The subnets of a shared network have one socket.
struct BoundSubnet {
  std::string subnet;
  std::string interface;
  Ipv4 server_id;
  Ipv4Cidr cidr;
  Endpoint bound;
};
struct BoundSubnet6 {
  std::string subnet;
  std::string interface;
  Endpoint bound;
};

/// A server of DHCPv4 (RFC 2131) and DHCPv6 (RFC 8415, addresses only) for any number of subnets. An acknowledgement
/// leaves only after the lease is synced to disk, and with Subnet::shared_store after the store has it.
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

  /// Opens the database and binds every subnet, that of an interface which is not there yet when it comes; all or
  /// nothing. Call once. Throws boost::system::system_error, or std::runtime_error for a database that is damaged or of
  /// another version, with what to do.
  void start(Config config);
  /// Serves `config` from now on. Leases stay; one that lies outside today's pools is kept until it ends, and not
  /// renewed. Throws boost::system::system_error unless the networks and server addresses are the same; then the old
  /// configuration stays. Subnet::shared_store has to be the same, too.
  void replace(Config config);
  /// Whether replace() can take the IPv6 networks of `config`: the same ones on the same interfaces.
  [[nodiscard]] bool serves_networks_of(const Config& config) const;
  /// The first half of replace(): `config` in the order of what is served; nothing changes yet. Throws as replace()
  /// does.
  [[nodiscard]] Config prepare(Config config) const;
  /// The second half, for what prepare() gave: whatever is wrong with a configuration has been found before.
  void commit(Config prepared);
  /// Takes over leases from elsewhere, all of them or none: they go through the allocator, and `done` is called once
  /// they are synced to disk, or with every reason why none was taken (codes: docs/dhcp.md). Until then no client is
  /// answered: each asks again. A lease of ours is never taken from its client, and never becomes shorter. Refused
  /// where leases are shared with other servers; so are IPv4 reservations by hand.
  void import_leases(const LeaseList& list, std::function<void(Result<LeaseImport, Diagnostics>)> done);
  /// Ends the lease on an address, or lets a declined address rest no longer; `done` is called once that is on disk.
  /// Its client keeps using the address until it asks again: see to it that it doesn't. Where the disk refuses the
  /// lease has ended all the same, until a restart.
  void release(const IpAddress& address, std::function<void(Result<EndedLease, Diagnostics>)> done);
  /// Keeps an address for a client from now on, beside the reservations of the configuration, which win where the two
  /// disagree. It is in the database, and synced, when `done` is called. Whoever has a lease on the address keeps it
  /// until it ends, and can't renew it.
  void reserve(const KeptAddress& wanted, std::function<void(Result<KeptAddress, Diagnostics>)> done);
  /// Ends what reserve() made.
  void unreserve(const IpAddress& address, std::function<void(Result<KeptAddress, Diagnostics>)> done);
  /// Of the configuration and by hand, ordered by address.
  [[nodiscard]] std::vector<KeptAddress> reservations() const;
  /// Stops reading, finishes what waits for the disk, calls `done`.
  void stop(std::function<void()> done);

  [[nodiscard]] std::vector<Lease> leases() const;          ///< ordered by address
  [[nodiscard]] std::vector<dhcp6::Lease> leases6() const;  ///< ordered by address
  [[nodiscard]] std::vector<BoundSubnet> bound() const;
  [[nodiscard]] std::vector<BoundSubnet6> bound6() const;
  [[nodiscard]] ServerStats stats() const;
  /// What keeps clients from being served, in words, each with its interface or subnet: a disk that refuses (until a
  /// commit succeeds again), interfaces that are lost (until they are back), a shared store that is not reached. Empty
  /// when all is well.
  [[nodiscard]] std::vector<std::string> troubles() const;
  [[nodiscard]] bool is_healthy() const { return troubles().empty(); }

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace hcpnet::dhcp
