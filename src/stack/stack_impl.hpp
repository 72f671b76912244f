// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <hcpnet/ra/server.hpp>
#include <hcpnet/stack.hpp>
#include <hcpnet/stack/config.hpp>
#include <hcpnet/stack/files.hpp>
#include <iterator>
#include <optional>
#include <set>
#include <thread>

#include "runtime/open_failures.hpp"
#include "runtime/timer_queue.hpp"
#include "stack/handover_server.hpp"
#include "stack/http_server.hpp"
#include "stack/lease_feed.hpp"
#include "stack/lease_names.hpp"
#include "stack/load_set.hpp"
#include "stack/takeover.hpp"
#include "stack/watcher.hpp"

namespace hcpnet {

/// The running state. Everything here happens on the thread that runs `io`.
struct Stack::Impl : std::enable_shared_from_this<Stack::Impl> {
  Impl(boost::asio::io_context& context, StackOptions o);

  struct NamedDns {
    std::string owner;
    std::unique_ptr<dns::Server> server;
    std::size_t workers = 1;
    std::optional<LeaseNames> lease_names{};
  };
  struct NamedProxy {
    std::string owner;
    std::unique_ptr<proxy::Engine> engine;
    proxy::SourceClusters workers;  ///< observed; leases come on top
    std::size_t worker_threads = 1;
  };
  /// A configuration that every server agreed to.
  struct Prepared {
    StackConfig config;
    std::vector<std::shared_ptr<const dns::Snapshot>> dns;  ///< in the order of the servers
    std::vector<std::optional<LeaseNames>> lease_names;     ///< likewise
  };
  using Reloaded = std::function<void(const Result<void, Diagnostics>&)>;
  /// What one load of the set is for.
  struct Reload {
    bool is_asked_for = false;  ///< by somebody; it happens also where the files are what is served
    bool is_due = false;        ///< files have changed
    std::vector<Reloaded> waiting;
    void take_over(Reload other) {
      is_asked_for = is_asked_for || other.is_asked_for;
      is_due = is_due || other.is_due;
      waiting.insert(waiting.begin(), std::make_move_iterator(other.waiting.begin()),
                     std::make_move_iterator(other.waiting.end()));
    }
  };
  enum class State : std::uint8_t { idle, running, handed_over, stopping, stopped };

  // stack_impl.cpp
  void start();
  Result<void, Diagnostics> set_endpoints(spec::EndpointMap endpoints);
  void drain();
  void stop(std::function<void()> stopped);
  void close();

  // stack_reload.cpp
  Result<void, Diagnostics> reload_now();
  /// Answers when it is done, on the thread that serves.
  void reload(Reloaded done);

  // stack_leases.cpp
  using LeasesImported = std::function<void(Result<dhcp::LeaseImport, Diagnostics>)>;
  void import_leases(const dhcp::LeaseList& list, const LeasesImported& done);
  /// The same for a lease file of our own, which is read on a thread beside the one that serves.
  void import_leases(std::string file, std::string text, LeasesImported done);
  void release_lease(const IpAddress& address, const std::function<void(Result<dhcp::EndedLease, Diagnostics>)>& done);
  using AddressKept = std::function<void(Result<dhcp::KeptAddress, Diagnostics>)>;
  void reserve_address(const dhcp::KeptAddress& wanted, const AddressKept& done);
  void unreserve_address(const IpAddress& address, const AddressKept& done);

  // stack_inspect.cpp
  /// What keeps clients from being served well.
  [[nodiscard]] std::vector<std::string> service_troubles() const;
  /// These, and files that are not what is served.
  [[nodiscard]] std::vector<std::string> troubles() const;
  [[nodiscard]] std::vector<StackListener> listeners() const;
  [[nodiscard]] std::vector<StackZone> zones() const;
  [[nodiscard]] std::map<std::string, dns::Explanation> explain(const dns::Name& name, dns::Type type,
                                                                const IpAddress& client) const;
  [[nodiscard]] StackStats stats() const;
  /// HttpServer::closed_for_room() by "admin" and "observe".
  [[nodiscard]] std::map<std::string, std::uint64_t> http_closed_for_room() const;
  /// HttpServer::accept_backoffs(), likewise.
  [[nodiscard]] std::map<std::string, std::uint64_t> http_accept_backoffs() const;
  [[nodiscard]] std::vector<RouteExplanation> route(const std::string& server_name, std::uint16_t port,
                                                    const IpAddress& source) const;

  boost::asio::io_context& io;
  StackOptions options;
  Logger log;
  runtime::TimerQueue timers;
  State state = State::idle;
  Diagnostics warnings;
  std::uint64_t reloads = 0, reloads_refused = 0;
  std::map<std::string, std::uint64_t> reload_errors;
  bool is_draining = false;
  std::optional<StackReload> last_reload;
  bool do_files_differ = false;  ///< from what is served, since a reload was refused

  std::optional<LeaseFeed> lease_feed;  ///< while it runs
  std::unique_ptr<dhcp::Server> dhcp;
  std::unique_ptr<ra::Server> advertiser;
  std::vector<NamedDns> dns;
  std::vector<NamedProxy> proxies;

 private:
  [[nodiscard]] LoadRequest load_request() const;
  void start_load();
  /// What has happened before a load began.
  struct Generations {
    std::uint64_t files, surroundings;
  };
  [[nodiscard]] Generations generations() const { return {load_generation_, surroundings_generation_}; }
  void on_loaded(LoadOutcome loaded, Generations generations);
  void refuse_waiting();
  Result<void, Diagnostics> apply(LoadOutcome loaded);
  [[nodiscard]] Diagnostics find_unchangeable(const StackConfig& next) const;
  [[nodiscard]] Diagnostics open_new_listeners(const StackConfig& next);
  void bind_servers(const StackConfig& config, runtime::OpenFailures& failures);
  void start_servers(StackConfig config, runtime::OpenFailures& failures);
  void start_dhcp(dhcp::Config config);
  void start_advertiser(std::vector<ra::Network> networks);
  [[nodiscard]] Result<Prepared, Diagnostics> try_prepare(StackConfig config);
  [[nodiscard]] Result<Prepared, Diagnostics> prepare(StackConfig config);
  void commit(Prepared next);
  Result<void, Diagnostics> refuse_reload(Diagnostics why);
  void end_difference();
  void adopt(StackConfig& config);
  /// The last that is opened: throws where anything could not be.
  void start_http(runtime::OpenFailures& failures);
  void log_unused_port_maps() const;
  /// Those of the set that is served that `before` has not.
  void log_new_warnings(const Diagnostics& before) const;
  void watch();
  void watch_records(std::vector<std::string> paths);
  void on_files_changed();
  void on_lease(const dhcp::LeaseEvent& event);
  void on_lease(const dhcp6::LeaseEvent& event);
  void note_lease(const dhcp::Lease& lease, bool is_live);
  void relearn_source_clusters();
  void push_source_clusters();
  void push_listeners();
  [[nodiscard]] std::optional<LeaseNames> make_lease_names(const DnsServerConfig& next, const LeaseNames* before) const;
  template <class Lease>
  void note_lease_name(const Lease& lease);
  void publish_lease_names();
  void advertise(std::vector<ra::Network> networks);
  void warn_of_fixed_workers(const StackConfig& next);
  void resolve_proxies();
  void on_resolved(const std::string& name, const std::vector<Endpoint>& answer);
  void notify(const StackEvent& event) const;
  /// `is_patient`: tunnels may last as long as their policy has them drain.
  void end_servers(bool is_patient);
  void note_stopped();
  void finish();

  // stack_handover.cpp
  [[nodiscard]] std::optional<Takeover> connect_to_predecessor();
  void open_handover();
  [[nodiscard]] std::vector<ListeningSocket> sockets() const;
  void release(const std::function<void()>& released);
  bool start_released();
  void take_back();
  void hand_over();
  [[nodiscard]] bool is_being_handed_over() const { return handover_ && handover_->is_busy(); }

  std::vector<ra::Network> advertisements_;
  std::shared_ptr<LoadedSet> served_;
  std::optional<boost::asio::thread_pool> loader_;  ///< one thread; there is none before it has something to do
  bool is_loading_ = false;
  Reload current_reload_, next_reload_;        ///< for whom is loaded; who has asked since
  std::uint64_t load_generation_ = 0;          ///< counts what makes a load in progress outdated
  std::uint64_t surroundings_generation_ = 0;  ///< counts what such a load is built with, but not read from
  Surroundings surroundings_;
  std::vector<std::string> proxies_by_dns_;
  std::optional<runtime::TimerQueue::Id> next_resolve_;
  std::unordered_map<MacAddress, std::string> mac_clusters_;
  proxy::SourceClusters lease_clusters_;
  bool are_sources_stale_ = false;
  std::optional<runtime::TimerQueue::Id> next_lease_names_;  ///< set while names wait to be published
  std::shared_ptr<FileWatcher> watcher_;
  std::unique_ptr<HandoverServer> handover_;
  bool is_released_ = false;  ///< a successor has what one process alone can have: leases, pages
  std::optional<runtime::TimerQueue::Id> next_take_back_;
  std::unique_ptr<HttpServer> admin_, admin_tcp_, observe_;
  std::optional<Endpoint> admin_tcp_bound_, observe_bound_;
  proxy::Resolve resolve_;
  std::size_t stops_pending_ = 0;
  std::vector<std::function<void()>> on_stopped_;
};

/// The one page that takes more than a few kilobytes, from the admin socket alone.
inline constexpr const char* kImportLeasesPage = "/leases/import";
/// The pages of the admin and observe listeners.
void answer_admin(Stack::Impl& stack, const HttpRequest& request, HttpReply reply);
void answer_observe(Stack::Impl& stack, const HttpRequest& request, HttpReply reply);
/// Prometheus text exposition format 0.0.4.
[[nodiscard]] std::string render_metrics(const Stack::Impl& stack);

}  // namespace hcpnet
