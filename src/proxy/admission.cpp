// SPDX-License-Identifier: Apache-2.0
#include "proxy/admission.hpp"

#include "proxy/access.hpp"

namespace hcpnet::proxy {

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

bool has_room(Worker& worker, const Listener& listener, ListenerState& state, const Endpoint& client) {
  // A flow costs whoever opens it one datagram, from whatever address: connections keep half of the room.
  const bool is_full =
      worker.is_full() || (listener.kind == ListenerKind::udp &&
                           worker.shared->udp_flows >= std::max<std::size_t>(1, worker.options.max_connections / 2));
  if (!is_full && (listener.max_connections == 0 || state.active < listener.max_connections)) return true;
  ++(is_full ? worker.counters.limit_refused : worker.counters.listener_limit_refused);
  ++state.limit_refused;
  worker.warn_rarely("connection limit reached",
                     {{"listener", listener.address.to_string()}, {"client", client.to_string()}});
  return false;
}

ConnectionRecord open_record(Worker& worker, const std::shared_ptr<ListenerState>& listener, const Endpoint& client,
                             Protocol protocol) {
  ++worker.counters.accepted;
  ++worker.shared->active;
  if (protocol == Protocol::udp) ++worker.shared->udp_flows;
  ++listener->total;
  ++listener->active;
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
