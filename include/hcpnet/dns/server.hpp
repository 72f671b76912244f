// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <hcpnet/clock.hpp>
#include <hcpnet/dns/config.hpp>
#include <hcpnet/inherited_sockets.hpp>
#include <hcpnet/log.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hcpnet::dns {

/// Limits and collaborators of a Server. Each limit has a counter in ServerStats.
struct ServerOptions {
  /// Threads that answer over UDP. 1, and 0: the executor's alone. More: that many less one are started, each with a
  /// socket of its own for every listener, and answer from the zones; whatever is to be forwarded, and TCP, stays with
  /// the executor's thread.
  std::size_t workers = 1;
  /// How much may wait in each UDP socket while its thread is about something else (SO_RCVBUF; the kernel doubles it,
  /// and counts its own overhead: some 830 bytes for a short query). The kernel may allow less (net.core.rmem_max), or
  /// give more by itself.
  std::size_t udp_receive_buffer_bytes = 1024 * 1024;
  std::size_t max_tcp_connections = 512;
  std::chrono::milliseconds tcp_idle_timeout{10'000};
  std::size_t max_pending_forwards = 4096;            ///< queries that wait for an upstream
  std::chrono::milliseconds upstream_timeout{2'000};  ///< per upstream and attempt
  std::chrono::milliseconds forward_deadline{4'500};  ///< for all attempts together; clients give up after 5 s
  std::size_t max_cache_bytes = 8 * 1024 * 1024;
  /// Binds this port instead of the configured one; 0 lets the system choose (the same for UDP and TCP).
  std::map<std::uint16_t, std::uint16_t> port_map;
  /// Sockets of an earlier process, by the address that Config::listeners has. A listener that finds UDP and
  /// TCP sockets here serves these, however many workers there are, and binds nothing. Used by start().
  std::shared_ptr<InheritedSockets> inherited;
  std::string resolv_conf_path = "/etc/resolv.conf";
  Clock* clock = &system_clock();
  Logger log;
};

/// Counters since start, and gauges; names as in docs/metrics.md.
struct ServerStats {
  std::uint64_t queries_udp = 0, queries_tcp = 0;
  std::map<std::string, std::uint64_t> responses;  ///< by RCODE name: "NOERROR", "NXDOMAIN", ...
  std::map<std::string, std::uint64_t> by_view;
  /// By reason. Queries: "short", "is_response", "oversize", "receive_buffer" (the kernel had no room for them),
  /// "handover_limit" (more than 1024 of a worker's wait for the executor's thread). Replies: "send_failed".
  /// Connections: "tcp_limit", "tcp_timeout". Forwarding: "forward_limit" (answered SERVFAIL), "foreign_reply",
  /// "own_upstream" (an upstream that is this server). Transfers: "transfer_refused", "notify_limit". Rate limit:
  /// "rate_limited" (no reply), "rate_shortened" (TC or BADCOOKIE).
  std::map<std::string, std::uint64_t> dropped;
  std::map<std::string, std::uint64_t> format_errors;  ///< queries answered FORMERR, by what they lack (FormatError)
  std::map<std::string, std::uint64_t>
      cookies;  ///< queries by what their cookie was: "client_only", "invalid", "valid"
  std::uint64_t forwarded = 0, forward_failures = 0, cache_hits = 0, cache_entries = 0, pending_forwards = 0;
  std::uint64_t coalesced = 0;   ///< queries that joined a question already in flight
  std::uint64_t chains_cut = 0;  ///< replies that end after kMaxCnameHops aliases, or lead to too many upstreams
  std::uint64_t transfers = 0;   ///< zone transfers begun
  std::uint64_t notifies_sent = 0, notifies_acknowledged = 0, notifies_failed = 0;
  std::uint64_t cache_misses = 0, stale_answers = 0, prefetches = 0;
  std::uint64_t upstream_probes = 0;  ///< of upstreams that were silent
  std::uint64_t case_changed = 0;     ///< upstreams found not to keep the case of names
  /// By upstream, then by RCODE name, "other" (all above BADCOOKIE), "timeout" or "error".
  std::map<std::string, std::map<std::string, std::uint64_t>> upstream_replies;
  std::uint64_t cache_bytes = 0, cache_evictions = 0, tcp_connections = 0;
  struct Requests {
    std::string proto;  ///< "udp", "tcp"
    int family = 1;     ///< 1: IPv4, 2: IPv6, as CoreDNS has it
    std::string type;   ///< "A", "AAAA", ...; "other" for those that are seldom asked for
    std::uint64_t count = 0;
  };
  std::vector<Requests> requests;  ///< those that there were
  struct Durations {
    static constexpr std::array<double, 16> kBounds{0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032,
                                                    0.064,   0.128,  0.256, 0.512, 1.024, 2.048, 4.096, 8.192};
    std::array<std::uint64_t, kBounds.size() + 1> counts{};  ///< up to each bound (seconds), and beyond the last
    double sum_seconds = 0;
    /// `count` that took so long each.
    void add(std::uint64_t count, std::chrono::nanoseconds time) noexcept;
  };
  /// From the receipt of a query to its reply; for queries that came together, to the last of their replies.
  Durations durations;
  /// From a question to the reply of an upstream, by upstream and RCODE name.
  std::map<std::string, std::map<std::string, Durations>> upstream_durations;
  struct Sizes {
    static constexpr std::array<double, 13> kBounds{100,  200,  300,    400,    511,    1023,  2047,
                                                    4095, 8291, 16'000, 32'000, 48'000, 64'000};
    std::array<std::uint64_t, kBounds.size() + 1> counts{};  ///< up to each bound (bytes), and beyond the last
    std::uint64_t sum_bytes = 0;
    void add(std::size_t bytes) noexcept;
    Sizes& operator+=(const Sizes& more) noexcept;
  };
  std::map<std::string, Sizes> query_sizes, response_sizes;  ///< by "udp" and "tcp"
};

struct BoundListener {
  Endpoint configured;
  Endpoint bound;
};

struct Snapshot;  // src/dns/snapshot.hpp

/// Answers for its zones, forwards the rest. Authoritative data by view (RFC 1034, 1035, 2308, 4592, 6891).
///
/// All calls on the executor's thread (one thread), or before it runs. Callbacks run there, whatever the number of
/// workers.
class Server {
 public:
  Server(boost::asio::any_io_executor executor, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Binds every listener, UDP and TCP; all or nothing. Throws boost::system::system_error that names the address and
  /// the reason; also for what check_config() finds, and for an upstream that is one of the listeners once they are
  /// bound.
  void start(Config config);
  /// Answers from `config` from now on; queries in flight finish under the old one. The cache is kept if forwarding is
  /// the same. Precondition: the same listeners. Throws as start() does; then the old configuration stays.
  void replace(Config config);
  /// The first half of replace(): checks `config` and builds what would be served; nothing changes yet. Throws as
  /// start() does.
  [[nodiscard]] std::shared_ptr<const Snapshot> prepare(Config config) const;
  /// The second half, for what prepare() of this server made since the last commit(): whatever is wrong with a
  /// configuration has been found before.
  void commit(std::shared_ptr<const Snapshot> next);
  /// Closes everything; who still waits for an upstream gets no reply. `done` runs on the executor. May be called
  /// again.
  void stop(std::function<void()> done);

  [[nodiscard]] std::vector<BoundListener> listeners() const;
  /// What listens, each worker's, for a process that takes over. Valid until stop().
  [[nodiscard]] std::vector<ListeningSocket> sockets() const;
  [[nodiscard]] ServerStats stats() const;
  /// Precondition: started.
  [[nodiscard]] const Config& config() const;
  /// What is served now, for any thread to read. Precondition: started.
  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace hcpnet::dns
