// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <hcpnet/dhcp/responder.hpp>
#include <hcpnet/dhcp/server.hpp>
#include <set>
#include <utility>

#include "dhcp/lease_clock.hpp"
#include "dhcp/lease_store.hpp"
#include "dhcp/server_socket.hpp"
#include "runtime/timer_queue.hpp"

namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxExpiredPerTurn = 1'000;       // so that a fleet that ends at once does not stop the others
constexpr std::chrono::seconds kRetry = 1s;             // when the disk's queue is full
constexpr std::chrono::seconds kInterfaceCheck = 2s;    // an interface that was made anew has another index
constexpr std::chrono::seconds kDropLogInterval = 10s;  // per reason

[[noreturn]] void refuse_config(const std::string& why) {
  throw boost::system::system_error(boost::system::errc::make_error_code(boost::system::errc::invalid_argument),
                                    "dhcp: " + why);
}

void check(const Config& config) {
  std::set<Ipv4> servers;
  std::set<Ipv4Cidr> networks;
  for (const Subnet& subnet : config.subnets) {
    if (!servers.insert(subnet.server_id).second)
      refuse_config("two subnets have the server address " + subnet.server_id.to_string());
    if (!networks.insert(subnet.cidr).second) refuse_config("two subnets have the network " + subnet.cidr.to_string());
    if (subnet.lease_time < 1s) refuse_config("the lease time of " + subnet.name + " is less than a second");
  }
}

Logger::Fields fields_of(const Lease& lease) {
  return {{"subnet", lease.subnet}, {"address", lease.address.to_string()}, {"mac", lease.mac.to_string()}};
}

}  // namespace

/// Life of a message: received -> handled -> (no change) sent | (change) queued for the disk -> committed -> sent, or
/// dropped.
struct Server::Impl : std::enable_shared_from_this<Impl> {
  Impl(boost::asio::any_io_executor e, ServerOptions o)
      : executor(std::move(e)),
        options(std::move(o)),
        store(executor),
        timers(executor, *options.clock),
        time(*options.clock) {}

  struct Link {
    std::unique_ptr<ServerSocket> socket;
    std::uint16_t port = 0;
    bool is_lost = false;
  };
  /// What waits for the disk.
  struct Pending {
    Outcome outcome;
    std::size_t link = 0;
    Endpoint source;
  };

  void start(Config config);
  Config prepare(Config config) const;
  void adopt(Config prepared);
  void stop(std::function<void()> done);

  void open_links(const Config& config);
  void restore(const StoredLeases& stored);
  void wait(std::size_t link);
  void on_readable(std::size_t link);
  void on_message(std::size_t link, ByteView payload, const Endpoint& source);
  void commit(Pending pending);
  void on_committed(const Pending& pending, error_code result);
  void set_healthy(bool is_good, error_code why);
  void publish(const std::vector<LeaseChange>& changes);
  void send(const Reply& reply, std::size_t link, const Endpoint& source);
  void drop(std::string_view reason, const Endpoint& source);
  void arm();
  void expire();
  void watch_interfaces();
  void check_interface(std::size_t link);

  boost::asio::any_io_executor executor;
  ServerOptions options;
  LeaseStore store;
  runtime::TimerQueue timers;
  LeaseClock time;
  std::optional<Responder> responder;
  std::vector<Link> links;  // one per subnet, in its order
  ServerStats stats;
  std::map<std::string, Clock::SteadyTime, std::less<>> logged_drops;
  std::optional<std::pair<Responder::Time, runtime::TimerQueue::Id>> armed;
  bool is_disk_good = true;
  bool is_running = false;
};

void Server::Impl::start(Config config) {
  check(config);
  open_links(config);
  StoredLeases stored = store.open(options.database, config.subnets, time.now());
  responder.emplace(std::move(config));
  restore(stored);
  is_running = true;
  for (std::size_t link = 0; link < links.size(); ++link) {
    const ServerSocket& socket = *links[link].socket;
    const bool is_raw = socket.has_link_layer();
    options.log.info("subnet served", {{"subnet", responder->config().subnets[link].name},
                                       {"interface", socket.interface().name},
                                       {"bound", socket.bound().to_string()},
                                       {"replies", socket.interface().is_loopback ? "to the source"
                                                   : is_raw                       ? "unicast frame"
                                                                                  : "broadcast"}});
    wait(link);
  }
  watch_interfaces();
  expire();
}

void Server::Impl::open_links(const Config& config) {
  std::set<std::string> names;
  for (const Subnet& subnet : config.subnets) {
    const auto mapped = options.port_map.find(kServerPort);
    const std::uint16_t port = mapped == options.port_map.end() ? kServerPort : mapped->second;
    Interface interface = find_interface(subnet.server_id);
    if (!interface.is_loopback && !names.insert(interface.name).second) {
      refuse_config("interface " + interface.name + " holds the server addresses of two subnets");
    }
    links.push_back({std::make_unique<ServerSocket>(executor, std::move(interface), subnet.server_id, port), port});
  }
}

void Server::Impl::restore(const StoredLeases& stored) {
  for (const std::string& problem : stored.problems)
    options.log.warning("lease database: row skipped", {{"problem", problem}});
  Pending pending;
  for (std::size_t i = 0; i < stored.by_subnet.size(); ++i) {
    for (LeaseChange& change : responder->restore(i, stored.by_subnet[i], time.now())) {
      pending.outcome.changes.push_back(std::move(change));
    }
  }
  if (!pending.outcome.changes.empty()) commit(std::move(pending));
}

Config Server::Impl::prepare(Config config) const {
  check(config);
  std::vector<Subnet> ordered;
  for (const Subnet& served : responder->config().subnets) {
    const auto found = std::ranges::find_if(
        config.subnets, [&](const Subnet& s) { return s.server_id == served.server_id && s.cidr == served.cidr; });
    if (found == config.subnets.end() || config.subnets.size() != links.size()) {
      refuse_config("subnets, their networks and server addresses can't change while running");
    }
    ordered.push_back(std::move(*found));
  }
  config.subnets = std::move(ordered);
  return config;
}

void Server::Impl::adopt(Config prepared) {
  responder->replace(std::move(prepared));
  arm();
}

void Server::Impl::stop(std::function<void()> done) {
  is_running = false;
  for (Link& link : links) link.socket->stop_reading();
  if (armed) timers.cancel(armed->second);
  store.async_close(
      [self = shared_from_this(), done = std::move(done)] {  // what is committed meanwhile is still answered
        for (Link& link : self->links) link.socket->close();
        if (done) done();
      });
}

void Server::Impl::wait(std::size_t link) {
  links[link].socket->async_wait_readable([weak = weak_from_this(), link](error_code error) {
    const auto self = weak.lock();
    if (!self || !self->is_running) return;
    if (!error) self->on_readable(link);
  });
}

void Server::Impl::on_readable(std::size_t link) {
  links[link].socket->receive(
      [this, link](ByteView payload, const Endpoint& source) { on_message(link, payload, source); });
  arm();
  if (is_running && !links[link].is_lost) wait(link);
}

void Server::Impl::on_message(std::size_t link, ByteView payload, const Endpoint& source) {
  if (!store.has_room()) return drop("store_full", source);
  Pending pending{responder->handle(payload, link, time.now()), link, source};
  const Outcome& outcome = pending.outcome;
  if (outcome.type) ++stats.received[std::string(to_string(*outcome.type))];
  if (!outcome.dropped.empty()) drop(outcome.dropped, source);
  stats.omitted_options += outcome.omitted_options;
  if (!outcome.changes.empty()) return commit(std::move(pending));
  if (outcome.reply) send(*outcome.reply, link, source);
}

void Server::Impl::commit(Pending pending) {
  std::vector<LeaseChange> changes = pending.outcome.changes;
  store.put(std::move(changes),
            [weak = weak_from_this(), held = std::make_shared<Pending>(std::move(pending))](error_code result) {
              if (const auto self = weak.lock()) self->on_committed(*held, result);
            });
}

// The reply of a change that did not reach the disk is never sent, a renewal's neither: the client would count on an
// expiry that a restart does not know.
void Server::Impl::on_committed(const Pending& pending, error_code result) {
  set_healthy(!result, result);
  responder->settle(pending.outcome.changes, !result, time.now());
  if (result) {
    if (pending.outcome.reply) ++stats.dropped["not_stored"];
  } else {
    if (pending.outcome.reply) send(*pending.outcome.reply, pending.link, pending.source);
    publish(pending.outcome.changes);
  }
  arm();
}

void Server::Impl::set_healthy(bool is_good, error_code why) {
  if (is_good == is_disk_good) return;
  is_disk_good = is_good;
  const Logger::Fields fields = {{"database", options.database}};
  if (is_good) return options.log.info("leases are stored again", fields);
  options.log.error("leases cannot be stored: no address is given or renewed",
                    {{"database", options.database}, {"reason", why.message()}});
}

void Server::Impl::publish(const std::vector<LeaseChange>& changes) {
  for (const LeaseChange& change : changes) {
    if (change.event.kind == LeaseEventKind::declined) {
      options.log.warning("address declined: somebody else uses it", fields_of(change.event.lease));
    }
    if (options.on_event) options.on_event(change.event);
  }
}

void Server::Impl::send(const Reply& reply, std::size_t link, const Endpoint& source) {
  const error_code error = links[link].socket->send(reply, source);
  ++(error ? stats.dropped["send_failed"] : stats.sent[std::string(to_string(reply.type))]);
}

void Server::Impl::drop(std::string_view reason, const Endpoint& source) {
  ++stats.dropped[std::string(reason)];
  const auto now = timers.now();
  const auto [place, is_new] = logged_drops.try_emplace(std::string(reason), now);
  if (!is_new && now < place->second + kDropLogInterval) return;
  place->second = now;
  options.log.debug("message dropped", {{"reason", std::string(reason)}, {"source", source.to_string()}});
}

/// Sees to it that expire() runs when something is due.
void Server::Impl::arm() {
  if (!is_running) return;
  const auto due = responder->next_due();
  if (!due || (armed && armed->first <= *due)) return;
  if (armed) timers.cancel(armed->second);
  const auto delay = std::max(*due - time.now(), std::chrono::seconds(0));
  armed.emplace(*due, timers.after(delay, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || !self->is_running) return;
    self->armed.reset();
    self->expire();
  }));
}

void Server::Impl::expire() {
  if (!store.has_room()) {
    const auto again = time.now() + kRetry;
    armed.emplace(again, timers.after(kRetry, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self || !self->is_running) return;
      self->armed.reset();
      self->expire();
    }));
    return;
  }
  Pending pending;
  pending.outcome.changes = responder->expire(time.now(), kMaxExpiredPerTurn);
  if (!pending.outcome.changes.empty()) commit(std::move(pending));
  arm();
}

void Server::Impl::watch_interfaces() {
  timers.after(kInterfaceCheck, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || !self->is_running) return;
    for (std::size_t link = 0; link < self->links.size(); ++link) self->check_interface(link);
    self->watch_interfaces();
  });
}

/// A socket is tied to an interface's index: when the interface is deleted and made again, the socket has to be made
/// again too.
void Server::Impl::check_interface(std::size_t index) {
  Link& link = links[index];
  if (link.socket->interface().is_loopback) return;
  const Subnet& subnet = responder->config().subnets[index];
  try {
    Interface interface = find_interface(subnet.server_id);
    if (!link.is_lost && interface.index == link.socket->interface().index) return;
    link.socket->close();
    link.is_lost = true;
    link.socket = std::make_unique<ServerSocket>(executor, std::move(interface), subnet.server_id, link.port);
    link.is_lost = false;
    options.log.info("interface is back", {{"subnet", subnet.name}, {"interface", link.socket->interface().name}});
    wait(index);
  } catch (const boost::system::system_error& error) {
    if (!link.is_lost) options.log.error("interface lost", {{"subnet", subnet.name}, {"reason", error.what()}});
    link.is_lost = true;
  }
}

Server::Server(boost::asio::any_io_executor executor, ServerOptions options)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(options))) {}

Server::~Server() {
  impl_->is_running = false;
  for (Impl::Link& link : impl_->links) link.socket->close();
}

void Server::start(Config config) {
  try {
    impl_->start(std::move(config));
  } catch (...) {
    impl_->links.clear();
    throw;
  }
}

void Server::replace(Config config) {
  commit(prepare(std::move(config)));
}
Config Server::prepare(Config config) const {
  return impl_->prepare(std::move(config));
}
void Server::commit(Config prepared) {
  impl_->adopt(std::move(prepared));
}
void Server::stop(std::function<void()> done) {
  impl_->stop(std::move(done));
}

std::vector<Lease> Server::leases() const {
  return impl_->responder ? impl_->responder->leases() : std::vector<Lease>();
}

std::vector<BoundSubnet> Server::bound() const {
  std::vector<BoundSubnet> out;
  for (std::size_t i = 0; i < impl_->links.size(); ++i) {
    const Subnet& subnet = impl_->responder->config().subnets[i];
    const ServerSocket& socket = *impl_->links[i].socket;
    out.push_back({subnet.name, socket.interface().name, subnet.server_id, subnet.cidr, socket.bound()});
  }
  return out;
}

ServerStats Server::stats() const {
  ServerStats out = impl_->stats;
  out.commits = impl_->store.commits();
  out.commit_failures = impl_->store.failures();
  for (std::size_t i = 0; i < impl_->links.size(); ++i) {
    const Allocator::Usage usage = impl_->responder->usage(i);
    out.subnets[impl_->responder->config().subnets[i].name] = {usage.pool_size, usage.bound, usage.offered,
                                                               usage.declined};
  }
  return out;
}

bool Server::is_healthy() const noexcept {
  return impl_->is_disk_good && std::ranges::none_of(impl_->links, &Impl::Link::is_lost);
}

}  // namespace hcpnet::dhcp
