// SPDX-License-Identifier: Apache-2.0
// A reload: the set is loaded on a thread beside the one that serves, then compared, prepared and committed on that
// one.
//   none --request--> loading --loaded--> applied or refused; who asks meanwhile shares the next one
#include <algorithm>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <chrono>
#include <utility>

#include "runtime/error_text.hpp"
#include "stack/stack_impl.hpp"

namespace hcpnet {
namespace {

Diagnostic problem(const char* code, std::string message) {
  Diagnostic d;
  d.code = code;
  d.message = std::move(message);
  return d;
}

Diagnostics alone(Diagnostic d) {
  Diagnostics problems;
  problems.add(std::move(d));
  return problems;
}

Diagnostic unchangeable(const std::string& owner, const std::string& what) {
  return problem("needs-restart", owner + ": " + what + " can't change while running; restart to apply");
}

Diagnostics not_running() {
  return alone(problem("not-running", "reload: the stack is not running; it reads its files when it starts"));
}

Diagnostics being_handed_over() {
  return alone(problem("being-handed-over", "reload: another process is taking over; it has read the files itself"));
}

Diagnostic server_refused(const std::string& owner, const std::exception& why) {
  return problem("refused-by-server", owner + ": " + runtime::error_text(why));
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

LoadOutcome try_load(const LoadRequest& request) try { return load_set(request); } catch (const std::exception& e) {
  return {alone(server_refused("reload", e)), {}};
}

}  // namespace

LoadRequest Stack::Impl::load_request() const {
  LoadRequest request{options.files,
                      options.observed,
                      options.endpoints,
                      options.texts,
                      options.serve,
                      surroundings_,
                      served_ ? served_->files : nullptr,
                      nullptr};
  for (const NamedDns& d : dns) request.dns_served.emplace(d.owner, d.server->snapshot());
  request.now = static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::seconds>(options.clock->system_now().time_since_epoch()).count());
  return request;
}

/// While the caller waits. What is being loaded meanwhile may be older: it is loaded again.
Result<void, Diagnostics> Stack::Impl::reload_now() {
  if (state != State::running) return not_running();
  if (is_being_handed_over()) return refuse_reload(being_handed_over());
  ++load_generation_;
  if (watcher_) watcher_->rearm();
  return apply(try_load(load_request()));
}

void Stack::Impl::reload(Reloaded done) {
  if (state != State::running) return done(not_running());
  if (is_being_handed_over()) return done(refuse_reload(being_handed_over()));
  next_reload_.is_asked_for = true;
  next_reload_.waiting.push_back(std::move(done));
  if (!is_loading_) start_load();
}

void Stack::Impl::on_files_changed() {
  if (state != State::running || is_being_handed_over()) return;
  next_reload_.is_due = true;
  if (!is_loading_) start_load();
}

void Stack::Impl::start_load() {
  Reload now = std::exchange(next_reload_, {});
  LoadRequest request = load_request();
  if (!now.is_asked_for) request.served = served_;
  if (watcher_) watcher_->rearm();
  if (!loader_) loader_.emplace(1);
  is_loading_ = true;
  current_reload_ = std::move(now);
  // The embedder's context has something to wait for as long as this lasts.
  const auto home = boost::asio::prefer(io.get_executor(), boost::asio::execution::outstanding_work.tracked);
  boost::asio::post(
      *loader_, [weak = weak_from_this(), home, request = std::move(request), generations = generations()]() mutable {
        auto loaded = try_load(request);
        request = {};  // large texts end here, not on the thread that serves
        boost::asio::post(home, [weak = std::move(weak), loaded = std::move(loaded), generations]() mutable {
          if (const auto self = weak.lock()) self->on_loaded(std::move(loaded), generations);
        });
      });
}

void Stack::Impl::on_loaded(LoadOutcome loaded, Generations generations) {
  is_loading_ = false;
  if (state != State::running) {
    refuse_waiting();
    if (state == State::stopping || state == State::handed_over) note_stopped();
    return;
  }
  if (generations.files != load_generation_) {  // read before what is served now
    next_reload_.take_over(std::exchange(current_reload_, {}));
    return start_load();
  }
  // Not read again: endpoints may change faster than files can be read.
  if (generations.surroundings != surroundings_generation_ && loaded.set && !(*loaded.set)->is_served) {
    LoadedSet& next = **loaded.set;
    auto config = make_served_config(next.checked, options.serve, surroundings_);
    if (config)
      next.config = std::move(*config);
    else
      loaded.set = config.error();
  }
  const auto result = is_being_handed_over() ? refuse_reload(being_handed_over()) : apply(std::move(loaded));
  for (const Reloaded& done : std::exchange(current_reload_.waiting, {})) done(result);
  if (state == State::running && !is_loading_ && (next_reload_.is_asked_for || next_reload_.is_due)) start_load();
}

void Stack::Impl::refuse_waiting() {
  next_reload_.take_over(std::exchange(current_reload_, {}));
  const Reload refused = std::exchange(next_reload_, {});
  for (const Reloaded& done : refused.waiting) done(not_running());
}

/// Nothing changes before everything that can fail has been done.
Result<void, Diagnostics> Stack::Impl::apply(LoadOutcome loaded) {
  watch_records(loaded.record_files);
  if (loaded.set.has_error()) return refuse_reload(loaded.set.error());
  const std::shared_ptr<LoadedSet> next = *loaded.set;
  if (next->is_served) {
    end_difference();
    return {};
  }
  auto prepared = try_prepare(std::move(next->config));
  if (prepared.has_error()) return refuse_reload(prepared.error());
  auto before = std::exchange(served_, next);
  const Diagnostics warnings_before = warnings;
  commit(std::move(*prepared));
  if (loader_) boost::asio::post(*loader_, [before = std::move(before)] {});  // to take it apart takes its time
  ++reloads;
  last_reload = {options.clock->system_now(), true, warnings};
  end_difference();
  log.info("reloaded", {{"warnings", warnings.warning_count()}});
  log_new_warnings(warnings_before);
  notify({StackEvent::Kind::reloaded, {}, warnings});
  resolve_proxies();
  return {};
}

Result<void, Diagnostics> Stack::Impl::refuse_reload(Diagnostics why) {
  ++reloads_refused;
  last_reload = {options.clock->system_now(), false, why};
  do_files_differ = true;
  for (const Diagnostic& d : why) {
    if (d.severity == Severity::error) ++reload_errors[d.code];
    log.error("reload refused, the old configuration stays", {{"problem", d.to_string()}});
  }
  notify({StackEvent::Kind::reload_refused, {}, why});
  return why;
}

void Stack::Impl::end_difference() {
  if (std::exchange(do_files_differ, false)) log.info("the files are again what is served");
}

Result<Stack::Impl::Prepared, Diagnostics> Stack::Impl::try_prepare(StackConfig config) try {
  if (Diagnostics fixed = find_unchangeable(config); fixed.has_errors()) return fixed;
  return prepare(std::move(config));
} catch (const std::exception& e) {
  return alone(server_refused("reload", e));
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
      problems.add(problem("cannot-listen", proxies[i].owner + ": " + runtime::error_text(e)));
    }
  }
  if (!problems.has_errors()) return problems;
  for (const NamedProxy& proxy : proxies) proxy.engine->prepare(proxy.engine->table());
  return problems;
}

/// Threads are started once.
void Stack::Impl::warn_of_fixed_workers(const StackConfig& next) {
  const auto warn = [&](const std::string& owner) {
    Diagnostic d = unchangeable(owner, "workers");
    d.severity = Severity::warning;
    warnings.add(std::move(d));
  };
  for (std::size_t i = 0; i < proxies.size(); ++i)
    if (proxies[i].worker_threads != next.proxies[i].worker_threads) warn(proxies[i].owner);
  for (std::size_t i = 0; i < dns.size(); ++i)
    if (dns[i].workers != next.dns[i].workers) warn(dns[i].owner);
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
  warn_of_fixed_workers(config);
  for (std::size_t i = 0; i < proxies.size(); ++i) proxies[i].workers = std::move(config.proxies[i].workers);
  relearn_source_clusters();  // first: a new table judges tunnels by what is known of their clients
  for (std::size_t i = 0; i < proxies.size(); ++i) {
    proxies[i].engine->configure(config.proxies[i].settings);
    proxies[i].engine->replace(config.proxies[i].table);
  }
  push_listeners();
  for (std::size_t i = 0; i < dns.size(); ++i) {
    dns[i].server->commit(std::move(next.dns[i]));
    dns[i].lease_names = std::move(next.lease_names[i]);
  }
  advertise(std::move(config.advertisements));
  if (!dhcp) return;
  dhcp->commit(std::move(config.dhcp));
  relearn_source_clusters();
}

}  // namespace hcpnet
