// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <hcpnet/dns/error.hpp>
#include <hcpnet/dns/responder.hpp>
#include <hcpnet/dns/server.hpp>
#include <hcpnet/dns/view.hpp>
#include <optional>
#include <utility>

#include "dns/alias_query.hpp"
#include "dns/forwarder.hpp"
#include "dns/notifier.hpp"
#include "dns/own_addresses.hpp"
#include "dns/query.hpp"
#include "dns/query_handler.hpp"
#include "dns/query_log.hpp"
#include "dns/random_source.hpp"
#include "dns/rate_limiter.hpp"
#include "dns/reply_options.hpp"
#include "dns/request_counters.hpp"
#include "dns/server_cookies.hpp"
#include "dns/snapshot.hpp"
#include "dns/tcp_listener.hpp"
#include "dns/tcp_session.hpp"
#include "dns/transfer.hpp"
#include "dns/udp_listener.hpp"
#include "dns/udp_worker.hpp"
#include "dns/upstream_reply.hpp"
#include "runtime/open_failures.hpp"

namespace hcpnet::dns {

namespace {

namespace asio = boost::asio;
using boost::system::system_error;

std::shared_ptr<const Snapshot> make_snapshot(Config config) {
  check_config(config).value();
  auto views = ViewSet::make(config.views).value();
  return std::make_shared<const Snapshot>(Snapshot{std::move(config), std::move(views)});
}

std::uint32_t seconds_since_1970(const Clock& clock) {
  const auto since = std::chrono::duration_cast<std::chrono::seconds>(clock.system_now().time_since_epoch());
  return static_cast<std::uint32_t>(since.count());
}

/// Building large zones takes several times their memory, in small pieces that the C library keeps for later.
void give_back_memory(const Config& config) noexcept {
  constexpr std::size_t kLargeBytes = std::size_t{1} << 20;
  std::size_t bytes = 0;
  for (const View& view : config.views)
    for (const auto& zone : view.zones) bytes += zone->size_bytes();
#ifdef __GLIBC__
  if (bytes >= kLargeBytes) malloc_trim(0);
#endif
}

/// To how many other upstreams than the first one answer may lead: each may take all of ForwarderOptions::deadline.
constexpr std::size_t kMaxTurns = 2;

/// How often the system may choose a UDP port whose TCP twin is taken.
constexpr int kPortAttempts = 32;

}  // namespace

struct Server::Impl final : QueryHandler, std::enable_shared_from_this<Server::Impl> {
  Impl(asio::any_io_executor on, ServerOptions with)
      : executor(std::move(on)),
        options(std::move(with)),
        timers(std::make_shared<runtime::TimerQueue>(executor, *options.clock)),
        notifier(std::make_shared<Notifier>(executor, timers)),
        sessions{*this, timers, options.max_tcp_connections, options.tcp_idle_timeout} {}
  ~Impl() { close(); }

  void start(Config config);
  void make_workers();
  bool adopt_sockets(const Endpoint& configured);
  void bind(const Endpoint& configured);
  std::shared_ptr<const Snapshot> prepare(Config config) const;
  void adopt(std::shared_ptr<const Snapshot> next);
  void refuse_own_upstreams(const Forwarding& forwarding) const;
  std::vector<Endpoint> bound_endpoints() const;
  void use_forwarding(const Forwarding& forwarding);
  void close();
  std::uint64_t count_lost() const;
  ServerStats stats() const;
  void add_forwarding(ServerStats& stats) const;
  void receive(ByteView query, const IpAddress& client, UdpWorker::Time received, const ReplyLater& later);

  Handled handle(ByteView query, const IpAddress& client, Transport transport, std::span<std::uint8_t> out) override;
  Handled answer(ByteView query, const IpAddress& client, Transport transport, std::span<std::uint8_t> out);
  /// What respond() is to know of a client of the view at `position` that sends `query`.
  QueryContext context_for(ByteView query, std::optional<std::size_t> position, Transport transport,
                           const IpAddress& client);
  /// Whom an upstream's reply is for.
  struct Asker {
    std::shared_ptr<const Snapshot> snapshot;
    std::size_t view = 0;
    IpAddress client;
    std::shared_ptr<Forwarder> forwarder;  ///< for as long as the answer takes, whatever replace() says meanwhile
    std::size_t turns = 0;                 ///< how often the answer has led to other upstreams
  };
  Handled answer_from_cache(ByteView query, Asker from, Transport transport, std::span<std::uint8_t> out);
  [[nodiscard]] bool is_for_no_upstream(ByteView query) const noexcept;
  Handled answer_alias(ByteView query, Asker from, Transport transport, std::span<std::uint8_t> out, std::size_t bytes);
  Handled answer_end(AliasQuery alias, Asker from, std::span<std::uint8_t> out);
  Handled go_on(AliasQuery alias, bool is_ours, Asker from, std::span<std::uint8_t> out);
  void go_on_later(AliasQuery alias, bool is_ours, const Asker& from, const ReplyLater& later);
  std::size_t forward(ByteView query, Transport transport, std::span<std::uint8_t> out, ReplyLater later) override;
  std::size_t ask_upstream(ByteView bytes, const Query& query, Transport transport, std::span<std::uint8_t> out,
                           ReplyLater later);
  std::size_t ask_end(Asker from, std::span<std::uint8_t> out, ReplyLater later);
  static std::optional<BegunReply> find_others_name(const Asker& from, ByteView reply);
  void on_replies(std::size_t count, std::chrono::nanoseconds time) noexcept override {
    requests.add_replies(count, time);
  }
  void on_oversize() noexcept override { ++oversize; }
  void on_send_failure() noexcept override { ++send_failures; }
  void on_tcp_limit() noexcept override { ++tcp_limit; }
  void on_tcp_timeout() noexcept override { ++tcp_timeouts; }
  void count_reply(ByteView reply) noexcept;
  std::shared_ptr<ZoneTransfer> begin_transfer(ByteView query, const IpAddress& client) override;
  /// `response` is what respond() says of the query, which asks for a transfer.
  Handled handle_transfer(ByteView query, const QueryContext& context, const IpAddress& client, Response response,
                          std::span<std::uint8_t> out);
  void notify_of_changes(const Snapshot* before);
  std::optional<IpAddress> own_address_for(const Endpoint& secondary) const;
  void set_limit(const std::optional<RateLimit>& limit);
  /// nullopt: the reply may be sent, or the query forwarded.
  std::optional<Handled> hold_back(ByteView query, const QueryContext& context, const Response& response,
                                   std::span<std::uint8_t> out);
  void log_query(const QueryRecord& record, ByteView query, ByteView reply) const;

  asio::any_io_executor executor;
  ServerOptions options;
  std::shared_ptr<runtime::TimerQueue> timers;
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<Forwarder> forwarder;           ///< null where nothing is forwarded
  std::vector<std::weak_ptr<Forwarder>> retired;  ///< that finish what they have begun
  std::shared_ptr<ForwarderCounters> forwarding = std::make_shared<ForwarderCounters>();
  std::shared_ptr<Notifier> notifier;
  RandomSource random;
  ServerCookies cookies{random};
  std::optional<RateLimiter> limiter;
  std::unique_ptr<UdpBatch> batch = std::make_unique<UdpBatch>();
  TcpSessions sessions;
  std::vector<std::shared_ptr<UdpListener>> udp;
  std::vector<std::shared_ptr<TcpListener>> tcp;
  /// Inherited from a server with more workers.
  std::vector<std::pair<Endpoint, std::shared_ptr<UdpListener>>> surplus;
  std::vector<std::unique_ptr<UdpWorker>> workers;  ///< besides the executor's thread
  std::vector<BoundListener> bound;

  std::array<std::uint64_t, 2> queries{};     ///< by Transport
  std::array<std::uint64_t, 32> responses{};  ///< by RCODE; BADCOOKIE, 23, is the largest we send
  std::array<std::uint64_t, kDropReasons> dropped{};
  std::array<std::uint64_t, kFormatErrors> format_errors{};
  std::vector<std::uint64_t> view_queries;  ///< by position in the snapshot
  std::uint64_t no_view = 0;
  RequestCounters requests;
  std::optional<QueryRecord> logged;  ///< of the query that forward() will be called with
  std::optional<AliasQuery> aliases;  ///< the same
  Asker asker;                        ///< the same
  std::vector<std::uint8_t> scratch = std::vector<std::uint8_t>(kMaxMessageBytes);  ///< what an upstream said
  std::map<std::string, std::uint64_t> earlier_views;                               ///< of snapshots before
  std::array<std::uint64_t, 4> cookie_states{};                                     ///< by CookieState
  std::uint64_t chains_cut = 0;
  std::uint64_t transfers = 0;
  std::uint64_t transfers_refused = 0;
  std::uint64_t rate_limited = 0;
  std::uint64_t rate_shortened = 0;
  std::uint64_t oversize = 0;
  std::uint64_t send_failures = 0;
  std::uint64_t tcp_limit = 0;
  std::uint64_t tcp_timeouts = 0;
  std::uint64_t lost_until_closed = 0;
};

void Server::Impl::start(Config config) {
  set_serials(config, {}, seconds_since_1970(*options.clock));
  auto next = make_snapshot(std::move(config));
  try {
    make_workers();
    runtime::OpenFailures failures;
    for (const Endpoint& listener : next->config.listeners) failures.attempt([&] { bind(listener); });
    failures.throw_any();
    refuse_own_upstreams(next->config.forwarding);
    adopt(std::move(next));
    for (const auto& worker : workers) worker->start();
  } catch (...) {
    close();
    workers.clear();
    bound.clear();
    throw;
  }
  for (const auto& listener : udp) listener->start();
  for (const auto& listener : surplus) listener.second->start();
  for (const auto& listener : tcp) listener->start();
  give_back_memory(snapshot->config);
}

void Server::Impl::make_workers() {
  for (std::size_t i = 1; i < options.workers; ++i)
    workers.push_back(std::make_unique<UdpWorker>(
        executor,
        [weak = weak_from_this()](ByteView query, const IpAddress& client, UdpWorker::Time received,
                                  const ReplyLater& later) {
          if (const auto self = weak.lock()) self->receive(query, client, received, later);
        },
        options.udp_receive_buffer_bytes));
}

/// False: there are none for it.
bool Server::Impl::adopt_sockets(const Endpoint& configured) {
  if (!options.inherited) return false;
  auto datagrams = options.inherited->take(SocketKind::datagram, configured);
  auto streams = options.inherited->take(SocketKind::stream, configured);
  if (datagrams.empty() || streams.empty()) return false;
  tcp.push_back(
      std::make_shared<TcpListener>(executor, std::move(streams.front()), configured.address.is_v4(), sessions));
  // Each is read, or what waits in it would be lost; where there are more workers some read the same.
  const std::size_t count = datagrams.size();
  for (std::size_t i = count; i <= workers.size(); ++i)
    datagrams.push_back(FileDescriptor::copy_of(datagrams[i - count].get()));
  const auto read = [&](FileDescriptor socket) {
    return std::make_shared<UdpListener>(executor, configured, std::move(socket), options.udp_receive_buffer_bytes,
                                         *this, *batch);
  };
  udp.push_back(read(std::move(datagrams.front())));
  for (std::size_t i = 1; i <= workers.size(); ++i) workers[i - 1]->adopt(configured, std::move(datagrams[i]));
  for (std::size_t i = workers.size() + 1; i < datagrams.size(); ++i)
    surplus.emplace_back(configured, read(std::move(datagrams[i])));
  bound.push_back({configured, {configured.address, udp.back()->port()}});
  return true;
}

void Server::Impl::bind(const Endpoint& configured) {
  if (adopt_sockets(configured)) return;
  const auto mapped = options.port_map.find(configured.port);
  Endpoint wanted = configured;
  if (mapped != options.port_map.end()) wanted.port = mapped->second;
  for (int attempt = 1;; ++attempt) {
    const char* protocol = "UDP ";
    try {
      const PortSharing sharing = workers.empty() ? PortSharing::exclusive : PortSharing::shared;
      auto datagrams =
          std::make_shared<UdpListener>(executor, wanted, sharing, options.udp_receive_buffer_bytes, *this, *batch);
      const Endpoint same_port{wanted.address, datagrams->port()};
      protocol = "TCP ";
      // Shared or not, the TCP port is ours alone, and so nobody else's server can share the UDP port unnoticed.
      auto streams = std::make_shared<TcpListener>(executor, same_port, sessions);
      protocol = "UDP ";
      for (const auto& worker : workers) worker->bind(same_port);
      udp.push_back(std::move(datagrams));
      tcp.push_back(std::move(streams));
      bound.push_back({configured, same_port});
      return;
    } catch (const system_error& e) {
      if (wanted.port == 0 && e.code() == asio::error::address_in_use && attempt < kPortAttempts) continue;
      throw system_error(e.code(), "dns: cannot listen on " + (protocol + wanted.to_string()));
    }
  }
}

std::vector<Endpoint> Server::Impl::bound_endpoints() const {
  std::vector<Endpoint> endpoints;
  for (const BoundListener& listener : bound) endpoints.push_back(listener.bound);
  return endpoints;
}

void Server::Impl::refuse_own_upstreams(const Forwarding& wanted) const {
  const auto refuse = [own = bound_endpoints()](const std::vector<Endpoint>& upstreams) {
    for (const Endpoint& upstream : upstreams)
      if (is_own_endpoint(own, upstream))
        throw system_error(make_error_code(Errc::upstream_is_self), "dns: upstream " + upstream.to_string());
  };
  refuse(wanted.upstreams);
  for (const ZoneForwarding& zone : wanted.zones) refuse(zone.upstreams);
}

std::shared_ptr<const Snapshot> Server::Impl::prepare(Config config) const {
  if (config.transfer.is_enabled())
    set_serials(config, ZoneIndex(snapshot->config), seconds_since_1970(*options.clock));
  auto next = make_snapshot(std::move(config));
  refuse_own_upstreams(next->config.forwarding);
  return next;
}

void Server::Impl::adopt(std::shared_ptr<const Snapshot> next) {
  for (std::size_t i = 0; i < view_queries.size(); ++i) earlier_views[snapshot->views[i].name()] += view_queries[i];
  for (const auto& worker : workers) {
    const std::vector<std::uint64_t> counted = worker->replace(next);
    for (std::size_t i = 0; i < view_queries.size(); ++i) earlier_views[snapshot->views[i].name()] += counted[i];
  }
  view_queries.assign(next->views.size(), 0);
  const auto before = std::exchange(snapshot, std::move(next));
  notify_of_changes(before.get());
  set_limit(snapshot->config.rate_limit);
  use_forwarding(snapshot->config.forwarding);
}

void Server::Impl::use_forwarding(const Forwarding& wanted) {
  if (forwarder && forwarder->forwarding() == wanted) return;
  std::erase_if(retired, [](const auto& old) { return old.expired(); });
  if (forwarder) retired.push_back(forwarder);
  forwarder.reset();
  if (!wanted.is_enabled()) return;
  ForwarderOptions with{options.max_pending_forwards,
                        options.upstream_timeout,
                        options.forward_deadline,
                        options.max_cache_bytes,
                        options.resolv_conf_path,
                        [listeners = bound_endpoints()](const Endpoint& e) { return is_own_endpoint(listeners, e); },
                        options.log};
  forwarder = std::make_shared<Forwarder>(executor, timers, wanted, std::move(with), forwarding);
}

/// Precondition: not closed.
std::uint64_t Server::Impl::count_lost() const {
  LostDatagrams lost;
  for (const auto& worker : workers) worker->add_lost(lost);
  for (const auto& listener : udp) listener->add_lost(lost);
  for (const auto& listener : surplus) listener.second->add_lost(lost);
  std::uint64_t sum = 0;
  for (const auto& [socket, datagrams] : lost) sum += datagrams;
  return sum;
}

void Server::Impl::close() {
  if (!udp.empty()) lost_until_closed = count_lost();
  for (const auto& worker : workers) worker->stop();
  for (const auto& listener : udp) listener->close();
  for (const auto& listener : surplus) listener.second->close();
  surplus.clear();
  for (const auto& listener : tcp) listener->close();
  udp.clear();
  tcp.clear();
  sessions.close_all();
  notifier->stop();
  if (forwarder) forwarder->stop();
  for (const auto& old : retired)
    if (const auto alive = old.lock()) alive->stop();
  retired.clear();
}

QueryHandler::Handled Server::Impl::handle(ByteView query, const IpAddress& client, Transport transport,
                                           std::span<std::uint8_t> out) {
  if (!snapshot->config.query_log || !options.log.is_enabled()) {
    const Handled handled = answer(query, client, transport, out);
    if (handled.bytes > 0) requests.add_reply_size(transport, handled.bytes);
    return handled;
  }
  QueryRecord record{client, transport, {}, options.clock->steady_now(), "none"};
  if (const auto view = snapshot->views.find(client)) record.view = snapshot->views[*view].name();
  const std::uint64_t hits = forwarding->cache_hits;
  const Handled handled = answer(query, client, transport, out);
  if (handled.bytes > 0) requests.add_reply_size(transport, handled.bytes);
  record.source = handled.must_transfer           ? "transfer"
                  : handled.bytes == 0            ? "none"
                  : forwarding->cache_hits > hits ? "cache"
                                                  : "zone";
  if (handled.must_forward)
    logged = record;  // forward() follows at once
  else
    log_query(record, query, out.first(handled.bytes));
  return handled;
}

void Server::Impl::log_query(const QueryRecord& record, ByteView query, ByteView reply) const {
  options.log.info("query", query_fields(record, query, reply, options.clock->steady_now()));
}

QueryHandler::Handled Server::Impl::answer(ByteView query, const IpAddress& client, Transport transport,
                                           std::span<std::uint8_t> out) {
  ++queries[static_cast<std::size_t>(transport)];
  aliases.reset();
  const auto position = snapshot->views.find(client);
  ++(position ? view_queries[*position] : no_view);
  const QueryContext context = context_for(query, position, transport, client);
  Response response = respond(query, context, out);
  if (response.verdict == Response::Verdict::forward && response.bytes == 0 && is_for_no_upstream(query)) {
    response.verdict = Response::Verdict::reply;
    response.rcode = Rcode::refused;
    response.kind = ReplyKind::error;
    response.bytes = respond_with_error(query, response.rcode, context, out);
  }
  requests.add_query(transport, client, response.type, query.size());
  ++cookie_states[static_cast<std::size_t>(response.cookie)];
  if (response.rcode == Rcode::refused && snapshot->config.transfer.is_enabled() && asks_for_transfer(query))
    return handle_transfer(query, context, client, response, out);
  if (limiter && response.verdict != Response::Verdict::drop)
    if (const auto held = hold_back(query, context, response, out)) return *held;
  if (response.verdict == Response::Verdict::forward && response.bytes > 0)
    return answer_alias(query, {snapshot, *position, client, forwarder}, transport, out, response.bytes);
  switch (response.verdict) {
    case Response::Verdict::reply:
      ++responses[static_cast<std::size_t>(response.rcode)];
      ++format_errors[static_cast<std::size_t>(response.format_error)];
      if (response.is_chain_cut) ++chains_cut;
      return {response.bytes, false};
    case Response::Verdict::drop:
      ++dropped[static_cast<std::size_t>(response.drop_reason)];
      return {};
    case Response::Verdict::forward:
      break;
  }
  return answer_from_cache(query, {snapshot, *position, client, forwarder}, transport, out);
}

QueryContext Server::Impl::context_for(ByteView query, std::optional<std::size_t> position, Transport transport,
                                       const IpAddress& client) {
  QueryContext context = snapshot->context(position, transport, client);
  if (snapshot->config.cookies && may_have_options(query)) {
    context.client = client;
    context.now = seconds_since_1970(*options.clock);
    context.cookies = &cookies.at(context.now);
  } else if (limiter) {
    context.client = client;
  }
  return context;
}

/// Nobody is to be asked for the name of a query that could be forwarded.
bool Server::Impl::is_for_no_upstream(ByteView bytes) const noexcept {
  const Forwarding& to = snapshot->config.forwarding;
  if (to.resolv_conf || !to.upstreams.empty()) return false;  // spares reading the query once more
  Query query;
  return !read_query(bytes, query) && !to.is_responsible_for(query.name);
}

/// Our part, which is in `out`, ends with an alias of a name that an upstream knows.
QueryHandler::Handled Server::Impl::answer_alias(ByteView query, Asker from, Transport transport,
                                                 std::span<std::uint8_t> out, std::size_t bytes) {
  AliasQuery alias(query, ByteView(out).first(bytes), transport);
  if (!snapshot->config.forwarding.is_responsible_for(alias.query().name)) {
    count_reply(out.first(bytes));
    return {bytes, false};
  }
  const Handled handled = answer_end(std::move(alias), std::move(from), out);
  if (handled.bytes > 0) count_reply(out.first(handled.bytes));
  return handled;
}

/// What the upstreams say of the end of `alias`, as far as it is known already.
QueryHandler::Handled Server::Impl::answer_end(AliasQuery alias, Asker from, std::span<std::uint8_t> out) {
  const std::size_t size = from.forwarder->answer_from_cache(alias.query(), Transport::tcp, scratch);
  if (size == 0) {
    aliases.emplace(std::move(alias));  // forward() or go_on_later() follows at once
    asker = std::move(from);
    return {0, true};
  }
  const ByteView told = ByteView(scratch).first(size);
  if (const auto begun = find_others_name(from, told))
    return go_on(alias.then(begun->bytes), begun->is_ours, std::move(from), out);
  return {alias.complete(told, out), false};
}

/// The end of `alias` is for others to tell than for those who told of it: for our zones, or other upstreams.
QueryHandler::Handled Server::Impl::go_on(AliasQuery alias, bool is_ours, Asker from, std::span<std::uint8_t> out) {
  if (is_ours) {
    std::vector<std::uint8_t> rest(kMaxMessageBytes);
    const QueryContext context = from.snapshot->context(from.view, Transport::tcp, from.client);
    rest.resize(respond(alias.bytes(), context, rest).bytes);
    return {alias.complete(rest, out), false};
  }
  if (from.turns == kMaxTurns) {
    ++chains_cut;
    return {alias.complete({}, out), false};
  }
  ++from.turns;
  return answer_end(std::move(alias), std::move(from), out);
}

QueryHandler::Handled Server::Impl::handle_transfer(ByteView query, const QueryContext& context,
                                                    const IpAddress& client, Response response,
                                                    std::span<std::uint8_t> out) {
  const auto& clients = snapshot->config.transfer.clients;
  const bool may =
      context.view != nullptr && std::ranges::any_of(clients, [&](const Cidr& c) { return c.contains(client); });
  TransferStart started;
  if (may) started = start_transfer(query, context.transport, *context.view, snapshot);
  response.kind = started.rcode == Rcode::noerror ? ReplyKind::answer : ReplyKind::error;
  if (limiter)
    if (const auto held = hold_back(query, context, response, out)) return *held;
  ++responses[static_cast<std::size_t>(started.rcode)];
  ++format_errors[static_cast<std::size_t>(started.format_error)];
  if (started.rcode == Rcode::refused) ++transfers_refused;
  if (started.rcode != Rcode::noerror) return {respond_with_error(query, started.rcode, context, out), false};
  ++transfers;
  if (context.transport == Transport::udp) return {respond_with_soa(query, context, out), false};
  return {0, false, true};
}

std::shared_ptr<ZoneTransfer> Server::Impl::begin_transfer(ByteView query, const IpAddress& client) {
  const auto position = snapshot->views.find(client);
  if (!position) return nullptr;
  return start_transfer(query, Transport::tcp, snapshot->views[*position], snapshot).transfer;
}

/// The one address of the secondary's family on which we listen; with several the kernel knows better which of them
/// leads there.
std::optional<IpAddress> Server::Impl::own_address_for(const Endpoint& secondary) const {
  std::optional<IpAddress> only;
  for (const BoundListener& listener : bound) {
    const IpAddress& own = listener.bound.address;
    if (own.is_v4() != secondary.address.is_v4() || own.is_loopback() != secondary.address.is_loopback()) continue;
    if (own.is_unspecified() || (only && *only != own)) return std::nullopt;
    only = own;
  }
  return only;
}

/// Each secondary hears of the zones of its own view: those are what it would transfer.
void Server::Impl::notify_of_changes(const Snapshot* before) {
  if (snapshot->config.transfer.notify.empty()) return;
  const ZoneIndex known = before != nullptr ? ZoneIndex(before->config) : ZoneIndex();
  for (const Endpoint& secondary : snapshot->config.transfer.notify) {
    const auto position = snapshot->views.find(secondary.address);
    if (!position) continue;
    const View& view = snapshot->config.views[*position];
    for (const auto& zone : view.zones)
      if (zone->is_available() && known.find(view.name, zone->apex()) != zone)
        notifier->notify(secondary, own_address_for(secondary), *zone);
  }
}

std::optional<QueryHandler::Handled> Server::Impl::hold_back(ByteView query, const QueryContext& context,
                                                             const Response& response, std::span<std::uint8_t> out) {
  // Who uses TCP, or shows a cookie of ours, has its own address.
  if (context.transport == Transport::tcp || response.cookie == CookieState::valid) return std::nullopt;
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(options.clock->steady_now().time_since_epoch());
  switch (limiter->check(context.client, response.kind, static_cast<std::uint64_t>(now.count()))) {
    case RateLimiter::Verdict::send:
      return std::nullopt;
    case RateLimiter::Verdict::drop:
      ++rate_limited;
      return Handled{};
    case RateLimiter::Verdict::shorten:
      break;
  }
  if (response.kind == ReplyKind::error) return std::nullopt;  // no reply is shorter
  ++rate_shortened;
  const bool has_cookie = response.cookie != CookieState::none;
  ++responses[static_cast<std::size_t>(has_cookie ? Rcode::badcookie : Rcode::noerror)];
  return Handled{respond_with_less(query, context, out), false};
}

void Server::Impl::set_limit(const std::optional<RateLimit>& limit) {
  if (limiter ? limit == limiter->limit() : !limit) return;  // what has been counted stays
  limiter.reset();
  if (!limit) return;
  SipKey key;
  for (std::uint8_t& byte : key) byte = static_cast<std::uint8_t>(random.u16());
  limiter.emplace(*limit, key);
}

QueryHandler::Handled Server::Impl::answer_from_cache(ByteView bytes, Asker from, Transport transport,
                                                      std::span<std::uint8_t> out) {
  Query query;
  if (read_query(bytes, query)) return {};  // respond() has read it before
  const ReplyOptions own_options(query, context_for(bytes, from.view, transport, from.client));
  query.reply_options = own_options.bytes();
  Handled handled{forwarder->answer_from_cache(query, transport, out), false};
  if (handled.bytes == 0) {
    asker = std::move(from);  // forward() follows at once
    return {0, true};
  }
  if (const auto begun = find_others_name(from, out.first(handled.bytes)))
    handled = go_on(AliasQuery(bytes, begun->bytes, transport), begun->is_ours, std::move(from), out);
  if (handled.bytes > 0) count_reply(out.first(handled.bytes));
  return handled;
}

std::size_t Server::Impl::forward(ByteView bytes, Transport transport, std::span<std::uint8_t> out, ReplyLater later) {
  Query query;
  if (read_query(bytes, query)) return 0;  // respond() has read it before
  // A client that has had a cookie of ours believes no reply without (RFC 7873 section 5.3).
  const ReplyOptions own_options(query, context_for(bytes, asker.view, transport, asker.client));
  query.reply_options = own_options.bytes();
  // Whoever holds this reply is told to drop it in close(), before this object ends.
  auto record = std::exchange(logged, std::nullopt);
  if (record) record->source = "upstream";
  std::vector<std::uint8_t> asked;
  if (record) asked.assign(bytes.begin(), bytes.end());
  auto counted = [this, record, transport, asked = std::move(asked), received = options.clock->steady_now(),
                  later = std::move(later)](ByteView reply) {
    count_reply(reply);
    requests.add_reply_size(transport, reply.size());
    requests.add_replies(1, options.clock->steady_now() - received);
    if (record) log_query(*record, asked, reply);
    later(reply);
  };
  const std::size_t size = ask_upstream(bytes, query, transport, out, std::move(counted));
  if (size > 0) {
    count_reply(out.first(size));
    requests.add_reply_size(transport, size);
  }
  if (size > 0 && record) log_query(*record, bytes, out.first(size));
  return size;
}

std::size_t Server::Impl::ask_upstream(ByteView bytes, const Query& query, Transport transport,
                                       std::span<std::uint8_t> out, ReplyLater later) {
  auto from = std::exchange(asker, {});
  if (aliases) return ask_end(std::move(from), out, std::move(later));
  auto told = [this, from = std::move(from), transport, asked = std::vector(bytes.begin(), bytes.end()),
               later = std::move(later)](ByteView reply) {
    if (const auto begun = find_others_name(from, reply))
      go_on_later(AliasQuery(asked, begun->bytes, transport), begun->is_ours, from, later);
    else
      later(reply);
  };
  return forwarder->ask(bytes, query, transport, out, std::move(told));  // at once only where it failed
}

/// Asks for the end of `aliases`.
std::size_t Server::Impl::ask_end(Asker from, std::span<std::uint8_t> out, ReplyLater later) {
  const auto alias = std::make_shared<const AliasQuery>(std::move(*aliases));
  aliases.reset();
  const std::shared_ptr<Forwarder> upstreams = from.forwarder;
  auto told = [this, alias, from = std::move(from), later = std::move(later)](ByteView reply) {
    if (const auto begun = find_others_name(from, reply))
      go_on_later(alias->then(begun->bytes), begun->is_ours, from, later);
    else
      later(ByteView(scratch).first(alias->complete(reply, scratch)));
  };
  const std::size_t size = upstreams->ask(alias->bytes(), alias->query(), Transport::tcp, scratch, std::move(told));
  return size == 0 ? 0 : alias->complete(ByteView(scratch).first(size), out);
}

/// As go_on(), for a client that waits.
void Server::Impl::go_on_later(AliasQuery alias, bool is_ours, const Asker& from, const ReplyLater& later) {
  std::vector<std::uint8_t> out(kMaxMessageBytes);
  Handled handled = go_on(std::move(alias), is_ours, from, out);
  if (handled.must_forward) handled.bytes = ask_end(std::exchange(asker, {}), out, later);
  if (handled.bytes > 0) later(ByteView(out).first(handled.bytes));
}

/// Where an upstream's reply leads to a name of which it has no say.
std::optional<BegunReply> Server::Impl::find_others_name(const Asker& from, ByteView reply) {
  return up_to_others_name(reply, from.snapshot->views[from.view], from.snapshot->config.forwarding);
}

void Server::Impl::count_reply(ByteView reply) noexcept {
  ++responses[reply[3] & flag::kRcode];
}

/// What a worker has passed on is seen here as if it had come to this thread.
void Server::Impl::receive(ByteView query, const IpAddress& client, UdpWorker::Time received, const ReplyLater& later) {
  if (udp.empty()) return;  // closed
  std::array<std::uint8_t, kMaxUdpBytes> out;
  Handled handled = handle(query, client, Transport::udp, out);
  if (handled.must_forward) handled.bytes = forward(query, Transport::udp, out, later);
  if (handled.bytes == 0) return;
  later(ByteView(out).first(handled.bytes));
  requests.add_replies(1, std::chrono::steady_clock::now() - received);
}

ServerStats Server::Impl::stats() const {
  ServerStats stats;
  WorkerCounters total;
  total.views.resize(view_queries.size());
  for (const auto& worker : workers) total += worker->counters();
  stats.queries_udp = queries[static_cast<std::size_t>(Transport::udp)] + total.queries;
  stats.queries_tcp = queries[static_cast<std::size_t>(Transport::tcp)];
  for (std::size_t code = 0; code < responses.size(); ++code)
    if (const std::uint64_t count = responses[code] + total.responses[code]; count > 0)
      stats.responses[to_string(static_cast<Rcode>(code))] = count;
  stats.by_view = earlier_views;
  for (std::size_t i = 0; i < view_queries.size(); ++i)
    stats.by_view[snapshot->views[i].name()] += view_queries[i] + total.views[i];
  if (no_view + total.no_view > 0) stats.by_view[""] = no_view + total.no_view;
  for (std::size_t i = 0; i < dropped.size(); ++i)
    stats.dropped[std::string(to_string(static_cast<DropReason>(i)))] = dropped[i] + total.dropped[i];
  for (std::size_t i = 1; i < format_errors.size(); ++i)
    stats.format_errors[std::string(to_string(static_cast<FormatError>(i)))] =
        format_errors[i] + total.format_errors[i];
  stats.dropped["oversize"] = oversize + total.oversize;
  stats.dropped["receive_buffer"] = udp.empty() ? lost_until_closed : count_lost();  // empty: closed
  stats.dropped["send_failed"] = send_failures + total.send_failures;
  stats.dropped["handover_limit"] = total.handover_refused;
  stats.dropped["transfer_refused"] = transfers_refused;
  stats.dropped["notify_limit"] = notifier->counters().limited;
  stats.chains_cut = chains_cut + total.chains_cut;
  stats.transfers = transfers;
  stats.notifies_sent = notifier->counters().sent;
  stats.notifies_acknowledged = notifier->counters().acknowledged;
  stats.notifies_failed = notifier->counters().failed;
  stats.dropped["rate_limited"] = rate_limited;
  stats.dropped["rate_shortened"] = rate_shortened;
  stats.cookies = {{"client_only", cookie_states[static_cast<std::size_t>(CookieState::client_only)]},
                   {"invalid", cookie_states[static_cast<std::size_t>(CookieState::invalid)]},
                   {"valid", cookie_states[static_cast<std::size_t>(CookieState::valid)]}};
  stats.dropped["tcp_limit"] = tcp_limit;
  stats.dropped["tcp_timeout"] = tcp_timeouts;
  stats.tcp_connections = sessions.open.size();
  RequestCounters all = requests;
  all += total.requests;
  all.add_to(stats);
  add_forwarding(stats);
  return stats;
}

void Server::Impl::add_forwarding(ServerStats& stats) const {
  stats.dropped["forward_limit"] = forwarding->refused_limit;
  stats.dropped["foreign_reply"] = forwarding->foreign_replies;
  stats.dropped["own_upstream"] = forwarding->own_upstreams;
  stats.forwarded = forwarding->forwarded;
  stats.forward_failures = forwarding->failures;
  stats.cache_hits = forwarding->cache_hits;
  stats.coalesced = forwarding->coalesced;
  stats.cache_misses = forwarding->cache_misses;
  stats.stale_answers = forwarding->stale;
  stats.prefetches = forwarding->prefetches;
  stats.upstream_probes = forwarding->probes;
  stats.case_changed = forwarding->case_changed;
  for (const auto& [upstream, replies] : forwarding->replies) stats.upstream_replies[upstream.to_string()] = replies;
  for (const auto& [upstream, times] : forwarding->times) stats.upstream_durations[upstream.to_string()] = times;
  stats.pending_forwards = forwarding->pending;
  if (!forwarder) return;
  stats.cache_entries = forwarder->cache().entries();
  stats.cache_bytes = forwarder->cache().bytes();
  stats.cache_evictions = forwarder->cache().evictions();
}

Server::Server(asio::any_io_executor executor, ServerOptions options)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(options))) {}

Server::~Server() {
  impl_->close();
}

void Server::start(Config config) {
  impl_->start(std::move(config));
}

void Server::replace(Config config) {
  commit(prepare(std::move(config)));
}

std::shared_ptr<const Snapshot> Server::prepare(Config config) const {
  return impl_->prepare(std::move(config));
}

void Server::commit(std::shared_ptr<const Snapshot> next) {
  impl_->adopt(std::move(next));
  give_back_memory(impl_->snapshot->config);
}

void Server::stop(std::function<void()> done) {
  impl_->close();
  if (done) asio::post(impl_->executor, std::move(done));
}

std::vector<BoundListener> Server::listeners() const {
  return impl_->bound;
}

std::vector<ListeningSocket> Server::sockets() const {
  std::vector<ListeningSocket> all;
  for (std::size_t i = 0; i < impl_->udp.size() && i < impl_->bound.size(); ++i) {
    const Endpoint& configured = impl_->bound[i].configured;
    all.push_back({SocketKind::datagram, configured, impl_->udp[i]->descriptor()});
    for (const auto& worker : impl_->workers) all.push_back({SocketKind::datagram, configured, worker->descriptor(i)});
    all.push_back({SocketKind::stream, configured, impl_->tcp[i]->descriptor()});
  }
  for (const auto& [configured, listener] : impl_->surplus)
    all.push_back({SocketKind::datagram, configured, listener->descriptor()});
  return all;
}

ServerStats Server::stats() const {
  return impl_->stats();
}

std::shared_ptr<const Snapshot> Server::snapshot() const {
  return impl_->snapshot;
}

const Config& Server::config() const {
  return impl_->snapshot->config;
}

}  // namespace hcpnet::dns
