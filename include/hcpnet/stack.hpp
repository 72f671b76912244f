// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <hcpnet/clock.hpp>
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/dhcp/lease_file.hpp>
#include <hcpnet/dhcp/lease_import.hpp>
#include <hcpnet/dhcp/server.hpp>
#include <hcpnet/dhcp6/lease.hpp>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/dns/explain.hpp>
#include <hcpnet/dns/server.hpp>
#include <hcpnet/dns/zone.hpp>
#include <hcpnet/inherited_sockets.hpp>
#include <hcpnet/log.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/proxy/engine.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/spec/load.hpp>
#include <hcpnet/spec/observed.hpp>
#include <hcpnet/stack/explain.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace boost::asio {
class io_context;
}

namespace hcpnet {

/// Something that happened in a running stack and that its owner may want to act on.
struct StackEvent {
  enum class Kind : std::uint8_t {
    lease,
    reloaded,
    reload_refused,
    handed_over,  ///< another process serves; tunnels may finish here, for as long as their ProxyPolicy has it drain
    stopped,      ///< after handed_over: the last tunnel has ended
    lease6,       ///< of DHCPv6
  };
  Kind kind = Kind::lease;
  std::optional<dhcp::LeaseEvent> lease;      ///< with Kind::lease
  Diagnostics diagnostics;                    ///< with Kind::reload_refused: why; with Kind::reloaded: warnings
  std::optional<dhcp6::LeaseEvent> lease6{};  ///< with Kind::lease6
};

/// Which of the three servers one process runs, where several share one set of files.
struct ServedParts {
  bool dhcp = true, dns = true, proxy = true;
};

struct StackOptions {
  std::vector<std::string> files;       ///< one set: YAML or JSON, "-" is standard input; read again at each reload
  std::vector<spec::SourceText> texts;  ///< the same, from memory
  std::vector<std::string> observed;    ///< what `kubectl get -o yaml` printed
  std::vector<std::string> endpoints;   ///< maps "namespace/service:port: [address:port, ...]"
  std::string state_dir;                ///< holds leases.db; needed when the set has DHCP; must exist
  std::vector<IpAddress>
      pod_addresses;  ///< DNS and proxy listen here as well: this process's addresses on the management side
  /// Binds another port than the configured one; 0 lets the system choose. What is not named stays as configured.
  std::map<std::uint16_t, std::uint16_t> port_map;
  std::string admin_socket;           ///< path of the admin unix socket (mode 0600); empty: none
  std::optional<Endpoint> admin_tcp;  ///< admin over TCP; refused unless it is a loopback address
  std::optional<Endpoint> observe;    ///< read-only /healthz, /readyz, /metrics
  /// Path of the unix socket (mode 0600, same user only) where a later process may ask to take over; empty: none.
  std::string handover_socket;
  /// Take over from the process that answers on handover_socket, if one does: its sockets become ours, and it serves
  /// until start() has done all that can fail.
  bool takes_over = false;
  /// Sockets from elsewhere that listeners of DNS and proxy may use instead of binding their own; null: none. A start()
  /// that fails closes those it had used, and one that takes over all of them.
  std::shared_ptr<InheritedSockets> inherited;
  bool watch = false;      ///< reload when a file changes
  ServedParts serve;       ///< the others are another process's
  proxy::Resolve resolve;  ///< for backends and internalProxyService; the system's resolver when empty
  Clock* clock = &system_clock();
  LogSink log;  ///< on the stack's thread
  /// One line per ended connection of the proxies, in the form that their ProxyPolicy says (docs/proxy.md), without
  /// line end; on the stack's thread. Empty: a log record instead.
  std::function<void(const std::string& line)> access_log;
  std::function<void(const StackEvent&)> on_event;  ///< on the stack's thread; must not call back into the stack
};

struct StackListener {
  std::string service;  ///< "dhcp", "dns", "proxy", "admin", "observe"
  std::string owner;    ///< the object that asked for it, "namespace/name"; empty for admin and observe
  Endpoint configured;
  Endpoint bound;
};

struct StackZone {
  std::string server;  ///< the Infra or DNSServer, "namespace/name"
  std::string view;
  std::vector<Cidr> clients;
  std::shared_ptr<const dns::Zone> zone;
};

struct StackStats {
  dhcp::ServerStats dhcp;
  std::map<std::string, dns::ServerStats> dns;        ///< by owner
  std::map<std::string, proxy::EngineStats> proxies;  ///< by owner
  std::uint64_t reloads = 0, reloads_refused = 0;
  std::map<std::string, std::uint64_t> reload_errors;  ///< of refused reloads, by Diagnostic::code
};

/// The outcome of the latest reload.
struct StackReload {
  Clock::SystemTime time;
  bool was_applied = false;
  Diagnostics diagnostics;  ///< why it was refused, or warnings
};

/// DHCP, DNS and proxy of one set of specs, in one thread: start, look inside, reload, stop.
///
/// With a thread of its own (first constructor) every member function may be called from any other thread. On an
/// io_context of the embedder (second) call them on the thread that runs it, or while nobody does; stop() there returns
/// at once and `stopped` tells the end.
class Stack {
 public:
  explicit Stack(StackOptions options);
  Stack(boost::asio::io_context& io, StackOptions options);
  /// Stops at once, without draining; call stop() first to let tunnels finish.
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  /// Reads, checks, binds everything, then serves; all or nothing. Throws SpecError when the set is wrong or has
  /// nothing to serve, boost::system::system_error when sockets can't be bound or the lease database can't be opened,
  /// saying of all of them which and why. Then nothing is left open, and it may be called again; an embedder's
  /// io_context that nothing else keeps at work needs its restart() before. Throws std::logic_error when the stack runs
  /// or was stopped.
  void start();
  /// Reads the files again. The error says why the old state was kept: nothing is applied in part. Warnings:
  /// warnings().
  /// On an io_context of the embedder this reads on the calling thread; the form below does not.
  Result<void, Diagnostics> reload();
  /// The same without waiting: reads, checks and builds on a thread of its own while everything is served on, applies
  /// the outcome and calls `done`, both on the stack's thread. One reload is under way at a time; all who ask meanwhile
  /// share the next one. On an io_context of the embedder `done` may call the stack, stop() too.
  void reload(std::function<void(const Result<void, Diagnostics>&)> done);
  /// Where Services are served, as the embedder knows it, from a watch of EndpointSlices for example: goes before what
  /// was observed and what endpoint maps say, and replaces what was set before. New connections follow it at once;
  /// tunnels are not touched, but UDP flows whose endpoint is gone end. Before start() it is for the start. The routes
  /// of all proxies are built anew, so say it once for several changes; the same as before costs nothing. Errors: keys
  /// and addresses that are none; then nothing changes.
  Result<void, Diagnostics> set_endpoints(spec::EndpointMap endpoints);
  /// Takes over leases from elsewhere, all of them or none: dhcp::Server::import_leases(). `done` is called on the
  /// stack's thread; on an io_context of the embedder it may call the stack.
  void import_leases(dhcp::LeaseList list, std::function<void(Result<dhcp::LeaseImport, Diagnostics>)> done);
  /// Ends a lease, or the rest of a declined address: dhcp::Server::release(). `done` as above.
  void release_lease(const IpAddress& address, std::function<void(Result<dhcp::EndedLease, Diagnostics>)> done);
  /// Keep an address for a client, beside the reservations of the files, or keep it no longer: dhcp::Server::reserve()
  /// and unreserve(). `done` as above.
  void reserve_address(dhcp::KeptAddress wanted, std::function<void(Result<dhcp::KeptAddress, Diagnostics>)> done);
  void unreserve_address(const IpAddress& address, std::function<void(Result<dhcp::KeptAddress, Diagnostics>)> done);
  /// Of the files and by hand, ordered by address.
  [[nodiscard]] std::vector<dhcp::KeptAddress> reservations() const;
  /// The proxies take no more clients from now on and /readyz says so; tunnels, DHCP and DNS go on. For the time before
  /// stop(), so that load balancers turn away. Idempotent.
  void drain();
  [[nodiscard]] bool is_draining() const;
  /// Takes no more clients, lets tunnels and disk writes finish (five seconds at most), closes everything. Idempotent.
  /// After StackEvent::Kind::handed_over too: five seconds from then on.
  void stop(std::function<void()> stopped = {});

  [[nodiscard]] bool is_running() const;
  /// Empty when all is well; else one sentence per trouble, such as a disk that takes no leases, or files that a reload
  /// refused and that still differ from what is served.
  [[nodiscard]] std::vector<std::string> troubles() const;
  [[nodiscard]] std::vector<StackListener> listeners() const;
  [[nodiscard]] std::vector<dhcp::Lease> leases() const;
  [[nodiscard]] std::vector<dhcp6::Lease> leases6() const;
  [[nodiscard]] std::vector<StackZone> zones() const;
  /// Which view, zone and rule of each DNS server answer a client, by owner. As dns::explain().
  [[nodiscard]] std::map<std::string, dns::Explanation> explain(const dns::Name& name, dns::Type type,
                                                                const IpAddress& client) const;
  [[nodiscard]] StackStats stats() const;
  /// One answer per proxy that listens on `port`.
  [[nodiscard]] std::vector<RouteExplanation> route(const std::string& server_name, std::uint16_t port,
                                                    const IpAddress& source) const;
  /// nullopt: none since start.
  [[nodiscard]] std::optional<StackReload> last_reload() const;
  /// Warnings of the set that is served.
  [[nodiscard]] Diagnostics warnings() const;
  /// Prometheus text exposition format 0.0.4.
  [[nodiscard]] std::string metrics() const;

  struct Impl;  ///< not for users

 private:
  struct Thread;
  template <class Work>
  auto call(Work work) const;
  void start_call(std::function<void()> work);

  std::unique_ptr<Thread> thread_;
  std::shared_ptr<Impl> impl_;
};

}  // namespace hcpnet
