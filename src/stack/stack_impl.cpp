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

bool operator==(const std::vector<spec::SourceText>& a, const std::vector<spec::SourceText>& b) {
  return std::ranges::equal(
      a, b, [](const spec::SourceText& x, const spec::SourceText& y) { return x.name == y.name && x.text == y.text; });
}

bool uses_stdin(const std::vector<std::string>& paths) {
  return std::ranges::find(paths, "-") != paths.end();
}

Diagnostic unchangeable(const std::string& owner, const std::string& what) {
  Diagnostic d;
  d.code = "needs-restart";
  d.message = owner + ": " + what + " can't change while running; restart to apply";
  return d;
}

Diagnostics not_running() {
  Diagnostic d;
  d.code = "not-running";
  d.message = "reload: the stack is not running; it reads its files when it starts";
  Diagnostics problems;
  problems.add(std::move(d));
  return problems;
}

Diagnostic server_refused(const std::string& owner, const std::exception& why) {
  Diagnostic d;
  d.code = "refused-by-server";
  d.message = owner + ": " + runtime::error_text(why);
  return d;
}

template <class Range, class Key>
std::set<std::string> keys_of(const Range& range, Key key) {
  std::set<std::string> keys;
  for (const auto& item : range) keys.insert(key(item));
  return keys;
}

std::set<std::string> dns_listeners(const dns::Config& config) {
  return keys_of(config.listeners, [](const Endpoint& e) { return e.to_string(); });
}

proxy::EngineOptions engine_options(const ProxyLimits& limits) {
  proxy::EngineOptions engine;
  if (limits.inspect_timeout) engine.inspect_timeout = *limits.inspect_timeout;
  engine.max_connections = limits.max_connections;
  engine.max_connections_per_source = limits.max_connections_per_source;
  engine.removed_route_timeout = limits.drain_timeout;
  engine.udp_idle_timeout = limits.udp_idle_timeout;
  engine.workers = limits.workers;
  if (limits.is_access_log_json)
    engine.access_log_format = proxy::AccessLogFormat::json();
  else if (const auto text = proxy::AccessLogFormat::text(
               limits.access_log_template.value_or(std::string(proxy::AccessLogFormat::kDefaultTemplate))))
    engine.access_log_format = *text;
  return engine;
}

}  // namespace

Stack::Impl::Impl(boost::asio::io_context& context, StackOptions o)
    : io(context),
      options(std::move(o)),
      log(options.log, "stack"),
      timers(context.get_executor(), *options.clock),
      resolve_(options.resolve ? options.resolve : proxy::make_system_resolve(context.get_executor())) {
  surroundings_.pod_addresses = options.pod_addresses;
}

Result<SourceFiles, Diagnostics> Stack::Impl::read_files() {
  if (stdin_files_) return *stdin_files_;
  Diagnostics problems;
  SourceFiles files = read_source_files(options.files, options.observed, options.endpoints, problems);
  if (problems.has_errors()) return problems;
  files.specs.insert(files.specs.end(), options.texts.begin(), options.texts.end());
  if (uses_stdin(options.files) || uses_stdin(options.observed) || uses_stdin(options.endpoints)) stdin_files_ = files;
  return files;
}

Result<StackConfig, Diagnostics> Stack::Impl::make_config(const CheckedFiles& checked) const {
  auto config = make_stack_config(checked.set, checked.observed, surroundings_);
  if (!config) return config;
  if (!options.serve.dhcp) config->dhcp = {};
  if (!options.serve.dns) {
    config->dns.clear();
    config->proxies_by_dns.clear();
  }
  if (!options.serve.proxy) config->proxies.clear();
  // Objects may change their places in the files.
  std::ranges::stable_sort(config->dns, {}, &DnsServerConfig::owner);
  std::ranges::stable_sort(config->proxies, {}, &ProxyServerConfig::owner);
  return config;
}

void Stack::Impl::start() {
  if (state != State::idle) throw std::logic_error("hcpnet::Stack is started once");
  files_ = read_files().value();
  checked_ = check_files(files_).value();
  StackConfig config = make_config(checked_).value();
  try {
    start_servers(std::move(config));
    start_http();
    if (options.watch) watch();
  } catch (...) {
    close();
    throw;
  }
  state = State::running;
  resolve_proxies();
  for (const StackListener& l : listeners())
    log.info("listening", {{"service", l.service}, {"owner", l.owner}, {"address", l.bound.to_string()}});
  for (const Diagnostic& warning : warnings) log.warning("spec", {{"warning", warning.to_string()}});
}

/// Every socket is bound before the first is served.
void Stack::Impl::start_servers(StackConfig config) {
  adopt(config);
  for (const ProxyServerConfig& p : config.proxies) {
    proxy::EngineOptions engine = engine_options(p.limits);
    engine.access_log = options.access_log;
    engine.port_map = options.port_map;
    engine.clock = options.clock;
    engine.resolve = options.resolve;
    engine.log = Logger(options.log, "proxy");
    proxies.push_back(
        {p.owner, std::make_unique<proxy::Engine>(io.get_executor(), std::move(engine)), p.workers, p.limits});
    proxies.back().engine->start(p.table);
  }
  for (DnsServerConfig& d : config.dns) {
    dns::ServerOptions server;
    server.port_map = options.port_map;
    server.clock = options.clock;
    server.log = Logger(options.log, "dns");
    dns.push_back(
        {d.owner, std::make_unique<dns::Server>(io.get_executor(), std::move(server)), make_lease_names(d, nullptr)});
    dns.back().server->start(std::move(d.config));
  }
  if (!config.dhcp.subnets.empty()) {
    if (options.state_dir.empty()) throw std::invalid_argument("DHCP needs a state directory for its leases");
    dhcp::ServerOptions server;
    server.database = options.state_dir + "/leases.db";
    server.port_map = options.port_map;
    server.clock = options.clock;
    server.log = Logger(options.log, "dhcp");
    server.on_event = [this](const dhcp::LeaseEvent& event) { on_lease(event); };
    server.on_event6 = [this](const dhcp6::LeaseEvent& event) { note_lease_name(event.lease); };
    dhcp = std::make_unique<dhcp::Server>(io.get_executor(), std::move(server));
    dhcp->start(std::move(config.dhcp));
    for (const dhcp::Lease& lease : dhcp->leases()) note_lease(lease, lease.state == dhcp::LeaseState::bound);
    for (NamedDns& d : dns)
      if (d.lease_names) d.lease_names->note_all(dhcp->leases(), dhcp->leases6(), nullptr);
    publish_lease_names();
  }
  advertiser =
      std::make_unique<ra::Server>(io.get_executor(), ra::ServerOptions{options.clock, Logger(options.log, "ra")});
  advertiser->start(config.advertisements);
  advertisements_ = std::move(config.advertisements);
  push_source_clusters();
}

void Stack::Impl::adopt(StackConfig& config) {
  warnings = checked_.warnings;
  warnings.append(config.warnings);
  mac_clusters_ = config.mac_clusters;
  proxies_by_dns_ = config.proxies_by_dns;
}

/// Nothing changes before everything that can fail has been done.
Result<void, Diagnostics> Stack::Impl::reload() {
  if (state != State::running) return not_running();
  auto next = prepare_reload();
  if (next.has_error()) return refuse_reload(next.error());
  files_ = std::move(next->files);
  checked_ = std::move(next->checked);
  commit(std::move(next->prepared));
  ++reloads;
  last_reload = {options.clock->system_now(), true, warnings};
  end_difference();
  log.info("reloaded", {{"warnings", std::to_string(warnings.warning_count())}});
  notify({StackEvent::Kind::reloaded, {}, warnings});
  resolve_proxies();
  return {};
}

Result<void, Diagnostics> Stack::Impl::refuse_reload(Diagnostics why) {
  ++reloads_refused;
  last_reload = {options.clock->system_now(), false, why};
  do_files_differ = true;
  for (const Diagnostic& d : why)
    log.error("reload refused, the old configuration stays", {{"problem", d.to_string()}});
  notify({StackEvent::Kind::reload_refused, {}, why});
  return why;
}

void Stack::Impl::end_difference() {
  if (std::exchange(do_files_differ, false)) log.info("the files are again what is served");
}

Result<Stack::Impl::NextState, Diagnostics> Stack::Impl::prepare_reload() try {
  if (watcher_) watcher_->rearm();
  auto files = read_files();
  if (files.has_error()) return files.error();
  auto checked = check_files(*files);
  if (checked.has_error()) return checked.error();
  auto config = make_config(*checked);
  if (config.has_error()) return config.error();
  if (Diagnostics fixed = find_unchangeable(*config); fixed.has_errors()) return fixed;
  auto prepared = prepare(std::move(*config));
  if (prepared.has_error()) return prepared.error();
  return NextState{std::move(*files), std::move(*checked), std::move(*prepared)};
} catch (const std::exception& e) {
  Diagnostics problems;
  problems.add(server_refused("reload", e));
  return problems;
}

/// Which servers there are, and where they listen, is decided at start.
Diagnostics Stack::Impl::find_unchangeable(const StackConfig& next) const {
  Diagnostics problems;
  const auto compare = [&](const std::string& what, const std::set<std::string>& now,
                           const std::set<std::string>& then) {
    for (const std::string& key : now)
      if (!then.contains(key)) problems.add(unchangeable(key, what + " is gone from the files, and that it is served"));
    for (const std::string& key : then)
      if (!now.contains(key)) problems.add(unchangeable(key, what + " is new in the files, and that it is not served"));
  };
  const auto owner = [](const auto& item) { return item.owner; };
  compare("the DNS server", keys_of(dns, owner), keys_of(next.dns, owner));
  compare("the proxy", keys_of(proxies, owner), keys_of(next.proxies, owner));
  const auto subnets_now =
      dhcp ? keys_of(dhcp->bound(), [](const auto& b) { return b.subnet; }) : std::set<std::string>{};
  compare("the DHCP server", subnets_now, keys_of(next.dhcp.subnets, [](const auto& s) { return s.name; }));
  if (problems.has_errors()) return problems;

  for (std::size_t i = 0; i < dns.size(); ++i)
    if (dns_listeners(dns[i].server->config()) != dns_listeners(next.dns[i].config))
      problems.add(unchangeable(dns[i].owner, "the DNS listen address"));
  if (dhcp) {
    for (const dhcp::BoundSubnet& bound : dhcp->bound()) {
      const auto subnet = std::ranges::find(next.dhcp.subnets, bound.subnet, &dhcp::Subnet::name);
      if (subnet->server_id != bound.server_id) problems.add(unchangeable(bound.subnet, "the DHCP server address"));
      if (subnet->cidr != bound.cidr) problems.add(unchangeable(bound.subnet, "the network of the DHCP server"));
    }
    if (!dhcp->serves_networks_of(next.dhcp)) problems.add(unchangeable("DHCPv6", "the set of IPv6 networks"));
  }
  return problems;
}

/// The only step of a reload that may fail once the set is good. What was opened in vain is closed with the next one.
Diagnostics Stack::Impl::open_new_listeners(const StackConfig& next) {
  Diagnostics problems;
  for (std::size_t i = 0; i < proxies.size(); ++i) {
    try {
      proxies[i].engine->prepare(next.proxies[i].table);
    } catch (const boost::system::system_error& e) {
      Diagnostic d;
      d.code = "cannot-listen";
      d.message = proxies[i].owner + ": " + e.what();
      problems.add(std::move(d));
    }
  }
  if (!problems.has_errors()) return problems;
  for (const NamedProxy& proxy : proxies) proxy.engine->prepare(proxy.engine->table());
  return problems;
}

/// An engine takes its limits at start.
void Stack::Impl::warn_of_fixed_limits(const StackConfig& next) {
  for (std::size_t i = 0; i < proxies.size(); ++i) {
    if (proxies[i].limits == next.proxies[i].limits) continue;
    Diagnostic d = unchangeable(proxies[i].owner,
                                "one of inspectTimeoutSeconds, maxConnections, maxConnectionsPerSource, "
                                "drainTimeoutSeconds, udpIdleTimeoutSeconds, workers, accessLog");
    d.severity = Severity::warning;
    warnings.add(std::move(d));
  }
}

/// Precondition: find_unchangeable() finds nothing. What a server refuses is an error with its owner's name.
Result<Stack::Impl::Prepared, Diagnostics> Stack::Impl::prepare(StackConfig config) {
  Prepared next;
  Diagnostics problems;
  for (std::size_t i = 0; i < dns.size(); ++i) {
    try {
      const auto& before = dns[i].lease_names;
      next.lease_names.push_back(make_lease_names(config.dns[i], before ? &*before : nullptr));
      if (next.lease_names.back()) next.lease_names.back()->publish(config.dns[i].config);
      next.dns.push_back(dns[i].server->prepare(std::move(config.dns[i].config)));
    } catch (const std::exception& e) {
      problems.add(server_refused(dns[i].owner, e));
    }
  }
  try {
    if (dhcp) config.dhcp = dhcp->prepare(std::move(config.dhcp));
  } catch (const std::exception& e) {
    problems.add(server_refused("dhcp", e));
  }
  if (problems.has_errors()) return problems;
  if (Diagnostics taken = open_new_listeners(config); taken.has_errors()) return taken;
  next.config = std::move(config);
  return next;
}

void Stack::Impl::commit(Prepared next) {
  StackConfig& config = next.config;
  adopt(config);
  warn_of_fixed_limits(config);
  for (std::size_t i = 0; i < proxies.size(); ++i) {
    proxies[i].engine->replace(config.proxies[i].table);
    proxies[i].workers = std::move(config.proxies[i].workers);
  }
  for (std::size_t i = 0; i < dns.size(); ++i) {
    dns[i].server->commit(std::move(next.dns[i]));
    dns[i].lease_names = std::move(next.lease_names[i]);
  }
  advertise(std::move(config.advertisements));
  lease_clusters_.clear();
  if (dhcp) {
    dhcp->commit(std::move(config.dhcp));
    for (const dhcp::Lease& lease : dhcp->leases()) note_lease(lease, lease.state == dhcp::LeaseState::bound);
  }
  push_source_clusters();
}

/// Only a change makes hosts hear of it before the next turn.
void Stack::Impl::advertise(std::vector<ra::Network> networks) {
  if (networks == advertisements_) return;
  try {
    advertiser->replace(networks);
    advertisements_ = std::move(networks);
  } catch (const boost::system::system_error& error) {
    log.error("router advertisements stay as they were", {{"reason", error.what()}});
  }
}

// --- leases and the clusters that they prove

void Stack::Impl::on_lease(const dhcp::LeaseEvent& event) {
  note_lease(event.lease, event.kind == dhcp::LeaseEventKind::bound || event.kind == dhcp::LeaseEventKind::renewed);
  note_lease_name(event.lease);
  notify({StackEvent::Kind::lease, event, Diagnostics{}});
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

/// A live lease says more than what was observed earlier: it wins.
void Stack::Impl::push_source_clusters() {
  are_sources_stale_ = false;
  for (NamedProxy& p : proxies) {
    proxy::SourceClusters clusters = lease_clusters_;
    clusters.insert(p.workers.begin(), p.workers.end());
    p.engine->set_source_clusters(std::move(clusters));
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
  const auto address = std::ranges::find_if(answer, [](const Endpoint& e) { return e.address.is_v4(); });
  if (address == answer.end()) {
    log.warning("internalProxyService has no address", {{"name", printable(name)}});
    return;
  }
  const auto [known, is_new] = surroundings_.internal_proxies.try_emplace(name, address->address.v4());
  if (!is_new && known->second == address->address.v4()) return;
  known->second = address->address.v4();
  auto config = make_config(checked_);
  auto next = config ? prepare(std::move(*config)) : Result<Prepared, Diagnostics>(config.error());
  if (next) return commit(std::move(*next));
  for (const Diagnostic& d : next.error())
    log.error("internalProxyService has an address that can't be served", {{"problem", d.to_string()}});
}

// --- listeners, files, events

void Stack::Impl::start_http() {
  const auto answering = [this](HttpResponse (*answer)(Impl&, const HttpRequest&), const char* name) {
    return std::make_unique<HttpServer>(
        io.get_executor(),
        [weak = weak_from_this(), answer](const HttpRequest& request) {
          const auto self = weak.lock();
          return self ? answer(*self, request) : HttpResponse{503, "application/json", "{}\n"};
        },
        name);
  };
  if (!options.admin_socket.empty()) {
    admin_ = answering(answer_admin, "admin");
    admin_->listen(options.admin_socket);
  }
  if (options.admin_tcp) {
    if (!options.admin_tcp->address.is_loopback())
      throw std::invalid_argument("admin over TCP: " + options.admin_tcp->to_string() + " is not a loopback address");
    admin_tcp_ = answering(answer_admin, "admin");
    admin_tcp_bound_ = admin_tcp_->listen(*options.admin_tcp);
  }
  if (options.observe) {
    observe_ = answering(answer_observe, "observe");
    observe_bound_ = observe_->listen(*options.observe);
  }
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
}

void Stack::Impl::on_files_changed() {
  if (state != State::running) return;
  const auto files = read_files();
  const bool is_same = files && files->specs == files_.specs && files->observed == files_.observed &&
                       files->endpoints == files_.endpoints;
  if (is_same) return end_difference();
  static_cast<void>(reload());
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
  if (state != State::running) return finish();
  state = State::stopping;
  log.info("stopping: no more clients, tunnels and disk writes may finish");
  stops_pending_ = dns.size() + proxies.size() + (dhcp ? 1 : 0) + 1;
  const auto one_done = [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || --self->stops_pending_ > 0) return;
    boost::asio::post(self->io, [self] { self->finish(); });  // a server is not destroyed inside its own callback
  };
  for (NamedProxy& p : proxies) p.engine->stop(one_done);
  for (NamedDns& d : dns) d.server->stop(one_done);
  if (dhcp) dhcp->stop(one_done);
  boost::asio::post(io, one_done);  // with no server at all there is still an end to report
}

void Stack::Impl::finish() {
  if (state == State::stopping) log.info("stopped");
  close();
  for (const auto& stopped : std::exchange(on_stopped_, {})) stopped();
}

void Stack::Impl::close() {
  state = State::stopped;
  if (watcher_) watcher_->stop();
  watcher_.reset();
  if (next_lease_names_) timers.cancel(*std::exchange(next_lease_names_, {}));
  if (next_resolve_) timers.cancel(*std::exchange(next_resolve_, {}));  // or the embedder's io_context stays busy
  admin_.reset();
  admin_tcp_.reset();
  observe_.reset();
  proxies.clear();
  dns.clear();
  dhcp.reset();
  if (advertiser) advertiser->stop();
  advertiser.reset();
}

}  // namespace hcpnet
