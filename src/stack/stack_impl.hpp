// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <hcpnet/ra/server.hpp>
#include <hcpnet/stack.hpp>
#include <hcpnet/stack/config.hpp>
#include <hcpnet/stack/files.hpp>
#include <optional>
#include <set>
#include <thread>

#include "runtime/timer_queue.hpp"
#include "stack/http_server.hpp"
#include "stack/lease_names.hpp"
#include "stack/watcher.hpp"

namespace hcpnet {

/// The running state. Everything here happens on the thread that runs `io`.
struct Stack::Impl : std::enable_shared_from_this<Stack::Impl> {
  Impl(boost::asio::io_context& context, StackOptions o);

  struct NamedDns {
    std::string owner;
    std::unique_ptr<dns::Server> server;
    std::optional<LeaseNames> lease_names{};
  };
  struct NamedProxy {
    std::string owner;
    std::unique_ptr<proxy::Engine> engine;
    proxy::SourceClusters workers;  ///< observed; leases come on top
    ProxyLimits limits;
  };
  /// A configuration that every server agreed to.
  struct Prepared {
    StackConfig config;
    std::vector<std::shared_ptr<const dns::Snapshot>> dns;  ///< in the order of the servers
    std::vector<std::optional<LeaseNames>> lease_names;     ///< likewise
  };
  /// A reload that nothing stands against.
  struct NextState {
    SourceFiles files;
    CheckedFiles checked;
    Prepared prepared;
  };
  enum class State : std::uint8_t { idle, running, stopping, stopped };

  // stack_impl.cpp
  void start();
  Result<void, Diagnostics> reload();
  void drain();
  void stop(std::function<void()> stopped);
  void close();

  // stack_inspect.cpp
  /// What keeps clients from being served well.
  [[nodiscard]] std::vector<std::string> service_troubles() const;
  /// These, and files that are not what is served.
  [[nodiscard]] std::vector<std::string> troubles() const;
  [[nodiscard]] std::vector<StackListener> listeners() const;
  [[nodiscard]] std::vector<StackZone> zones() const;
  [[nodiscard]] StackStats stats() const;
  /// HttpServer::closed_for_room() by "admin" and "observe".
  [[nodiscard]] std::map<std::string, std::uint64_t> http_closed_for_room() const;
  [[nodiscard]] std::vector<RouteExplanation> route(const std::string& server_name, std::uint16_t port,
                                                    const IpAddress& source) const;

  boost::asio::io_context& io;
  StackOptions options;
  Logger log;
  runtime::TimerQueue timers;
  State state = State::idle;
  Diagnostics warnings;
  std::uint64_t reloads = 0, reloads_refused = 0;
  bool is_draining = false;
  std::optional<StackReload> last_reload;
  bool do_files_differ = false;  ///< from what is served, since a reload was refused

  std::unique_ptr<dhcp::Server> dhcp;
  std::unique_ptr<ra::Server> advertiser;
  std::vector<NamedDns> dns;
  std::vector<NamedProxy> proxies;

 private:
  [[nodiscard]] Result<SourceFiles, Diagnostics> read_files();
  /// The configuration of what this process serves.
  [[nodiscard]] Result<StackConfig, Diagnostics> make_config(const CheckedFiles& checked) const;
  [[nodiscard]] Diagnostics find_unchangeable(const StackConfig& next) const;
  [[nodiscard]] Diagnostics open_new_listeners(const StackConfig& next);
  void start_servers(StackConfig config);
  [[nodiscard]] Result<NextState, Diagnostics> prepare_reload();
  [[nodiscard]] Result<Prepared, Diagnostics> prepare(StackConfig config);
  void commit(Prepared next);
  Result<void, Diagnostics> refuse_reload(Diagnostics why);
  void end_difference();
  void adopt(StackConfig& config);
  void start_http();
  void watch();
  void on_files_changed();
  void on_lease(const dhcp::LeaseEvent& event);
  void note_lease(const dhcp::Lease& lease, bool is_live);
  void push_source_clusters();
  [[nodiscard]] std::optional<LeaseNames> make_lease_names(const DnsServerConfig& next, const LeaseNames* before) const;
  template <class Lease>
  void note_lease_name(const Lease& lease);
  void publish_lease_names();
  void advertise(std::vector<ra::Network> networks);
  void warn_of_fixed_limits(const StackConfig& next);
  void resolve_proxies();
  void on_resolved(const std::string& name, const std::vector<Endpoint>& answer);
  void notify(const StackEvent& event) const;
  void finish();

  std::optional<SourceFiles> stdin_files_;  ///< "-" can be read once only
  std::vector<ra::Network> advertisements_;
  SourceFiles files_;  ///< what is served, to see whether a change is one
  CheckedFiles checked_;
  Surroundings surroundings_;
  std::vector<std::string> proxies_by_dns_;
  std::optional<runtime::TimerQueue::Id> next_resolve_;
  std::unordered_map<MacAddress, std::string> mac_clusters_;
  proxy::SourceClusters lease_clusters_;
  bool are_sources_stale_ = false;
  std::optional<runtime::TimerQueue::Id> next_lease_names_;  ///< set while names wait to be published
  std::shared_ptr<FileWatcher> watcher_;
  std::unique_ptr<HttpServer> admin_, admin_tcp_, observe_;
  std::optional<Endpoint> admin_tcp_bound_, observe_bound_;
  proxy::Resolve resolve_;
  std::size_t stops_pending_ = 0;
  std::vector<std::function<void()>> on_stopped_;
};

/// The pages of the admin and observe listeners.
[[nodiscard]] HttpResponse answer_admin(Stack::Impl& stack, const HttpRequest& request);
[[nodiscard]] HttpResponse answer_observe(Stack::Impl& stack, const HttpRequest& request);
/// Prometheus text exposition format 0.0.4.
[[nodiscard]] std::string render_metrics(const Stack::Impl& stack);

}  // namespace hcpnet
