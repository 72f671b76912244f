// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <hcpnet/clock.hpp>
#include <hcpnet/inherited_sockets.hpp>
#include <hcpnet/log.hpp>
#include <hcpnet/proxy/engine_settings.hpp>
#include <hcpnet/proxy/route_table.hpp>
#include <hcpnet/result.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hcpnet::proxy {

/// What a host name stands for.
struct Resolution {
  Resolution() = default;
  Resolution(std::vector<Endpoint> found) : endpoints(std::move(found)) {}
  Resolution(std::vector<Endpoint> found, std::chrono::seconds valid_for)
      : endpoints(std::move(found)), ttl(valid_for) {}

  std::vector<Endpoint> endpoints;
  std::optional<std::chrono::seconds> ttl;  ///< how long it may be used; absent: EngineOptions::resolve_cache_time
};

/// Looks a backend's host name up and calls back once, on the executor's thread: with endpoints; with the error
/// boost::asio::error::host_not_found or no_data, or without endpoints, where the name stands for nothing; with any
/// other error where nobody could tell. Only then is what was known of it used on, for a day at most (RFC 8767 section
/// 4): an address that a name has no more may be somebody else's by now. One that throws has failed, like one that
/// calls back with any other error; the exception leaves the event loop.
using Resolved = std::function<void(Result<Resolution>)>;
using Resolve = std::function<void(const std::string& host, std::uint16_t port, Resolved)>;

/// Settings and collaborators of an Engine. What is not one of the settings stays as it is at start.
struct EngineOptions : EngineSettings {
  /// How long looked-up endpoints count as fresh where the answer has no time to live.
  std::chrono::milliseconds resolve_cache_time{30'000};
  /// Binds this port instead of the configured one; 0 lets the system choose. Routing still goes by the configured
  /// port.
  std::map<std::uint16_t, std::uint16_t> port_map;
  /// Sockets of an earlier process, by the address that the table has. A listener that finds its own here serves these,
  /// however many workers there are, and binds nothing. Used by start(), prepare() and replace().
  std::shared_ptr<InheritedSockets> inherited;
  /// Threads of the engine's own, each with a share of the connections (SO_REUSEPORT). 0 or 1: everything happens on
  /// the executor. Needs the system's clock.
  std::size_t workers = 1;
  /// One line for each connection that ended, in the form of `access_log_format`, without line end. Empty: a log record
  /// instead.
  std::function<void(std::string line)> access_log;
  Resolve resolve;  ///< the system's resolver when empty
  Clock* clock = &system_clock();
  Logger log;
};

/// Counters since start, and gauges; names as in docs/metrics.md.
struct EngineStats {
  std::uint64_t accepted = 0;
  std::uint64_t active = 0;                  ///< gauge
  std::uint64_t limit_refused = 0;           ///< max_connections
  std::uint64_t listener_limit_refused = 0;  ///< Listener::max_connections
  std::uint64_t source_limit_refused = 0;    ///< max_connections_per_source
  std::uint64_t backend_limit_refused = 0;   ///< Backend::max_connections
  std::uint64_t source_denied = 0;           ///< Listener::allow and deny
  std::uint64_t accept_backoffs = 0;         ///< accept() failed and was put off
  std::uint64_t inspect_timeouts = 0;
  std::uint64_t hello_too_large = 0;
  std::uint64_t hello_malformed = 0;
  std::uint64_t proxy_header_refused = 0;  ///< missing or malformed where a header of the PROXY protocol is demanded
  std::uint64_t closed_before_hello = 0;   ///< the client went away before its ClientHello was complete
  std::uint64_t connect_failures = 0;      ///< no endpoint of the backend could be reached
  std::uint64_t endpoint_failures = 0;     ///< single endpoints that refused, timed out or were refused by us
  std::uint64_t connect_timeouts = 0;      ///< of these: no answer within connect_timeout
  std::uint64_t loops_refused = 0;         ///< of these: a listener of this engine, or of another beside it
  std::uint64_t resolve_failures = 0;      ///< failed look-ups, also where an older answer could be used
  std::uint64_t stale_answers = 0;         ///< connections that used an answer beyond its time
  std::uint64_t idle_timeouts = 0;
  std::uint64_t routes_removed = 0;  ///< tunnels closed because their route was gone for removed_route_timeout
  std::uint64_t downstream_resets = 0;
  std::uint64_t upstream_resets = 0;
  std::uint64_t bytes_to_backend = 0;
  std::uint64_t bytes_to_client = 0;
  std::uint64_t buffers_in_use = 0;  ///< gauge: relay buffers that hold bytes a slow receiver has not taken yet
  std::uint64_t pipes_refused = 0;   ///< reads that were copied because there was no pipe to splice through
  std::uint64_t udp_datagrams = 0;   ///< forwarded, both ways
  std::uint64_t udp_dropped = 0;     ///< not forwarded: no route, a limit, no room in a socket
  std::map<std::string, std::uint64_t> decisions;  ///< by to_string(Rule)
  std::map<std::string, std::uint64_t> closed;     ///< by close reason (docs/proxy.md)
  struct PerListener {
    std::uint64_t total = 0, active = 0, limit_refused = 0, no_route = 0, inspect_timeouts = 0;
  };
  std::map<Endpoint, PerListener> listeners;  ///< by configured address, TCP and UDP together
  struct PerEndpoint {
    std::uint64_t total = 0, active = 0, failures = 0;
    bool is_healthy = true;  ///< by active checks
    bool is_ejected = false;
  };
  struct PerBackend {
    std::uint64_t total = 0, active = 0, connect_failures = 0;
    std::uint64_t connect_timeouts = 0, limit_refused = 0, bytes_to_backend = 0, bytes_to_client = 0;
    std::uint64_t health_checks = 0, health_check_failures = 0, ejections = 0;
    /// Not made: the endpoint's last one still waited for its turn, or a descriptor or an address was missing.
    std::uint64_t health_checks_left_out = 0;
    std::map<Endpoint, PerEndpoint> endpoints;  ///< that were used or checked
  };
  std::map<std::string, PerBackend> backends;  ///< of the current table, and older ones that are still in use
};

struct BoundListener {
  Endpoint configured;
  Endpoint bound;  ///< with the port that the system gave
  ListenerKind kind = ListenerKind::tls;
};

/// Accepts connections, reads what names the server, chooses a backend and copies bytes both ways, never changing one.
///
/// All calls on the executor's thread (one thread), or before it runs; callbacks run there too, also when the engine
/// has threads of its own. The destructor closes everything at once.
/// docs/proxy.md has the states, limits and close reasons.
class Engine {
 public:
  Engine(boost::asio::any_io_executor executor, EngineOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Binds every listener of the table; all or nothing. Throws boost::system::system_error that names the address and
  /// the reason.
  void start(std::shared_ptr<const RouteTable> table);
  /// New connections follow `table` from now on. Established tunnels are not touched, but those whose route is gone
  /// end after removed_route_timeout, unless it comes back: those that the table, asked anew by what the client asked
  /// for and who he is now, would refuse or lead to another backend, by its name and Backend::target. Flows of
  /// datagrams end at once where their backend has their endpoint no more, and with their listener. Listeners that are
  /// new are opened, those that are gone are closed; all or nothing: throws boost::system::system_error that names the
  /// address, and all stays as it was.
  void replace(std::shared_ptr<const RouteTable> table);
  /// Opens what is new in `table` without serving it, so that replace() with the same table cannot fail any more.
  /// Throws as replace() does. A later call, or replace(), forgets what was prepared and not used.
  void prepare(const std::shared_ptr<const RouteTable>& table);
  /// Connections that are accepted from now on follow `settings`, and open ones where something is still ahead of them:
  /// an attempt to connect, the end of their route, their line in the access log. What is open is not counted towards
  /// a limit that it was not counted towards when it came.
  void configure(const EngineSettings& settings);
  /// Listeners of other engines, as bound: to dial one would lead back to where the client came from, so they are
  /// refused like the engine's own.
  void set_other_listeners(std::vector<Endpoint> listeners);
  /// Which cluster a client address belongs to, from now on. Ends no tunnel: replace() does, by what is known then.
  void set_source_clusters(SourceClusters clusters);
  /// Stops accepting, for good; tunnels go on. For the time before stop(), so that load balancers turn away. Who is
  /// connected already as far as the kernel is concerned is taken still: closing the sockets would reset him.
  void drain();
  [[nodiscard]] bool is_draining() const;
  /// Stops accepting at once, without taking who waits, as another process may have the same sockets; lets connections
  /// finish for `patience`, EngineOptions::drain_timeout if absent, then closes them and calls `done`, from the event
  /// loop. May be called again: the earlier end counts.
  void stop(std::function<void()> done, std::optional<std::chrono::milliseconds> patience = {});

  [[nodiscard]] std::vector<BoundListener> listeners() const;  ///< empty once it drains
  /// What listens, each worker's, for a process that takes over. Valid until the next call that opens or closes.
  [[nodiscard]] std::vector<ListeningSocket> sockets() const;
  [[nodiscard]] EngineStats stats() const;
  [[nodiscard]] std::shared_ptr<const RouteTable> table() const;
  [[nodiscard]] const SourceClusters& source_clusters() const;
  [[nodiscard]] const EngineSettings& settings() const;
  /// What of `settings().buffers` the kernel allows, both given: what sockets are bounded by. 0: there is no bound.
  [[nodiscard]] SocketBuffers granted_buffers() const;
  [[nodiscard]] std::size_t worker_count() const;  ///< at least 1

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace hcpnet::proxy
