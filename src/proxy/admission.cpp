// SPDX-License-Identifier: Apache-2.0
#include "proxy/admission.hpp"

#include <algorithm>
#include <limits>

#include "proxy/access.hpp"

namespace hcpnet::proxy {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// One more, unless these are as many as may be. Counted first and judged then, so that workers cannot pass the limit
/// together.
bool count_up_to(std::uint64_t limit, Counter& counter) noexcept {
  if (++counter <= limit) return true;
  --counter;
  return false;
}

/// Of the room that all listeners have.
bool take_shared_room(Worker& worker, ListenerKind kind) noexcept {
  const std::size_t limit = worker.options.max_connections;
  if (!count_up_to(limit, worker.shared->active)) return false;
  // A flow costs whoever opens it one datagram, from whatever address: connections keep half of the room.
  if (kind != ListenerKind::udp || count_up_to(std::max<std::size_t>(1, limit / 2), worker.shared->udp_flows))
    return true;
  --worker.shared->active;
  return false;
}

}  // namespace

std::optional<CloseReason> admit(Worker& worker, const Listener& listener, ConnectionRecord& record) {
  const IpAddress& source = record.client.address;
  if (!is_allowed(listener, source)) {
    ++worker.counters.source_denied;
    return CloseReason::source_denied;
  }
  const std::size_t limit = worker.options.max_connections_per_source;
  if (limit == 0) return std::nullopt;
  record.is_source_counted = worker.shared->sources.add(source, limit);
  if (record.is_source_counted) return std::nullopt;
  ++worker.counters.source_limit_refused;
  worker.warn_rarely("connection limit of a source reached", {{"client", source.to_string()}});
  return CloseReason::source_limit;
}

bool take_room(Worker& worker, const Listener& listener, ListenerState& state, const Endpoint& client) {
  const bool is_full = !take_shared_room(worker, listener.kind);
  if (!is_full) {
    if (count_up_to(listener.max_connections == 0 ? kNoLimit : listener.max_connections, state.active)) return true;
    --worker.shared->active;
    if (listener.kind == ListenerKind::udp) --worker.shared->udp_flows;
  }
  ++(is_full ? worker.counters.limit_refused : worker.counters.listener_limit_refused);
  ++state.limit_refused;
  worker.warn_rarely("connection limit reached",
                     {{"listener", listener.address.to_string()}, {"client", client.to_string()}});
  return false;
}

ConnectionRecord open_record(Worker& worker, const std::shared_ptr<ListenerState>& listener, const Endpoint& client,
                             Protocol protocol) {
  ++worker.counters.accepted;
  ++listener->total;
  ConnectionRecord record;
  record.listener = listener;
  record.protocol = protocol;
  record.client = client;
  record.accepted_at = worker.timers.now();
  return record;
}

const Backend* decide(Worker& worker, const RouteTable& table, ConnectionRecord& record, Greeting greeting) {
  const Decision decision = table.find(record.listener->address, greeting, record.server_name.value_or(""),
                                       record.client.address, *worker.source_clusters, record.protocol);
  record.rule = decision.rule;
  ++worker.decisions[static_cast<std::size_t>(decision.rule)];
  if (decision.backend == nullptr) {
    ++record.listener->no_route;
    return nullptr;
  }
  record.target = target_hash(*decision.backend);
  record.backend = worker.backend(decision.backend->name);
  ++record.backend->active;
  ++record.backend->total;
  return decision.backend;
}

void note_failed_rebind(Worker& worker, const Listener& listener, const error_code& ec) {
  if (!ec) return;
  worker.options.log.error(
      "a listener stays on the interface that it had",
      {{"listener", listener.address.to_string()}, {"interface", listener.interface}, {"cause", ec.message()}});
}

}  // namespace hcpnet::proxy
