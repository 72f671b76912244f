// SPDX-License-Identifier: Apache-2.0
//   idle --start--> running --stop--> stopping --all servers done--> stopped
#include "stack/stack_impl.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "proxy/name_cache.hpp"
#include "runtime/error_text.hpp"

namespace hcpnet {
namespace {

constexpr std::chrono::seconds kResolveEvery{30};
/// How long names of leases wait for those of others: a zone is built anew for all of them together.
constexpr std::chrono::milliseconds kLeaseNamesWait{100};
constexpr std::uint16_t kAnyPort = 443;  // only the address counts

}  // namespace

Stack::Impl::Impl(boost::asio::io_context& context, StackOptions o)
    : io(context),
      options(std::move(o)),
      log(options.log, "stack"),
      timers(context.get_executor(), *options.clock),
      resolve_(options.resolve ? options.resolve : proxy::make_system_resolve(context.get_executor())) {
  surroundings_.pod_addresses = options.pod_addresses;
}

void Stack::Impl::start() {
  if (state != State::idle) throw std::logic_error("hcpnet::Stack is started once");
  const LoadRequest request = load_request();
  served_ = load_set(request).set.value();
  StackConfig config = std::move(served_->config);
  std::vector<std::shared_ptr<const proxy::RouteTable>> tables;
  auto takeover = connect_to_predecessor();  // outlives what is closed below: it goes on where we fail
  try {
    if (takeover) takeover->receive_sockets(*options.inherited);
    adopt(config);
    runtime::OpenFailures failures;
    bind_servers(config, failures);
    for (const ProxyServerConfig& p : config.proxies) tables.push_back(p.table);
    if (takeover) {
      failures.throw_any();  // before the predecessor lets go of anything
      takeover->ask_release();
    }
    start_servers(std::move(config), failures);
    start_http(failures);
    open_handover();
    if (options.watch) watch();
    if (takeover) takeover->finish();
  } catch (...) {
    advertiser.reset();  // without a farewell: it has told nobody of a router, and the one that hosts know may go on
    close();
    if (takeover) options.inherited->clear();  // a later try gets them anew
    state = State::idle;
    throw;
  }
  if (options.inherited) options.inherited->clear();  // or clients would wait in a socket that nobody serves
  for (std::size_t i = 0; i < proxies.size(); ++i) proxies[i].engine->start(tables[i]);
  push_listeners();
  if (handover_) handover_->start();
  state = State::running;
  resolve_proxies();
  for (const StackListener& l : listeners())
    log.info("listening", {{"service", l.service}, {"owner", l.owner}, {"address", l.bound.to_string()}});
  log_unused_port_maps();
  log_new_warnings({});
}

/// A mapping that is mistyped would leave its port where it is without a word.
void Stack::Impl::log_unused_port_maps() const {
  std::set<std::uint16_t> configured;
  for (const StackListener& l : listeners())
    if (!l.owner.empty()) configured.insert(l.configured.port);
  for (const auto& [port, bound] : options.port_map)
    if (!configured.contains(port))
      log.warning("no listener has this port, so nothing is bound to another one in its place", {{"port", port}});
}

void Stack::Impl::log_new_warnings(const Diagnostics& before) const {
  for (const Diagnostic& warning : warnings)
    if (std::ranges::find(before, warning) == before.end()) log.warning("spec", {{"warning", warning.to_string()}});
}

/// Every socket is bound before the first is served: the proxies open theirs here and start last.
void Stack::Impl::bind_servers(const StackConfig& config, runtime::OpenFailures& failures) {
  for (const ProxyServerConfig& p : config.proxies) {
    proxy::EngineOptions engine;
    static_cast<proxy::EngineSettings&>(engine) = p.settings;
    engine.workers = p.worker_threads;
    engine.access_log = options.access_log;
    engine.port_map = options.port_map;
    engine.clock = options.clock;
    engine.resolve = options.resolve;
    engine.inherited = options.inherited;
    engine.log = Logger(options.log, "proxy");
    proxies.push_back(
        {p.owner, std::make_unique<proxy::Engine>(io.get_executor(), std::move(engine)), p.workers, p.worker_threads});
    failures.attempt([&] { proxies.back().engine->prepare(p.table); });
  }
}

void Stack::Impl::start_servers(StackConfig config, runtime::OpenFailures& failures) {
  // Before DNS, which has the names of its leases from the first reply on.
  failures.attempt([&] { start_dhcp(std::move(config.dhcp)); });
  for (DnsServerConfig& d : config.dns) {
    dns::ServerOptions server;
    server.port_map = options.port_map;
    server.clock = options.clock;
    server.inherited = options.inherited;
    server.log = Logger(options.log, "dns");
    server.workers = d.workers;
    dns.push_back({d.owner, std::make_unique<dns::Server>(io.get_executor(), std::move(server)), d.workers,
                   make_lease_names(d, nullptr)});
    if (dns.back().lease_names) dns.back().lease_names->publish(d.config);
    failures.attempt([&] { dns.back().server->start(std::move(d.config)); });
  }
  failures.attempt([&] { start_advertiser(std::move(config.advertisements)); });
  push_source_clusters();
}

void Stack::Impl::start_dhcp(dhcp::Config config) {
  if (config.subnets.empty()) return;
  if (options.state_dir.empty()) throw std::invalid_argument("DHCP needs a state directory for its leases");
  dhcp::ServerOptions server;
  server.database = options.state_dir + "/leases.db";
  server.port_map = options.port_map;
  server.clock = options.clock;
  server.log = Logger(options.log, "dhcp");
  server.on_event = [this](const dhcp::LeaseEvent& event) { on_lease(event); };
  server.on_event6 = [this](const dhcp6::LeaseEvent& event) { on_lease(event); };
  auto started = std::make_unique<dhcp::Server>(io.get_executor(), std::move(server));
  started->start(std::move(config));
  dhcp = std::move(started);
  if (!mac_clusters_.empty())
    for (const dhcp::Lease& lease : dhcp->leases()) note_lease(lease, lease.state == dhcp::LeaseState::bound);
  // After a handover that came to nothing: DNS has gone on.
  for (NamedDns& d : dns) {
    if (!d.lease_names) continue;
    const LeaseNames before = *d.lease_names;
    d.lease_names->note_all(dhcp->leases(), dhcp->leases6(), &before);
  }
  publish_lease_names();
}

void Stack::Impl::start_advertiser(std::vector<ra::Network> networks) {
  auto started =
      std::make_unique<ra::Server>(io.get_executor(), ra::ServerOptions{options.clock, Logger(options.log, "ra")});
  started->start(networks);
  advertiser = std::move(started);
  advertisements_ = std::move(networks);
}

void Stack::Impl::adopt(StackConfig& config) {
  warnings = served_->checked.warnings;
  warnings.append(config.warnings);
  mac_clusters_ = config.mac_clusters;
  proxies_by_dns_ = config.proxies_by_dns;
}

/// Only a change makes hosts hear of it before the next turn.
void Stack::Impl::advertise(std::vector<ra::Network> networks) {
  if (networks == advertisements_) return;
  try {
    advertiser->replace(networks);
    advertisements_ = std::move(networks);
  } catch (const boost::system::system_error& error) {
    log.error("router advertisements stay as they were", {{"reason", runtime::error_text(error)}});
  }
}

// --- leases and the clusters that they prove

void Stack::Impl::on_lease(const dhcp::LeaseEvent& event) {
  note_lease(event.lease, event.kind == dhcp::LeaseEventKind::bound || event.kind == dhcp::LeaseEventKind::renewed);
  note_lease_name(event.lease);
  if (lease_feed) lease_feed->add(event);
  notify({StackEvent::Kind::lease, event, Diagnostics{}});
}

void Stack::Impl::on_lease(const dhcp6::LeaseEvent& event) {
  note_lease_name(event.lease);
  if (lease_feed) lease_feed->add(event);
  notify({StackEvent::Kind::lease6, {}, Diagnostics{}, event});
}

void Stack::Impl::note_lease(const dhcp::Lease& lease, bool is_live) {
  const auto cluster = mac_clusters_.find(lease.mac);
  const auto before = lease_clusters_.find(lease.address);
  if (!is_live || cluster == mac_clusters_.end()) {
    if (before == lease_clusters_.end()) return;
    lease_clusters_.erase(before);
  } else {
    if (before != lease_clusters_.end() && before->second == cluster->second) return;
    lease_clusters_.insert_or_assign(lease.address, cluster->second);
  }
  if (are_sources_stale_ || state != State::running) return;
  are_sources_stale_ = true;  // one push for a burst of leases
  boost::asio::post(io, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->push_source_clusters();
  });
}

/// By the clusters of the set that is in force.
void Stack::Impl::relearn_source_clusters() {
  lease_clusters_.clear();
  if (dhcp && !mac_clusters_.empty())
    for (const dhcp::Lease& lease : dhcp->leases()) note_lease(lease, lease.state == dhcp::LeaseState::bound);
  push_source_clusters();
}

/// A live lease says more than what was observed earlier: it wins.
void Stack::Impl::push_source_clusters() {
  are_sources_stale_ = false;
  for (NamedProxy& p : proxies) {
    proxy::SourceClusters clusters = lease_clusters_;
    clusters.insert(p.workers.begin(), p.workers.end());
    p.engine->set_source_clusters(std::move(clusters));
  }
}

/// No proxy of ours connects to another one of ours: two of them could send a connection round in a circle.
void Stack::Impl::push_listeners() {
  for (const NamedProxy& p : proxies) {
    std::vector<Endpoint> others;
    for (const NamedProxy& other : proxies)
      if (&other != &p)
        for (const proxy::BoundListener& listener : other.engine->listeners()) others.push_back(listener.bound);
    p.engine->set_other_listeners(std::move(others));
  }
}

// --- leases as names

std::optional<LeaseNames> Stack::Impl::make_lease_names(const DnsServerConfig& next, const LeaseNames* before) const {
  if (!next.lease_zone) return {};
  LeaseNames names(*next.lease_zone, next.config);
  if (dhcp) names.note_all(dhcp->leases(), dhcp->leases6(), before);
  return names;
}

template <class Lease>
void Stack::Impl::note_lease_name(const Lease& lease) {
  bool has_changed = false;
  for (NamedDns& d : dns)
    if (d.lease_names && d.lease_names->note(lease)) has_changed = true;
  if (!has_changed || next_lease_names_) return;
  next_lease_names_ = timers.after(kLeaseNamesWait, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->state == State::running) self->publish_lease_names();
  });
}

void Stack::Impl::publish_lease_names() {
  if (next_lease_names_) timers.cancel(*std::exchange(next_lease_names_, {}));
  for (NamedDns& d : dns) {
    if (!d.lease_names) continue;
    try {
      dns::Config next = d.server->config();
      d.lease_names->publish(next);
      d.server->commit(d.server->prepare(std::move(next)));
    } catch (const std::exception& e) {
      log.error("names of leases stay as they were", {{"server", d.owner}, {"reason", printable(e.what())}});
    }
  }
}

// --- internalProxyService by DNS

void Stack::Impl::resolve_proxies() {
  if (next_resolve_) timers.cancel(*std::exchange(next_resolve_, {}));
  if (proxies_by_dns_.empty()) return;
  for (const std::string& name : proxies_by_dns_) {
    resolve_(name, kAnyPort, [weak = weak_from_this(), name](const Result<proxy::Resolution>& answer) {
      const auto self = weak.lock();
      if (self && self->state == State::running)
        self->on_resolved(name, answer ? answer->endpoints : std::vector<Endpoint>{});
    });
  }
  // A Service can be made anew with another address.
  next_resolve_ = timers.after(kResolveEvery, [weak = weak_from_this()] {
    if (const auto self = weak.lock(); self && self->state == State::running) self->resolve_proxies();
  });
}

void Stack::Impl::on_resolved(const std::string& name, const std::vector<Endpoint>& answer) {
  if (is_being_handed_over()) return;  // the successor asks too; here there are no leases to build from
  const auto address = std::ranges::find_if(answer, [](const Endpoint& e) { return e.address.is_v4(); });
  if (address == answer.end()) {
    log.warning("internalProxyService has no address", {{"name", printable(name)}});
    return;
  }
  const auto known = surroundings_.internal_proxies.find(name);
  if (known != surroundings_.internal_proxies.end() && known->second == address->address.v4()) return;
  Surroundings with_it = surroundings_;
  with_it.internal_proxies.insert_or_assign(name, address->address.v4());
  auto config = make_served_config(served_->checked, options.serve, with_it);
  auto next = config ? prepare(std::move(*config)) : Result<Prepared, Diagnostics>(config.error());
  if (next) {
    surroundings_ = std::move(with_it);  // only what can be served: everything later is built from it
    ++surroundings_generation_;
    return commit(std::move(*next));
  }
  for (const Diagnostic& d : next.error())
    log.error("internalProxyService has an address that can't be served", {{"problem", d.to_string()}});
}

// --- endpoints that the embedder knows

Result<void, Diagnostics> Stack::Impl::set_endpoints(spec::EndpointMap endpoints) {
  auto checked = spec::check_endpoints(std::move(endpoints));
  if (checked.has_error()) return checked.error();
  if (*checked == surroundings_.endpoints) return {};
  Surroundings next = surroundings_;
  next.endpoints = std::move(*checked);
  // Only routes depend on them. Unless it runs, start() takes them, or nobody does any more.
  using Proxies = std::vector<ProxyServerConfig>;
  auto built = state == State::running ? make_served_proxies(served_->checked, options.serve, next)
                                       : Result<Proxies, Diagnostics>(Proxies());
  if (built.has_error()) return built.error();
  surroundings_ = std::move(next);
  ++surroundings_generation_;
  for (std::size_t i = 0; i < built->size(); ++i) {
    const std::shared_ptr<const proxy::RouteTable>& table = (*built)[i].table;
    if (table->config() != proxies[i].engine->table()->config()) proxies[i].engine->replace(table);
  }
  return {};
}

// --- listeners, files, events

void Stack::Impl::start_http(runtime::OpenFailures& failures) {
  lease_feed.emplace(io.get_executor(), timers);
  HttpLimits admin_limits;
  admin_limits.max_body_bytes_of.emplace(kImportLeasesPage, dhcp::LeaseFileLimits().max_file_bytes);
  const auto answering = [this](void (*answer)(Impl&, const HttpRequest&, HttpReply), const char* name,
                                const HttpLimits& limits = {}) {
    return std::make_unique<HttpServer>(
        io.get_executor(),
        [weak = weak_from_this(), answer](const HttpRequest& request, HttpReply reply) {
          if (const auto self = weak.lock()) return answer(*self, request, std::move(reply));
          reply({503, "application/json", "{}\n"});
        },
        name, limits);
  };
  if (!options.admin_socket.empty()) {
    admin_ = answering(answer_admin, "admin", admin_limits);
    failures.attempt([&] { admin_->listen(options.admin_socket); });
  }
  if (options.admin_tcp) {
    if (!options.admin_tcp->address.is_loopback())
      throw std::invalid_argument("admin over TCP: " + options.admin_tcp->to_string() + " is not a loopback address");
    admin_tcp_ = answering(answer_admin, "admin");
    failures.attempt([&] { admin_tcp_bound_ = admin_tcp_->listen(*options.admin_tcp); });
  }
  if (options.observe) {
    observe_ = answering(answer_observe, "observe");
    failures.attempt([&] { observe_bound_ = observe_->listen(*options.observe); });
  }
  failures.throw_any();
  for (const auto* server : {&admin_, &admin_tcp_, &observe_})
    if (*server) (*server)->start();
}

void Stack::Impl::watch() {
  std::vector<std::string> paths = options.files;
  paths.insert(paths.end(), options.observed.begin(), options.observed.end());
  paths.insert(paths.end(), options.endpoints.begin(), options.endpoints.end());
  watcher_ = std::make_shared<FileWatcher>(
      io.get_executor(), timers, paths,
      [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->on_files_changed();
      },
      log);
  watcher_->start();
  watch_records({});
}

/// Those that are served, and those that a reload was to serve instead.
void Stack::Impl::watch_records(std::vector<std::string> paths) {
  if (!watcher_) return;
  for (const RecordStamp& record : served_->records) paths.push_back(record.path);
  watcher_->also_watch(std::move(paths));
}

void Stack::Impl::notify(const StackEvent& event) const {
  if (!options.on_event) return;
  try {
    options.on_event(event);
  } catch (const std::exception& e) {
    log.error("an event callback threw", {{"error", printable(e.what())}});
  }
}

void Stack::Impl::drain() {
  if (std::exchange(is_draining, true)) return;
  for (const NamedProxy& p : proxies) p.engine->drain();
  log.info("draining");
}

void Stack::Impl::stop(std::function<void()> stopped) {
  if (stopped) on_stopped_.push_back(std::move(stopped));
  if (state == State::stopping) return;
  if (state == State::handed_over) {
    for (NamedProxy& p : proxies) p.engine->stop({});  // the end of its draining comes nearer
    return;
  }
  if (state != State::running) return finish();
  state = State::stopping;
  handover_.reset();
  log.info("stopping: no more clients, tunnels and disk writes may finish");
  end_servers(false);
}

void Stack::Impl::end_servers(bool is_patient) {
  stops_pending_ = dns.size() + proxies.size() + (dhcp ? 1 : 0) + (is_loading_ ? 1 : 0) + 1;
  const auto one_done = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->note_stopped();
  };
  if (!is_patient)  // nobody has taken their sockets over
    for (NamedProxy& p : proxies) p.engine->drain();
  for (NamedProxy& p : proxies)
    p.engine->stop(one_done, is_patient ? std::optional(p.engine->settings().removed_route_timeout) : std::nullopt);
  for (NamedDns& d : dns) d.server->stop(one_done);
  if (dhcp) dhcp->stop(one_done);
  boost::asio::post(io, one_done);  // with no server at all there is still an end to report
}

void Stack::Impl::note_stopped() {
  if (--stops_pending_ > 0) return;
  boost::asio::post(io, [self = shared_from_this()] { self->finish(); });  // no server is destroyed in its own callback
}

void Stack::Impl::finish() {
  const State before = state;
  if (before == State::stopping || before == State::handed_over) log.info("stopped");
  close();
  if (before == State::handed_over) notify({StackEvent::Kind::stopped, {}, {}});
  for (const auto& stopped : std::exchange(on_stopped_, {})) stopped();
}

void Stack::Impl::close() {
  state = State::stopped;
  if (loader_) loader_->join();
  loader_.reset();
  refuse_waiting();
  if (watcher_) watcher_->stop();
  watcher_.reset();
  handover_.reset();
  if (next_take_back_) timers.cancel(*std::exchange(next_take_back_, {}));
  if (next_lease_names_) timers.cancel(*std::exchange(next_lease_names_, {}));
  if (next_resolve_) timers.cancel(*std::exchange(next_resolve_, {}));  // or the embedder's io_context stays busy
  admin_.reset();
  admin_tcp_.reset();
  observe_.reset();
  admin_tcp_bound_.reset();
  observe_bound_.reset();
  lease_feed.reset();
  lease_clusters_.clear();
  proxies.clear();
  dns.clear();
  dhcp.reset();
  if (advertiser) advertiser->stop();
  advertiser.reset();
}

}  // namespace hcpnet
