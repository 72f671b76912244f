// SPDX-License-Identifier: Apache-2.0
#include "proxy/worker.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "proxy/connection.hpp"
#include "proxy/sockets.hpp"

namespace hcpnet::proxy {

Worker::Worker(asio::any_io_executor executor_, EngineOptions options_)
    : executor(std::move(executor_)),
      options(std::move(options_)),
      timers(executor, *options.clock),
      names(std::make_shared<NameCache>(options.resolve ? options.resolve : make_system_resolve(executor),
                                        *options.clock, options.resolve_cache_time)) {}

void Worker::set_table(std::shared_ptr<const RouteTable> table) {
  table_ = std::move(table);
  names->retain(table_->config());
  // Counters of backends that are gone would pile up from reload to reload.
  std::map<std::string, EngineStats::PerBackend> kept;
  for (const Backend& backend : table_->config().backends) kept.try_emplace(backend.name);
  for (auto& [name, counts] : counters.backends) {
    const auto found = kept.find(name);
    if (found != kept.end())
      found->second = counts;
    else if (counts.active > 0)
      kept.emplace(name, counts);
  }
  counters.backends = std::move(kept);
}

bool Worker::is_own_address(const Endpoint& endpoint) const {
  return std::ranges::any_of(own_addresses_, [&](const Endpoint& own) {
    if (own.port != endpoint.port) return false;
    if (own.address == endpoint.address || endpoint.address.is_unspecified()) return true;
    return own.address.is_unspecified() && own.address.is_v4() == endpoint.address.is_v4() &&
           is_local_address(endpoint.address);
  });
}

void Worker::remove(Connection& connection) {
  connections_.erase(&connection);
  if (connections_.empty() && !drained_.empty()) finish_drain();
}

EngineStats Worker::stats() const {
  EngineStats stats = counters;
  stats.active = connections_.size();
  stats.buffers_in_use = buffers.lent();
  stats.resolve_failures = names->failures();
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    stats.decisions.emplace(to_string(static_cast<Rule>(i)), decisions[i]);
  }
  for (std::size_t i = 0; i < closed.size(); ++i) {
    stats.closed.emplace(to_string(static_cast<CloseReason>(i)), closed[i]);
  }
  return stats;
}

void Worker::drain(std::function<void()> done) {
  const bool is_first = drained_.empty();
  drained_.push_back(std::move(done));
  if (connections_.empty()) return finish_drain();
  if (!is_first) return;
  drain_timer_ = timers.after(options.drain_timeout, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->close_all(CloseReason::stopped);
  });
}

void Worker::finish_drain() {
  timers.cancel(drain_timer_);
  for (auto& done : std::exchange(drained_, {})) {
    if (done) asio::post(executor, std::move(done));
  }
}

void Worker::close_all(CloseReason reason) {
  // Closing removes from the set; holding each one keeps it alive meanwhile.
  std::vector<std::shared_ptr<Connection>> all;
  all.reserve(connections_.size());
  for (Connection* connection : connections_) all.push_back(connection->shared_from_this());
  for (const auto& connection : all) connection->close(reason);
}

void Worker::warn_rarely(std::string_view message, Logger::Fields fields) {
  if (timers.now() < next_warning_) return;
  next_warning_ = timers.now() + std::chrono::seconds(1);
  options.log.warning(message, std::move(fields));
}

}  // namespace hcpnet::proxy
