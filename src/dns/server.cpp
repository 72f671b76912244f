// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <hcpnet/dns/error.hpp>
#include <hcpnet/dns/responder.hpp>
#include <hcpnet/dns/server.hpp>
#include <hcpnet/dns/view.hpp>
#include <optional>
#include <utility>

#include "dns/forwarder.hpp"
#include "dns/own_addresses.hpp"
#include "dns/query.hpp"
#include "dns/query_handler.hpp"
#include "dns/query_log.hpp"
#include "dns/tcp_listener.hpp"
#include "dns/tcp_session.hpp"
#include "dns/udp_listener.hpp"

namespace hcpnet::dns {
namespace {

namespace asio = boost::asio;
using boost::system::system_error;

/// What answers come from; replaced whole.
struct Snapshot {
  Config config;
  ViewSet views;
};

std::shared_ptr<const Snapshot> make_snapshot(Config config) {
  check_config(config).value();
  auto views = ViewSet::make(config.views).value();
  return std::make_shared<const Snapshot>(Snapshot{std::move(config), std::move(views)});
}

/// How often the system may choose a UDP port whose TCP twin is taken.
constexpr int kPortAttempts = 32;

}  // namespace

struct Server::Impl final : QueryHandler {
  Impl(asio::any_io_executor on, ServerOptions with)
      : executor(std::move(on)),
        options(std::move(with)),
        timers(std::make_shared<runtime::TimerQueue>(executor, *options.clock)),
        sessions{*this, timers, options.max_tcp_connections, options.tcp_idle_timeout} {}
  ~Impl() { close(); }

  void start(Config config);
  void bind(const Endpoint& configured);
  void replace(Config config);
  void adopt(std::shared_ptr<const Snapshot> next);
  void refuse_own_upstreams(const Forwarding& forwarding) const;
  std::vector<Endpoint> bound_endpoints() const;
  void use_forwarding(const Forwarding& forwarding);
  void close();
  ServerStats stats() const;
  void add_forwarding(ServerStats& stats) const;

  Handled handle(ByteView query, const IpAddress& client, Transport transport, std::span<std::uint8_t> out) override;
  Handled answer(ByteView query, const IpAddress& client, Transport transport, std::span<std::uint8_t> out);
  Handled answer_from_cache(ByteView query, Transport transport, std::span<std::uint8_t> out);
  std::size_t forward(ByteView query, Transport transport, std::span<std::uint8_t> out, ReplyLater later) override;
  void on_oversize() noexcept override { ++oversize; }
  void on_send_failure() noexcept override { ++send_failures; }
  void on_tcp_limit() noexcept override { ++tcp_limit; }
  void on_tcp_timeout() noexcept override { ++tcp_timeouts; }
  void count_reply(ByteView reply) noexcept;
  void log_query(const QueryRecord& record, ByteView query, ByteView reply) const;

  asio::any_io_executor executor;
  ServerOptions options;
  std::shared_ptr<runtime::TimerQueue> timers;
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<Forwarder> forwarder;           ///< null where nothing is forwarded
  std::vector<std::weak_ptr<Forwarder>> retired;  ///< that finish what they have begun
  std::shared_ptr<ForwarderCounters> forwarding = std::make_shared<ForwarderCounters>();
  std::unique_ptr<UdpBatch> batch = std::make_unique<UdpBatch>();
  TcpSessions sessions;
  std::vector<std::shared_ptr<UdpListener>> udp;
  std::vector<std::shared_ptr<TcpListener>> tcp;
  std::vector<BoundListener> bound;

  std::array<std::uint64_t, 2> queries{};     ///< by Transport
  std::array<std::uint64_t, 32> responses{};  ///< by RCODE; BADVERS, 16, is the largest we send
  std::array<std::uint64_t, kDropReasons> dropped{};
  std::vector<std::uint64_t> view_queries;  ///< by position in the snapshot
  std::uint64_t no_view = 0;
  std::optional<QueryRecord> logged;                   ///< of the query that forward() will be called with
  std::map<std::string, std::uint64_t> earlier_views;  ///< of snapshots before
  std::uint64_t oversize = 0;
  std::uint64_t send_failures = 0;
  std::uint64_t tcp_limit = 0;
  std::uint64_t tcp_timeouts = 0;
};

void Server::Impl::start(Config config) {
  auto next = make_snapshot(std::move(config));
  try {
    for (const Endpoint& listener : next->config.listeners) bind(listener);
    refuse_own_upstreams(next->config.forwarding);
  } catch (...) {
    close();
    bound.clear();
    throw;
  }
  adopt(std::move(next));
  for (const auto& listener : udp) listener->start();
  for (const auto& listener : tcp) listener->start();
}

void Server::Impl::bind(const Endpoint& configured) {
  const auto mapped = options.port_map.find(configured.port);
  Endpoint wanted = configured;
  if (mapped != options.port_map.end()) wanted.port = mapped->second;
  for (int attempt = 1;; ++attempt) {
    const char* protocol = "UDP ";
    try {
      auto datagrams = std::make_shared<UdpListener>(executor, wanted, *this, *batch);
      const Endpoint same_port{wanted.address, datagrams->port()};
      protocol = "TCP ";
      auto streams = std::make_shared<TcpListener>(executor, same_port, sessions);
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

void Server::Impl::replace(Config config) {
  auto next = make_snapshot(std::move(config));
  refuse_own_upstreams(next->config.forwarding);
  adopt(std::move(next));
}

void Server::Impl::adopt(std::shared_ptr<const Snapshot> next) {
  for (std::size_t i = 0; i < view_queries.size(); ++i) earlier_views[snapshot->views[i].name()] += view_queries[i];
  view_queries.assign(next->views.size(), 0);
  snapshot = std::move(next);
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

void Server::Impl::close() {
  for (const auto& listener : udp) listener->close();
  for (const auto& listener : tcp) listener->close();
  udp.clear();
  tcp.clear();
  sessions.close_all();
  if (forwarder) forwarder->stop();
  for (const auto& old : retired)
    if (const auto alive = old.lock()) alive->stop();
  retired.clear();
}

QueryHandler::Handled Server::Impl::handle(ByteView query, const IpAddress& client, Transport transport,
                                           std::span<std::uint8_t> out) {
  if (!snapshot->config.query_log || !options.log.is_enabled()) return answer(query, client, transport, out);
  QueryRecord record{client, transport, {}, options.clock->steady_now(), "none"};
  if (const auto view = snapshot->views.find(client)) record.view = snapshot->views[*view].name();
  const std::uint64_t hits = forwarding->cache_hits;
  const Handled handled = answer(query, client, transport, out);
  record.source = handled.bytes == 0 ? "none" : forwarding->cache_hits > hits ? "cache" : "zone";
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
  const auto position = snapshot->views.find(client);
  ++(position ? view_queries[*position] : no_view);
  const QueryContext context{position ? &snapshot->views[*position] : nullptr, transport,
                             forwarder && position && snapshot->views[*position].may_forward(client)};
  const Response response = respond(query, context, out);
  switch (response.verdict) {
    case Response::Verdict::reply:
      ++responses[static_cast<std::size_t>(response.rcode)];
      return {response.bytes, false};
    case Response::Verdict::drop:
      ++dropped[static_cast<std::size_t>(response.drop_reason)];
      return {};
    case Response::Verdict::forward:
      break;
  }
  return answer_from_cache(query, transport, out);
}

QueryHandler::Handled Server::Impl::answer_from_cache(ByteView bytes, Transport transport,
                                                      std::span<std::uint8_t> out) {
  Query query;
  if (read_query(bytes, query)) return {};  // respond() has read it before
  if (!forwarder->is_responsible_for(query.name)) {
    const std::size_t refused = respond_with_error(bytes, Rcode::refused, {nullptr, transport, true}, out);
    count_reply(out.first(refused));
    return {refused, false};
  }
  const std::size_t size = forwarder->answer_from_cache(query, transport, out);
  if (size == 0) return {0, true};
  count_reply(out.first(size));
  return {size, false};
}

std::size_t Server::Impl::forward(ByteView bytes, Transport transport, std::span<std::uint8_t> out, ReplyLater later) {
  Query query;
  if (read_query(bytes, query)) return 0;  // respond() has read it before
  // Whoever holds this reply is told to drop it in close(), before this object ends.
  auto record = std::exchange(logged, std::nullopt);
  if (record) record->source = "upstream";
  std::vector<std::uint8_t> asked;
  if (record) asked.assign(bytes.begin(), bytes.end());
  auto counted = [this, record, asked = std::move(asked), later = std::move(later)](ByteView reply) {
    count_reply(reply);
    if (record) log_query(*record, asked, reply);
    later(reply);
  };
  const std::size_t size = forwarder->ask(bytes, query, transport, out, std::move(counted));
  if (size > 0) count_reply(out.first(size));
  if (size > 0 && record) log_query(*record, bytes, out.first(size));
  return size;
}

void Server::Impl::count_reply(ByteView reply) noexcept {
  ++responses[reply[3] & flag::kRcode];
}

ServerStats Server::Impl::stats() const {
  ServerStats stats;
  stats.queries_udp = queries[static_cast<std::size_t>(Transport::udp)];
  stats.queries_tcp = queries[static_cast<std::size_t>(Transport::tcp)];
  for (std::size_t code = 0; code < responses.size(); ++code)
    if (responses[code] > 0) stats.responses[to_string(static_cast<Rcode>(code))] = responses[code];
  stats.by_view = earlier_views;
  for (std::size_t i = 0; i < view_queries.size(); ++i) stats.by_view[snapshot->views[i].name()] += view_queries[i];
  if (no_view > 0) stats.by_view[""] = no_view;
  for (std::size_t i = 0; i < dropped.size(); ++i)
    stats.dropped[std::string(to_string(static_cast<DropReason>(i)))] = dropped[i];
  stats.dropped["oversize"] = oversize;
  stats.dropped["send_failed"] = send_failures;
  stats.dropped["tcp_limit"] = tcp_limit;
  stats.dropped["tcp_timeout"] = tcp_timeouts;
  stats.tcp_connections = sessions.open.size();
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
  impl_->replace(std::move(config));
}

void Server::stop(std::function<void()> done) {
  impl_->close();
  if (done) asio::post(impl_->executor, std::move(done));
}

std::vector<BoundListener> Server::listeners() const {
  return impl_->bound;
}

ServerStats Server::stats() const {
  return impl_->stats();
}

const Config& Server::config() const {
  return impl_->snapshot->config;
}

}  // namespace hcpnet::dns
