// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <hcpnet/dhcp/responder.hpp>
#include <hcpnet/dhcp/server.hpp>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "dhcp/event_log.hpp"
#include "dhcp/kept_addresses.hpp"
#include "dhcp/lease_clock.hpp"
#include "dhcp/lease_import.hpp"
#include "dhcp/lease_store.hpp"
#include "dhcp/links.hpp"
#include "dhcp/prober.hpp"
#include "dhcp/server_socket.hpp"
#include "dhcp/shared_leases.hpp"
#include "dhcp6/service.hpp"
#include "runtime/error_text.hpp"
#include "runtime/open_failures.hpp"
#include "runtime/timer_queue.hpp"

namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxExpiredPerTurn = 1'000;       // so that a fleet that ends at once does not stop the others
constexpr std::chrono::seconds kRetry = 1s;             // when the disk's queue is full
constexpr std::chrono::seconds kInterfaceCheck = 2s;    // an interface that was made anew has another index
constexpr std::chrono::seconds kDropLogInterval = 10s;  // per reason
constexpr int kMaxLosses = 3;                           // of one message, to servers that share the pool

[[noreturn]] void refuse_config(const std::string& why) {
  throw boost::system::system_error(boost::system::errc::make_error_code(boost::system::errc::invalid_argument),
                                    "dhcp: " + why);
}

void check(const Subnet& subnet, const SharedStore& store) {
  const auto is_bad = [](const std::string& e) { return !parse_store_endpoint(e); };
  if (store.endpoints.empty() || std::ranges::any_of(store.endpoints, is_bad) || !is_store_prefix(store.prefix))
    refuse_config("the shared store of " + subnet.name +
                  " needs endpoints such as https://192.0.2.9:2379 and a prefix");
  if (store.max_skew < 0s) refuse_config("the clocks of the shared store of " + subnet.name + " differ by less than 0");
}

/// What the subnets of one link need beyond what each needs.
void check_link(std::span<const Subnet> subnets) {
  std::size_t pools = 0;
  for (std::size_t i = 0; i < subnets.size(); ++i) {
    pools += subnets[i].pools.size();
    for (const Subnet& other : subnets.first(i))
      if (Cidr(subnets[i].cidr).overlaps(other.cidr))
        refuse_config("the networks of " + subnets[i].name + " and " + other.name + " overlap on one link");
  }
  const Subnet& first = subnets.front();
  if (pools > kMaxPools) refuse_config(first.name + " has more than " + std::to_string(kMaxPools) + " pools");
  if (first.client_classes.size() > kMaxClientClasses)
    refuse_config(first.name + " has more than " + std::to_string(kMaxClientClasses) + " client classes");
  if (first.probe_timeout && *first.probe_timeout <= 0ms) refuse_config("the probe of " + first.name + " has no time");
  if (first.shared_store) check(first, *first.shared_store);
  if (first.rate_limit && first.rate_limit->burst < first.rate_limit->messages_per_second)
    refuse_config("the rate limit of " + first.name + " has a burst below the messages of one second");
}

void check(const Config& config) {
  std::map<Ipv4, const Subnet*> servers;
  std::set<Ipv4Cidr> networks;
  std::set<std::string> names;
  for (const Subnet& subnet : config.subnets) {
    const auto [other, is_new] = servers.emplace(subnet.server_id, &subnet);
    if (!is_new && !is_on_link_of(subnet, *other->second))
      refuse_config("two subnets have the server address " + subnet.server_id.to_string());
    if (!networks.insert(subnet.cidr).second) refuse_config("two subnets have the network " + subnet.cidr.to_string());
    if (subnet.lease_time < 1s) refuse_config("the lease time of " + subnet.name + " is less than a second");
    for (const Reservation& r : subnet.reservations)
      if (r.mac.has_value() != r.client_id.empty())
        refuse_config("the reservation of " + r.address.to_string() +
                      " needs a hardware address or a client identifier, and not both");
  }
  for (const LinkMembers& link : links_of(config.subnets)) {
    const auto subnets = std::span(config.subnets).subspan(link.first, link.count);
    const std::string& shared = subnets.front().shared_network;
    if (!shared.empty() && !names.insert(shared).second)
      refuse_config("the subnets of the shared network " + shared + " don't stand together");
    check_link(subnets);
  }
  dhcp6::check(config.subnets6);
}

/// The first subnet of a link speaks for all of it: what the first one of `configured` says, the one that is served
/// first says from now on.
void take_link_fields(const std::vector<Subnet>& configured, std::vector<Subnet>& served) {
  for (const LinkMembers& link : links_of(served)) {
    Subnet& first = served[link.first];
    const auto speaker = std::ranges::find_if(
        configured, [&](const Subnet& s) { return s.cidr == first.cidr || is_on_link_of(s, first); });
    first.authoritative = speaker->authoritative;
    first.identity = speaker->identity;
    first.client_classes = speaker->client_classes;
    first.rate_limit = speaker->rate_limit;
    first.probe_timeout = speaker->probe_timeout;
    first.shared_store = speaker->shared_store;
  }
}

bool is_binding(const LeaseChange& change) {
  return change.event.kind == LeaseEventKind::bound || change.event.kind == LeaseEventKind::renewed;
}

/// By htype, hlen and chaddr (RFC 2131 section 2).
bool is_from(ByteView payload, const MacAddress& mac) noexcept {
  constexpr std::size_t kAddressAt = 28;
  const ByteView own = mac.bytes();
  if (payload.size() < kAddressAt + own.size() || payload[1] != kEthernet || payload[2] != own.size()) return false;
  return std::ranges::equal(payload.subspan(kAddressAt, own.size()), own);
}

Diagnostics not_stored(error_code why) {
  return one_problem("lease-not-stored", "the lease database can't be written: " + why.message());
}

Logger::Fields fields_of(const Lease& lease) {
  return {{"subnet", lease.subnet}, {"address", lease.address.to_string()}, {"mac", lease.mac.to_string()}};
}

}  // namespace

/// Life of a message: received -> handled -> (no change) answered | (change) queued for the disk -> committed ->
/// answered, or dropped. A change of a lease that is shared is claimed before it is queued: (lost to another server)
/// handled again, with what is known then. To answer is to send, but for an offer that has to be probed: asked for ->
/// (silence) sent | (somebody uses the address) handled again.
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
    LinkMembers subnets;  ///< the first one has the address that names the interface
    bool is_lost = false;
    std::unique_ptr<SharedLeases> shared = {};  ///< none: they are this server's alone
  };
  /// What waits for the disk.
  struct Pending {
    Outcome outcome;
    std::size_t link = 0;
    Endpoint source = {};
    std::vector<std::uint8_t> message = {};  ///< where its offer is probed, or its lease shared
    std::size_t conflicts = 0;               ///< addresses in use that the message has met before
    int losses = 0;                          ///< addresses that it lost to other servers
    bool is_refusal_checked = false;
    Clock::SteadyTime handled = {};  ///< when its outcome was made
    Clock::SystemTime handled_at = {};
  };

  /// Made by hand, not by a message.
  struct Changes {
    std::vector<LeaseChange> v4;
    std::vector<dhcp6::LeaseChange> v6;
    [[nodiscard]] bool empty() const noexcept { return v4.empty() && v6.empty(); }
  };

  void start(Config config);
  Config prepare(Config config) const;
  void adopt(Config prepared);
  void use_reservations();
  void reserve(const KeptAddress& wanted, std::function<void(Result<KeptAddress, Diagnostics>)> done);
  void unreserve(const IpAddress& address, std::function<void(Result<KeptAddress, Diagnostics>)> done);
  void write_reservation(KeptAddress kept, bool is_kept, std::function<void(Result<KeptAddress, Diagnostics>)> done);
  void stop(std::function<void()> done);

  void open_links(const Config& config);
  void open_link(const LinkMembers& members, const Config& config, std::set<std::string>& names);
  void restore(StoredLeases stored);
  void wait(std::size_t link);
  void on_readable(std::size_t link);
  void on_message(std::size_t link, ByteView payload, const Endpoint& source);
  void carry_out(Pending pending);
  void answer(const Pending& pending);
  void on_conflict(ProbedOffer offer, const std::optional<MacAddress>& by);
  [[nodiscard]] bool is_probed(std::size_t link, const Config& config) const;
  void use_probes();
  void commit(Pending pending);
  void store_changes(Pending pending);
  [[nodiscard]] SharedLeases* shared_of(std::size_t subnet) const;
  [[nodiscard]] bool is_unreadable(Ipv4 address) const;
  [[nodiscard]] Lease by_calendar(Lease lease) const;
  void open_shared();
  void share_own(const Link& link);
  void take(const std::vector<Lease>& leases);
  void on_claimed(Pending pending, SharedLeases::Result result);
  void handle_again(Pending pending);
  [[nodiscard]] bool is_late(const Pending& pending) const;
  void check_refusal(SharedLeases& shared, const Pending& pending);
  void on_committed(const Pending& pending, error_code result);
  void import_leases(const LeaseList& list, std::function<void(Result<LeaseImport, Diagnostics>)> done);
  void release(const IpAddress& address, std::function<void(Result<EndedLease, Diagnostics>)> done);
  void write_release(Changes changes, EndedLease ended, std::function<void(Result<EndedLease, Diagnostics>)> done);
  void write(Changes changes, std::function<void(const Changes&, error_code)> written);
  void end_import(const Changes& changes, bool is_durable);
  [[nodiscard]] std::optional<Diagnostics> reason_to_refuse_changes() const;
  [[nodiscard]] std::optional<Diagnostics> reason_to_refuse_own() const;
  void set_healthy(bool is_good, error_code why);
  void publish(const std::vector<LeaseChange>& changes);
  void tell(const LeaseEvent& event);
  void send(const Reply& reply, std::size_t link, const Endpoint& source);
  void drop(std::string_view reason, const Endpoint& source);
  void log_drop(std::string_view reason, const Endpoint& source);
  dhcp6::ServiceHost service_host();
  ProberHost prober_host();
  void arm();
  void expire();
  void watch_interfaces();
  void check_interface(std::size_t link);

  boost::asio::any_io_executor executor;
  ServerOptions options;
  LeaseStore store;
  runtime::TimerQueue timers;
  LeaseClock time;
  Config files;                      ///< as configured
  std::vector<KeptAddress> by_hand;  ///< beside it
  std::optional<Responder> responder;
  std::vector<Link> links;  // in the order of their subnets
  ServerStats stats;
  std::map<std::string, Clock::SteadyTime, std::less<>> logged_drops;
  std::optional<std::pair<Responder::Time, runtime::TimerQueue::Id>> armed;
  bool is_disk_good = true;
  bool is_running = false;
  bool is_closed = false;     ///< stop() may still finish on behalf of a server that is gone, and tells nobody
  bool is_importing = false;  ///< no client is dealt with until it is on disk
  bool is_reserving = false;
  std::unique_ptr<Prober> prober;      // this and v6 use the others, and so stand last
  std::unique_ptr<dhcp6::Service> v6;  // none where no IPv6 network is served
};

void Server::Impl::start(Config config) {
  check(config);
  prober = std::make_unique<Prober>(prober_host());
  open_links(config);
  v6 = dhcp6::Service::open(service_host(), config);
  StoredLeases stored = store.open(options.database, config.subnets, time.now());
  by_hand = std::move(stored.reservations);
  files = std::move(config);
  ResponderLimits limits;
  limits.allocator.reuse_delay = LeaseClock::kRounding;
  responder.emplace(with_kept(files, by_hand), limits);
  if (v6) {
    v6->replace(responder->config());
    v6->restore(std::move(stored.leases6), stored.unreadable6);
  }
  restore(std::move(stored));
  is_running = true;
  for (std::size_t link = 0; link < links.size(); ++link) {
    if (links[link].is_lost) continue;
    const ServerSocket& socket = *links[link].socket;
    const bool is_raw = socket.has_link_layer();
    for (std::size_t i = 0; i < links[link].subnets.count; ++i)
      options.log.info("subnet served", {{"subnet", responder->config().subnets[links[link].subnets.first + i].name},
                                         {"interface", socket.interface().name},
                                         {"bound", socket.bound().to_string()},
                                         {"replies", socket.interface().is_loopback ? "to the source"
                                                     : is_raw                       ? "unicast frame"
                                                                                    : "broadcast"}});
    wait(link);
  }
  if (v6) v6->start();
  open_shared();
  watch_interfaces();
  expire();
}

dhcp6::ServiceHost Server::Impl::service_host() {
  return {.executor = executor,
          .options = options,
          .store = store,
          .timers = timers,
          .time = time,
          .owner = weak_from_this(),
          .on_commit = [this](error_code result) { set_healthy(!result, result); },
          .log_drop = [this](std::string_view reason, const Endpoint& source) { log_drop(reason, source); }};
}

ProberHost Server::Impl::prober_host() {
  return {.executor = executor,
          .timers = timers,
          .owner = weak_from_this(),
          .on_silence =
              [this](const ProbedOffer& offer) {
                // The client may have turned to another server, or an import have taken the address, meanwhile.
                if (responder->has_offer(offer.subnet, offer.probe)) send(offer.reply, offer.link, offer.source);
              },
          .on_conflict = [this](ProbedOffer offer,
                                const std::optional<MacAddress>& by) { on_conflict(std::move(offer), by); }};
}

void Server::Impl::open_links(const Config& config) {
  std::set<std::string> names;
  runtime::OpenFailures failures;
  for (const LinkMembers& members : links_of(config.subnets))
    failures.attempt([&] { open_link(members, config, names); });
  failures.throw_any();
}

/// `names` are the interfaces that are in use.
void Server::Impl::open_link(const LinkMembers& members, const Config& config, std::set<std::string>& names) {
  const auto subnets = std::span(config.subnets).subspan(members.first, members.count);
  const Subnet& first = subnets.front();
  const auto mapped = options.port_map.find(kServerPort);
  const std::uint16_t port = mapped == options.port_map.end() ? kServerPort : mapped->second;
  auto interface = look_for_interface(first.server_id);
  if (!interface) {  // check_interface() finds it when it comes
    options.log.error("interface is not there yet", {{"subnet", first.name}, {"address", first.server_id.to_string()}});
    links.push_back({std::make_unique<ServerSocket>(executor), port, members, true});
    return;
  }
  if (!interface->is_loopback && !names.insert(interface->name).second) {
    refuse_config("interface " + interface->name + " holds the server addresses of two subnets");
  }
  for (const Subnet& subnet : subnets)
    if (find_interface(subnet.server_id).index != interface->index)
      refuse_config("the server address " + subnet.server_id.to_string() + " of " + subnet.name +
                    " is not on interface " + interface->name + ", where " + first.server_id.to_string() + " is");
  links.push_back(
      {std::make_unique<ServerSocket>(executor, *std::move(interface), first.server_id, port), port, members});
  const std::size_t link = links.size() - 1;
  if (is_probed(link, config)) prober->open(link, links[link].socket->interface());
}

/// Whether addresses are asked for on a link. What has to do with one link may come in on another one, by a relay. On a
/// loopback interface there is nobody to ask.
bool Server::Impl::is_probed(std::size_t link, const Config& config) const {
  const bool is_wanted =
      std::ranges::any_of(config.subnets, [](const Subnet& s) { return s.probe_timeout.has_value(); });
  return is_wanted && !links[link].socket->interface().is_loopback;
}

/// A link that can't be asked is as good as lost: check_interface() makes it anew.
void Server::Impl::use_probes() {
  for (std::size_t i = 0; i < links.size(); ++i) {
    Link& link = links[i];
    if (!is_probed(i, files)) {
      prober->close(i);
      continue;
    }
    if (link.is_lost || prober->is_open(i)) continue;
    try {
      prober->open(i, link.socket->interface());
    } catch (const boost::system::system_error& error) {
      options.log.error("interface lost",
                        {{"subnet", files.subnets[link.subnets.first].name}, {"reason", runtime::error_text(error)}});
      link.socket->close();
      link.is_lost = true;
    }
  }
}

void Server::Impl::restore(StoredLeases stored) {
  for (const std::string& problem : stored.problems)
    options.log.warning("lease database: row skipped", {{"problem", problem}});
  Pending pending;
  pending.outcome.changes = responder->restore(std::move(stored.by_subnet), time.now());
  if (!pending.outcome.changes.empty()) commit(std::move(pending));
}

Config Server::Impl::prepare(Config config) const {
  check(config);
  std::vector<Subnet> ordered;
  for (const Subnet& served : responder->config().subnets) {
    const auto found = std::ranges::find_if(config.subnets, [&](const Subnet& s) {
      return s.server_id == served.server_id && s.cidr == served.cidr && s.shared_network == served.shared_network;
    });
    if (found == config.subnets.end() || config.subnets.size() != responder->config().subnets.size()) {
      refuse_config("subnets, their networks and server addresses can't change while running");
    }
    ordered.push_back(*found);
  }
  take_link_fields(config.subnets, ordered);
  config.subnets = std::move(ordered);
  if (!dhcp6::Service::can_replace(v6.get(), config)) {
    refuse_config("the IPv6 networks that are served can't change while running");
  }
  for (const Link& link : links) {
    const Subnet& next = config.subnets[link.subnets.first];
    if (next.shared_store != responder->config().subnets[link.subnets.first].shared_store)
      refuse_config("the shared store of " + next.name + " can't change while running");
  }
  for (std::size_t link = 0; link < links.size(); ++link) {  // that we may, and the interface can be asked on
    const bool is_new = is_probed(link, config) && !links[link].is_lost && !prober->is_open(link);
    if (is_new) ProbeSocket(executor, links[link].socket->interface()).close();
  }
  return config;
}

void Server::Impl::adopt(Config prepared) {
  files = std::move(prepared);
  use_reservations();
  use_probes();
}

void Server::Impl::use_reservations() {
  Config merged = with_kept(files, by_hand);
  if (v6) v6->replace(merged);
  responder->replace(std::move(merged));
  for (const Link& link : links) {
    const Subnet& first = responder->config().subnets[link.subnets.first];
    if (link.shared) link.shared->set_identity(first.identity);
  }
  arm();
}

void Server::Impl::stop(std::function<void()> done) {
  is_running = false;
  for (Link& link : links) {
    link.socket->stop_reading();
    if (link.shared) link.shared->stop();  // whoever waits for the store asks again
  }
  if (prober) prober->stop();
  if (v6) v6->stop_reading();
  if (armed) timers.cancel(armed->second);
  store.async_close(
      [self = shared_from_this(), done = std::move(done)] {  // what is committed meanwhile is still answered
        for (Link& link : self->links) link.socket->close();
        if (self->v6) self->v6->close();
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
  if (is_importing) return drop("importing", source);
  const SharedLeases* shared = links[link].shared.get();
  if (!store.has_room() || (shared != nullptr && !shared->has_room())) return drop("store_full", source);
  const auto& own = links[link].socket->interface().mac;
  if (own && is_from(payload, *own)) return drop("own_message", source);
  Pending pending{responder->handle(payload, links[link].subnets.first, time.now()), link, source};
  if (pending.outcome.type) ++stats.received[std::string(to_string(*pending.outcome.type))];
  if (pending.outcome.probe || shared_of(pending.outcome.subnet) != nullptr)
    pending.message.assign(payload.begin(), payload.end());
  carry_out(std::move(pending));
}

void Server::Impl::carry_out(Pending pending) {
  pending.handled = timers.now();
  pending.handled_at = options.clock->system_now();
  const Outcome& outcome = pending.outcome;
  if (!outcome.dropped.empty()) drop(outcome.dropped, pending.source);
  stats.omitted_options += outcome.omitted_options;
  if (!outcome.changes.empty()) return commit(std::move(pending));
  answer(pending);
}

void Server::Impl::answer(const Pending& pending) {
  const Outcome& outcome = pending.outcome;
  if (!outcome.reply) return;
  if (SharedLeases* shared = shared_of(outcome.subnet)) {
    if (!shared->is_ready()) return drop("store_unreachable", pending.source);  // another server may have more to say
    if (is_late(pending)) return drop("late", pending.source);
    const bool is_refusal = outcome.reply->type == MessageType::nak;
    if (is_refusal && !pending.is_refusal_checked) return check_refusal(*shared, pending);
  }
  if (!outcome.probe || !is_probed(pending.link, responder->config()))
    return send(*outcome.reply, pending.link, pending.source);
  if (!is_running) return;  // the client asks again
  const std::string_view why = prober->ask({.probe = *outcome.probe,
                                            .reply = *outcome.reply,
                                            .message = pending.message,
                                            .subnet = outcome.subnet,
                                            .link = pending.link,
                                            .source = pending.source,
                                            .conflicts = pending.conflicts});
  if (!why.empty()) drop(why, pending.source);
}

/// The address rests, and its client is offered another one.
void Server::Impl::on_conflict(ProbedOffer offer, const std::optional<MacAddress>& by) {
  options.log.warning("address in use: its probe was answered",
                      {{"subnet", responder->config().subnets[offer.subnet].name},
                       {"address", offer.probe.address.to_string()},
                       {"by", by ? by->to_string() : "an echo reply"}});
  if (is_importing) return drop("importing", offer.source);
  if (!store.has_room()) return drop("store_full", offer.source);
  Pending rests;
  rests.outcome.subnet = offer.subnet;
  if (auto change = responder->report_conflict(offer.subnet, offer.probe, time.now()))
    rests.outcome.changes.push_back(*std::move(change));
  else
    return;  // it is not offered to that client any more
  commit(std::move(rests));
  const std::size_t conflicts = offer.conflicts + 1;
  if (conflicts >= prober->limits().max_conflicts) return drop("conflicts", offer.source);
  Pending again{responder->handle_again(offer.message, links[offer.link].subnets.first, time.now()), offer.link,
                offer.source, std::move(offer.message), conflicts};
  carry_out(std::move(again));
}

void Server::Impl::commit(Pending pending) {
  SharedLeases* shared = shared_of(pending.outcome.subnet);
  if (shared == nullptr) return store_changes(std::move(pending));
  // That a lease has run out every server sees by itself.
  Pending ended;
  std::vector<LeaseChange>& changes = pending.outcome.changes;
  const auto rest = std::ranges::stable_partition(
      changes, [](const LeaseChange& c) { return c.event.kind != LeaseEventKind::expired; });
  ended.outcome.changes.assign(std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
  changes.erase(rest.begin(), rest.end());
  if (!ended.outcome.changes.empty()) store_changes(std::move(ended));
  if (changes.empty()) return answer(pending);
  // Who moves may still use what he leaves: his REQUEST may have waited here while another server, or a later message,
  // gave him that. For all servers it lasts until it expires.
  const bool is_move = std::ranges::any_of(changes, is_binding);
  std::vector<Lease> claimed;
  for (const LeaseChange& change : changes) {
    if (!is_move || is_binding(change)) claimed.push_back(by_calendar(change.event.lease));
  }
  shared->claim(std::move(claimed), [weak = weak_from_this(), held = std::make_shared<Pending>(std::move(pending))](
                                        SharedLeases::Result result) {
    if (const auto self = weak.lock()) self->on_claimed(std::move(*held), result);
  });
}

void Server::Impl::store_changes(Pending pending) {
  std::vector<LeaseChange> changes = pending.outcome.changes;
  store.put(std::move(changes),
            [weak = weak_from_this(), held = std::make_shared<Pending>(std::move(pending))](error_code result) {
              if (const auto self = weak.lock()) self->on_committed(*held, result);
            });
}

// The reply of a change that did not reach the disk is never sent: the client would count on what a restart does not
// know. A renewal hears what is there instead, unless its file is gone.
void Server::Impl::on_committed(const Pending& pending, error_code result) {
  set_healthy(!result, result);
  responder->settle(pending.outcome.changes, !result, time.now());
  if (result) {
    const bool is_file_gone = result == boost::system::errc::no_such_file_or_directory;
    auto stored = is_file_gone ? std::optional<Reply>() : responder->acknowledge_stored(pending.outcome, time.now());
    if (stored) {
      Pending told = pending;
      told.outcome.reply = std::move(stored);
      answer(told);
    } else if (pending.outcome.reply) {
      ++stats.dropped["not_stored"];
    }
  } else {
    answer(pending);
    publish(pending.outcome.changes);
  }
  arm();
}

// --- leases that are shared with other servers

/// nullptr: they are not.
SharedLeases* Server::Impl::shared_of(std::size_t subnet) const {
  const auto link = std::ranges::find_if(
      links, [&](const Link& l) { return subnet >= l.subnets.first && subnet - l.subnets.first < l.subnets.count; });
  return link == links.end() ? nullptr : link->shared.get();
}

/// By a shared store that has a record of it.
bool Server::Impl::is_unreadable(Ipv4 address) const {
  const auto& subnets = responder->config().subnets;
  const auto found = std::ranges::find_if(subnets, [&](const Subnet& s) { return s.cidr.contains(address); });
  if (found == subnets.end()) return false;
  const SharedLeases* shared = shared_of(static_cast<std::size_t>(found - subnets.begin()));
  return shared != nullptr && shared->is_unreadable(address);
}

Lease Server::Impl::by_calendar(Lease lease) const {
  const std::chrono::seconds lead = time.calendar_lead();
  lease.started += lead;
  lease.expires += lead;
  return lease;
}

void Server::Impl::open_shared() {
  for (Link& link : links) {
    const Subnet& first = responder->config().subnets[link.subnets.first];
    if (!first.shared_store) continue;
    SharedLeasesHost host{.executor = executor,
                          .timers = timers,
                          .on_taken = [this](const std::vector<Lease>& leases) { take(leases); },
                          .on_loaded = [this, &link] { share_own(link); },
                          .log = options.log};
    link.shared = std::make_unique<SharedLeases>(std::move(host), *first.shared_store, first.server_id.to_string(),
                                                 first.identity);
    link.shared->start();
  }
}

/// What others have written is as good as on our disk: who has an address is read from the store at the next start.
void Server::Impl::take(const std::vector<Lease>& leases) {
  const std::chrono::seconds lead = time.calendar_lead();
  Pending taken;
  for (Lease lease : leases) {
    lease.started -= lead;
    lease.expires -= lead;
    for (LeaseChange& change : responder->take(lease, time.now())) taken.outcome.changes.push_back(std::move(change));
  }
  std::vector<LeaseChange>& changes = taken.outcome.changes;
  if (!changes.empty() && store.has_room()) {
    store_changes(std::move(taken));
  } else if (!changes.empty()) {  // a disk that hangs makes no queue
    boost::asio::post(executor, [weak = weak_from_this(), changes = std::move(changes)] {
      if (const auto self = weak.lock()) self->publish(changes);
    });
  }
  arm();
}

/// Leases of before they were shared.
void Server::Impl::share_own(const Link& link) {
  const auto subnets = std::span(responder->config().subnets).subspan(link.subnets.first, link.subnets.count);
  for (const Lease& lease : responder->leases()) {
    const bool is_in_use = lease.state == LeaseState::bound || lease.state == LeaseState::declined;
    const bool is_here = std::ranges::any_of(subnets, [&](const Subnet& s) { return s.cidr.contains(lease.address); });
    if (is_in_use && is_here && !link.shared->is_known(lease.address)) link.shared->claim({by_calendar(lease)}, {});
  }
}

void Server::Impl::on_claimed(Pending pending, SharedLeases::Result result) {
  const bool is_needed = std::ranges::any_of(pending.outcome.changes, is_binding);
  // A client that gives its address back, or says that it is in use, has done so even where others can't be told.
  const bool is_good =
      result == SharedLeases::Result::owned || (result == SharedLeases::Result::unreachable && !is_needed);
  if (is_good) return store_changes(std::move(pending));
  if (!is_needed) return arm();  // what others have written since has been taken
  responder->settle(pending.outcome.changes, false, time.now());
  arm();
  if (result == SharedLeases::Result::unreachable) return drop("store_unreachable", pending.source);
  handle_again(std::move(pending));
}

/// With what is known now. Mostly that is a NAK, or the renewal of a lease that another server has just renewed.
void Server::Impl::handle_again(Pending pending) {
  if (!is_running) return;
  if (pending.message.empty() || ++pending.losses >= kMaxLosses) return drop("address_lost", pending.source);
  pending.outcome = responder->handle_again(pending.message, links[pending.link].subnets.first, time.now());
  carry_out(std::move(pending));
}

/// Its client may count the lease from when the ACK comes.
bool Server::Impl::is_late(const Pending& pending) const {
  if (pending.outcome.reply->type != MessageType::ack) return false;
  return timers.now() - pending.handled > kAnswerWithin ||
         options.clock->system_now() - pending.handled_at > kAnswerWithin;
}

/// What another server has just given to the client it must not be told to give up.
void Server::Impl::check_refusal(SharedLeases& shared, const Pending& pending) {
  const auto message = parse_message(pending.message);
  if (!message) return;  // it could be read before
  const Ipv4 asked = message->options.find_address(option::requested_address).value_or(message->ciaddr);
  shared.look_at(asked,
                 [weak = weak_from_this(), held = std::make_shared<Pending>(pending)](SharedLeases::Result result) {
                   const auto self = weak.lock();
                   if (!self) return;
                   if (result == SharedLeases::Result::unreachable)
                     return self->drop("store_unreachable", held->source);
                   held->is_refusal_checked = true;
                   self->handle_again(std::move(*held));  // news may also have come by the watch
                 });
}

// --- changes by hand

/// Other servers of a shared pool would not know.
std::optional<Diagnostics> Server::Impl::reason_to_refuse_own() const {
  if (std::ranges::any_of(links, [](const Link& l) { return l.shared != nullptr; }))
    return one_problem("lease-shared",
                       "the pool is shared with other servers (sharedStore), which would not know: reserve in the "
                       "spec; import into the lease database of one server while it does not run");
  return reason_to_refuse_changes();
}

std::optional<Diagnostics> Server::Impl::reason_to_refuse_changes() const {
  if (!is_running) return one_problem("not-running", "DHCP is not running");
  if (is_importing)
    return one_problem("lease-import-under-way", "leases are being imported; try again when that is done");
  if (is_reserving) return one_problem("lease-import-under-way", "a reservation is being written; try again");
  if (!store.has_room()) return one_problem("lease-not-stored", "too much is waiting for the disk; try again");
  return std::nullopt;
}

/// One transaction; then events and the outcome.
void Server::Impl::write(Changes changes, std::function<void(const Changes&, error_code)> written) {
  auto held = std::make_shared<Changes>(changes);
  store.put(std::move(changes.v4), std::move(changes.v6),
            [weak = weak_from_this(), held, written = std::move(written)](error_code result) {
              const auto self = weak.lock();
              if (!self) return;
              self->set_healthy(!result, result);
              written(*held, result);
              if (result || self->is_closed) return;
              for (const LeaseChange& change : held->v4) self->tell(change.event);
              for (const dhcp6::LeaseChange& change : held->v6) self->v6->tell(change.event);
            });
}

void Server::Impl::end_import(const Changes& changes, bool is_durable) {
  responder->settle_import(changes.v4, is_durable);
  if (v6) v6->settle_import(changes.v6, is_durable);
  is_importing = false;
  arm();
  if (v6) v6->resume();
}

void Server::Impl::import_leases(const LeaseList& list, std::function<void(Result<LeaseImport, Diagnostics>)> done) {
  if (auto why = reason_to_refuse_own()) return done(*std::move(why));
  Diagnostics problems;
  responder->check_import(list, time.now(), problems);
  if (v6) {
    v6->check_import(list, time.now(), problems);
  } else {
    for (const ListedLease6& listed : list.leases6)
      problems.add(foreign_network(list.file, listed.line, listed.lease.address.to_string(), {}));
  }
  if (problems.has_errors()) return done(std::move(problems));
  LeaseImport outcome;
  Changes changes;
  changes.v4 = responder->import_leases(list, time.now(), outcome);
  if (v6) changes.v6 = v6->import_leases(list, time.now(), outcome);
  options.log.info("leases imported", {{"file", list.file},
                                       {"imported", outcome.imported},
                                       {"unchanged", outcome.unchanged},
                                       {"left_out", outcome.left_out}});
  if (changes.empty()) return done(std::move(outcome));
  is_importing = true;
  if (v6) v6->pause();
  write(std::move(changes),
        [this, outcome = std::move(outcome), done = std::move(done)](const Changes& written, error_code result) {
          end_import(written, !result);
          if (result) return done(not_stored(result));
          done(outcome);
        });
}

void Server::Impl::release(const IpAddress& address, std::function<void(Result<EndedLease, Diagnostics>)> done) {
  if (auto why = reason_to_refuse_changes()) return done(*std::move(why));
  if (address.is_v4() && is_unreadable(address.v4()))
    return done(one_problem("lease-not-stored",
                            "the record of " + address.to_string() +
                                " in the shared store can't be read, and is not written over: the address rests"));
  Changes changes;
  EndedLease ended;
  if (address.is_v4()) {
    if (auto change = responder->end(address.v4(), time.now())) {
      ended.lease = change->event.lease;
      changes.v4.push_back(*std::move(change));
    }
  } else if (v6) {
    if (auto change = v6->end(address.v6(), time.now())) {
      ended.lease6 = change->event.lease;
      changes.v6.push_back(*std::move(change));
    }
  }
  if (changes.empty())
    return done(one_problem("lease-not-found", "no lease in use, and no rest, on " + address.to_string()));
  options.log.info("lease ended by hand", {{"address", address.to_string()}});
  SharedLeases* shared = changes.v4.empty() ? nullptr : shared_of(changes.v4.front().subnet);
  if (shared == nullptr) return write_release(std::move(changes), std::move(ended), std::move(done));
  shared->claim({by_calendar(*ended.lease)}, [weak = weak_from_this(), changes = std::move(changes), ended,
                                              done = std::move(done)](SharedLeases::Result result) {
    const auto self = weak.lock();
    if (!self) return;
    if (result == SharedLeases::Result::owned) return self->write_release(changes, ended, done);
    boost::asio::post(self->executor, [done] {  // who is told may end the server, and SharedLeases is at work
      done(one_problem("lease-not-stored", "the shared store could not be written: the lease goes on there"));
    });
  });
}

void Server::Impl::write_release(Changes changes, EndedLease ended,
                                 std::function<void(Result<EndedLease, Diagnostics>)> done) {
  write(std::move(changes),
        [this, ended = std::move(ended), done = std::move(done)](const Changes&, error_code result) {
          arm();
          if (result) return done(not_stored(result));
          done(ended);
        });
}

void Server::Impl::reserve(const KeptAddress& wanted, std::function<void(Result<KeptAddress, Diagnostics>)> done) {
  if (auto why = wanted.address.is_v4() ? reason_to_refuse_own() : reason_to_refuse_changes())
    return done(*std::move(why));
  auto kept = check_kept(files, by_hand, wanted);
  if (!kept) return done(std::move(kept));
  write_reservation(std::move(*kept), true, std::move(done));
}

void Server::Impl::unreserve(const IpAddress& address, std::function<void(Result<KeptAddress, Diagnostics>)> done) {
  if (auto why = reason_to_refuse_changes()) return done(*std::move(why));
  auto kept = find_kept(files, by_hand, address);
  if (!kept) return done(std::move(kept));
  write_reservation(std::move(*kept), false, std::move(done));
}

/// It counts once it is on disk; whoever gets the address until then has a lease as any other.
void Server::Impl::write_reservation(KeptAddress kept, bool is_kept,
                                     std::function<void(Result<KeptAddress, Diagnostics>)> done) {
  const auto work = [kept, is_kept](LeaseDatabase::Transaction& transaction) {
    if (is_kept)
      transaction.put(kept);
    else
      transaction.erase_reservation(kept.address);
  };
  is_reserving = true;
  store.put(work, [weak = weak_from_this(), kept, is_kept, done = std::move(done)](error_code result) {
    const auto self = weak.lock();
    if (!self) return;
    self->is_reserving = false;
    self->set_healthy(!result, result);
    if (result) return done(not_stored(result));
    std::erase_if(self->by_hand, [&](const KeptAddress& other) { return other.address == kept.address; });
    if (is_kept) self->by_hand.push_back(kept);
    self->use_reservations();
    self->options.log.info(is_kept ? "address reserved by hand" : "reservation by hand removed",
                           {{"address", kept.address.to_string()}, {"subnet", kept.subnet}});
    done(kept);
  });
}

void Server::Impl::set_healthy(bool is_good, error_code why) {
  if (is_good == is_disk_good) return;
  is_disk_good = is_good;
  const Logger::Fields fields = {{"database", options.database}};
  if (is_good) return options.log.info("leases are stored again", fields);
  options.log.error("leases cannot be stored: no address is given, and none for longer",
                    {{"database", options.database}, {"reason", why.message()}});
}

void Server::Impl::publish(const std::vector<LeaseChange>& changes) {
  for (const LeaseChange& change : changes) {
    if (options.log.is_enabled()) log_event(options.log, change.event.kind, fields_of(change.event.lease));
    tell(change.event);
  }
}

/// Counts it, and calls whoever wants to know.
void Server::Impl::tell(const LeaseEvent& event) {
  ++stats.events[std::string(to_string(event.kind))];
  if (options.on_event && !is_closed) options.on_event(event);
}

void Server::Impl::send(const Reply& reply, std::size_t link, const Endpoint& source) {
  const error_code error = links[link].socket->send(reply, source);
  ++(error ? stats.dropped["send_failed"] : stats.sent[std::string(to_string(reply.type))]);
}

void Server::Impl::drop(std::string_view reason, const Endpoint& source) {
  ++stats.dropped[std::string(reason)];
  log_drop(reason, source);
}

void Server::Impl::log_drop(std::string_view reason, const Endpoint& source) {
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
  if (is_importing) return;  // what is due stays so until the import is on disk
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
    if (self->v6) self->v6->check_interfaces();
    self->watch_interfaces();
  });
}

/// A socket is tied to an interface's index: when the interface is deleted and made again, the socket has to be made
/// again too.
void Server::Impl::check_interface(std::size_t index) {
  Link& link = links[index];
  if (link.socket->interface().is_loopback) return;
  const Subnet& subnet = responder->config().subnets[link.subnets.first];
  const bool was_lost = link.is_lost;
  try {
    Interface interface = find_interface(subnet.server_id);
    if (!link.is_lost && interface.index == link.socket->interface().index) return;
    link.socket->close();
    prober->close(index);
    link.is_lost = true;
    link.socket = std::make_unique<ServerSocket>(executor, std::move(interface), subnet.server_id, link.port);
    if (is_probed(index, responder->config())) prober->open(index, link.socket->interface());
    link.is_lost = false;
    options.log.info("interface is back", {{"subnet", subnet.name}, {"interface", link.socket->interface().name}});
    wait(index);
  } catch (const boost::system::system_error& error) {
    // That no list is to be had (for want of descriptors) says nothing of an interface whose socket works.
    if (!link.is_lost && error.code() != boost::system::errc::address_not_available) return;
    if (!was_lost)
      options.log.error("interface lost", {{"subnet", subnet.name}, {"reason", runtime::error_text(error)}});
    link.is_lost = true;
  }
}

Server::Server(boost::asio::any_io_executor executor, ServerOptions options)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(options))) {}

Server::~Server() {
  impl_->is_running = false;
  impl_->is_closed = true;
  for (Impl::Link& link : impl_->links) {
    link.socket->close();
    if (link.shared) link.shared->close();
  }
  if (impl_->prober) impl_->prober->stop();
  if (impl_->v6) impl_->v6->close();
}

void Server::start(Config config) {
  try {
    impl_->start(std::move(config));
  } catch (...) {
    impl_->links.clear();
    impl_->prober.reset();
    impl_->v6.reset();
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
bool Server::serves_networks_of(const Config& config) const {
  return dhcp6::Service::can_replace(impl_->v6.get(), config);
}

void Server::import_leases(const LeaseList& list, std::function<void(Result<LeaseImport, Diagnostics>)> done) {
  impl_->import_leases(list, std::move(done));
}

void Server::release(const IpAddress& address, std::function<void(Result<EndedLease, Diagnostics>)> done) {
  impl_->release(address, std::move(done));
}

void Server::reserve(const KeptAddress& wanted, std::function<void(Result<KeptAddress, Diagnostics>)> done) {
  impl_->reserve(wanted, std::move(done));
}

void Server::unreserve(const IpAddress& address, std::function<void(Result<KeptAddress, Diagnostics>)> done) {
  impl_->unreserve(address, std::move(done));
}

std::vector<KeptAddress> Server::reservations() const {
  return all_kept(impl_->files, impl_->by_hand);
}

void Server::stop(std::function<void()> done) {
  impl_->stop(std::move(done));
}

std::vector<Lease> Server::leases() const {
  return impl_->responder ? impl_->responder->leases() : std::vector<Lease>();
}

std::vector<BoundSubnet> Server::bound() const {
  std::vector<BoundSubnet> out;
  for (const Impl::Link& link : impl_->links) {
    const ServerSocket& socket = *link.socket;
    for (std::size_t i = 0; i < link.subnets.count; ++i) {
      const Subnet& subnet = impl_->responder->config().subnets[link.subnets.first + i];
      out.push_back({subnet.name, socket.interface().name, subnet.server_id, subnet.cidr, socket.bound()});
    }
  }
  return out;
}

std::vector<dhcp6::Lease> Server::leases6() const {
  return impl_->v6 ? impl_->v6->leases() : std::vector<dhcp6::Lease>();
}

std::vector<BoundSubnet6> Server::bound6() const {
  return impl_->v6 ? impl_->v6->bound() : std::vector<BoundSubnet6>();
}

ServerStats Server::stats() const {
  ServerStats out = impl_->stats;
  out.commits = impl_->store.commits();
  out.commit_failures = impl_->store.failures();
  if (impl_->prober) out.probes = impl_->prober->results();
  const auto usages = impl_->responder ? impl_->responder->usage_by_subnet() : std::vector<Allocator::SubnetUsage>();
  for (std::size_t i = 0; i < usages.size(); ++i) {
    const Allocator::Usage& all = usages[i].all;
    ServerStats::PerSubnet& subnet = out.subnets[impl_->responder->config().subnets[i].name];
    subnet = {all.pool_size, all.bound, all.offered, all.declined, {}};
    for (const auto& [range, usage] : usages[i].pools)
      subnet.pools.push_back({range, usage.pool_size, usage.bound, usage.offered, usage.declined});
  }
  for (const Impl::Link& link : impl_->links) {
    if (!link.shared) continue;
    const SharedLeases::Stats& shared = link.shared->stats();
    out.shared[impl_->responder->config().subnets[link.subnets.first].name] = {
        link.shared->is_ready(), shared.claims, shared.taken, shared.unreadable, shared.losses};
  }
  if (impl_->v6) out.v6 = impl_->v6->stats();
  return out;
}

std::vector<std::string> Server::troubles() const {
  std::vector<std::string> all;
  if (!impl_->is_disk_good) all.push_back("leases can't be written to disk");
  for (const Impl::Link& link : impl_->links) {
    const std::string of = " of " + impl_->responder->config().subnets[link.subnets.first].name;
    if (link.is_lost) all.push_back("the interface" + of + " is lost");
    if (link.shared && !link.shared->is_ready())
      all.push_back("the shared store" + of + " is not reached: " + link.shared->problem());
  }
  if (impl_->v6)
    for (std::string& trouble : impl_->v6->troubles()) all.push_back(std::move(trouble));
  return all;
}

}  // namespace hcpnet::dhcp
