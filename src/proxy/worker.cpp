// SPDX-License-Identifier: Apache-2.0
#include "proxy/worker.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <climits>
#include <exception>

#include "proxy/connection.hpp"
#include "proxy/dns_resolve.hpp"
#include "proxy/sockets.hpp"

namespace hcpnet::proxy {
namespace {

/// The kernel gives the lowest number that is free: from this one on as many are left as are to be.
int first_reserved(std::size_t reserved) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX) return INT_MAX;
  return static_cast<int>(limit.rlim_cur - std::min<rlim_t>(reserved, limit.rlim_cur / 4));
}

Resolve make_default_resolve(const asio::any_io_executor& executor, Clock& clock) {
  return make_dns_resolve(executor, clock, servers_of_resolv_conf("/etc/resolv.conf"), make_system_resolve(executor));
}

}  // namespace

Worker::Worker(asio::any_io_executor executor_, EngineOptions options_, const TcpOptions& tcp_,
               std::shared_ptr<SharedState> shared_)
    : executor(std::move(executor_)),
      options(std::move(options_)),
      tcp(tcp_),
      first_reserved_descriptor(first_reserved(options.reserved_descriptors)),
      shared(std::move(shared_)),
      timers(executor, *options.clock),
      poller(executor),
      pipes(first_reserved_descriptor),
      young(timers),
      names(std::make_shared<NameCache>(
          options.resolve ? options.resolve : make_default_resolve(executor, *options.clock), timers,
          options.resolve_cache_time)) {}

void Worker::configure(const EngineSettings& settings, const TcpOptions& made_of_them) {
  static_cast<EngineSettings&>(options) = settings;
  tcp = made_of_them;
  first_reserved_descriptor = first_reserved(settings.reserved_descriptors);
}

void Worker::set_table(std::shared_ptr<const RouteTable> table) {
  table_ = std::move(table);
  names->retain(table_->config());
  backends_.clear();
  doom_removed_routes();
}

const std::shared_ptr<BackendState>& Worker::backend(const std::string& name) {
  auto& state = backends_[name];
  if (!state) state = shared->backend(name);
  return state;
}

/// A reload may take a route away and the next bring it back: only what stays away ends. What becomes known of clients
/// between two reloads dooms nobody: a lease that ends is no route that was removed.
void Worker::doom_removed_routes() {
  std::vector<std::shared_ptr<Connection>> astray;
  for (Connection* connection : connections_) {
    if (connection->has_lost_endpoint(*table_, *source_clusters)) astray.push_back(connection->shared_from_this());
    if (connection->has_route_in(*table_, *source_clusters))
      connection->doomed_at.reset();
    else if (!connection->doomed_at)
      connection->doomed_at = timers.now() + options.removed_route_timeout;
  }
  // Later, as whoever sets a table may not be ready for what an access log does. A client's next datagram begins anew.
  if (!astray.empty())
    asio::post(executor, [astray = std::move(astray)] { close_each(astray, CloseReason::finished); });
  arm_doom_timer();
}

/// Also for an end that is now: later, as above.
void Worker::arm_doom_timer() {
  timers.cancel(doom_timer_);
  std::optional<Clock::SteadyTime> next;
  for (const Connection* connection : connections_)
    if (connection->doomed_at) next = std::min(next.value_or(*connection->doomed_at), *connection->doomed_at);
  if (!next) return;
  doom_timer_ = timers.at(*next, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->close_doomed();
  });
}

void Worker::close_doomed() {
  std::vector<std::shared_ptr<Connection>> due;
  for (Connection* connection : connections_) {
    if (!connection->doomed_at || *connection->doomed_at > timers.now()) continue;
    connection->doomed_at.reset();
    if (!connection->has_route_in(*table_, *source_clusters))  // else its client's lease is there again
      due.push_back(connection->shared_from_this());
  }
  counters.routes_removed += due.size();
  arm_doom_timer();
  close_each(due, CloseReason::route_removed);
}

void Worker::close_each(const std::vector<std::shared_ptr<Connection>>& all, CloseReason reason) {
  std::exception_ptr thrown;
  for (const auto& connection : all) {
    try {
      connection->close(reason);
    } catch (...) {
      thrown = std::current_exception();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

bool Worker::is_own_address(const Endpoint& endpoint) const {
  const IpAddress address = endpoint.address.unmapped();
  return std::ranges::any_of(own_addresses_, [&](const Endpoint& own) {
    if (own.port != endpoint.port) return false;
    if (own.address == address || address.is_unspecified()) return true;
    return own.address.is_unspecified() && own.address.is_v4() == address.is_v4() && is_local_address(address);
  });
}

void Worker::remove(Connection& connection) {
  connections_.erase(&connection);
  if (!connections_.empty()) return;
  pipes.rest();
  if (!drained_.empty()) finish_drain();
}

EngineStats Worker::stats() const {
  EngineStats stats = counters;
  stats.buffers_in_use = buffers.lent() + pipes.lent();
  stats.pipes_refused = pipes.refused();
  stats.resolve_failures = names->failures();
  stats.stale_answers = names->stale_answers();
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    stats.decisions.emplace(to_string(static_cast<Rule>(i)), decisions[i]);
  }
  for (std::size_t i = 0; i < closed.size(); ++i) {
    stats.closed.emplace(to_string(static_cast<CloseReason>(i)), closed[i]);
  }
  return stats;
}

void Worker::drain(std::function<void()> done, std::chrono::milliseconds patience) {
  drained_.push_back(std::move(done));
  if (connections_.empty()) return finish_drain();
  const auto end = timers.now() + patience;
  if (end >= drain_end_) return;
  drain_end_ = end;
  timers.cancel(drain_timer_);
  drain_timer_ = timers.at(end, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->close_all(CloseReason::stopped);
  });
}

void Worker::finish_drain() {
  timers.cancel(drain_timer_);
  young.rest();
  for (auto& done : std::exchange(drained_, {})) {
    if (done) asio::post(executor, std::move(done));
  }
}

void Worker::close_all(CloseReason reason) {
  // Closing removes from the set; holding each one keeps it alive meanwhile.
  std::vector<std::shared_ptr<Connection>> all;
  all.reserve(connections_.size());
  for (Connection* connection : connections_) all.push_back(connection->shared_from_this());
  close_each(all, reason);
}

void Worker::warn_rarely(std::string_view message, Logger::Fields fields) {
  if (timers.now() < next_warning_) return;
  next_warning_ = timers.now() + std::chrono::seconds(1);
  options.log.warning(message, std::move(fields));
}

}  // namespace hcpnet::proxy
