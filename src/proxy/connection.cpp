// SPDX-License-Identifier: Apache-2.0
#include "proxy/connection.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

#include "proxy/access.hpp"

namespace hcpnet::proxy {
namespace {

AccessRecord describe(const ConnectionRecord& record, CloseReason reason, const runtime::TimerQueue& timers) {
  AccessRecord access;
  access.time = timers.clock().system_now();
  access.listener = record.listener->address;
  access.client = record.client;
  access.server_name = record.server_name;
  if (record.rule) access.rule = to_string(*record.rule);
  if (record.backend) access.backend = record.backend->name;
  access.endpoint = record.endpoint ? std::optional(record.endpoint->address) : record.tried;
  access.bytes_to_backend = record.bytes_to_backend;
  access.bytes_to_client = record.bytes_to_client;
  access.duration = std::chrono::duration_cast<std::chrono::milliseconds>(timers.now() - record.accepted_at);
  access.reason = to_string(reason);
  return access;
}

/// A log has a time of its own for each record.
Logger::Fields log_fields(const AccessRecord& record) {
  Logger::Fields fields = fields_of(record);
  std::erase_if(fields, [](const auto& field) { return field.first == "time"; });
  return fields;
}

/// What a connection showed of itself, as the rule tells that found a backend for it.
Greeting greeting_before(Rule rule) noexcept {
  if (rule == Rule::no_sni) return Greeting::no_name;
  return rule == Rule::not_tls ? Greeting::not_tls : Greeting::name;
}

}  // namespace

Connection::Connection(std::shared_ptr<Worker> worker, ConnectionRecord record)
    : worker_(std::move(worker)), record_(std::move(record)) {
  worker_->add(*this);
}

std::size_t target_hash(const Backend& backend) {
  if (!backend.target.empty()) return std::max<std::size_t>(1, std::hash<std::string>()(backend.target));
  if (backend.host.empty()) return 0;
  return std::max<std::size_t>(1, std::hash<std::string>()(backend.host + ':' + std::to_string(backend.port)));
}

bool Connection::has_route_in(const RouteTable& table, const SourceClusters& clusters) const {
  if (!record_.backend) return true;
  const Listener* listener = table.find_listener(record_.listener->address, record_.protocol);
  if (listener != nullptr && !is_allowed(*listener, record_.client.address)) return false;
  const Backend* backend = backend_in(table, clusters);
  if (backend == nullptr) return false;
  const std::size_t target = target_hash(*backend);
  return target == record_.target || target == 0 || record_.target == 0;
}

bool Connection::has_lost_endpoint(const RouteTable& table, const SourceClusters& clusters) const {
  if (record_.protocol != Protocol::udp || !record_.endpoint) return false;
  const Backend* backend = backend_in(table, clusters);
  if (backend == nullptr) return false;
  if (backend->is_unserved) return true;
  const std::vector<Endpoint>& known = backend->endpoints;  // none: only its name tells
  return !known.empty() && std::ranges::find(known, record_.endpoint->address) == known.end();
}

const Backend* Connection::backend_in(const RouteTable& table, const SourceClusters& clusters) const {
  const Decision decision =
      table.find(record_.listener->address, greeting_before(*record_.rule),
                 record_.server_name ? std::string_view(*record_.server_name) : std::string_view(),
                 record_.client.address, clusters, record_.protocol);
  if (decision.backend == nullptr || decision.backend->name != record_.backend->name) return nullptr;
  return decision.backend;
}

void Connection::finish(CloseReason reason) {
  ++worker_->closed[static_cast<std::size_t>(reason)];
  if (record_.backend) --record_.backend->active;
  if (record_.endpoint) --record_.endpoint->active;
  if (record_.is_source_counted) worker_->shared->sources.remove(record_.client.address);
  --record_.listener->active;
  --worker_->shared->active;
  if (record_.protocol == Protocol::udp) --worker_->shared->udp_flows;
  hand_over();  // before the embedder's functions, which may throw
  if (!record_.is_logged) return;
  const EngineOptions& options = worker_->options;
  if (options.access_log)
    options.access_log(options.access_log_format.render(describe(record_, reason, worker_->timers)));
  else if (options.log.is_enabled())
    options.log.info("connection closed", log_fields(describe(record_, reason, worker_->timers)));
}

void Connection::hand_over() {
  worker_->remove(*this);
  alive_.reset();
}

}  // namespace hcpnet::proxy
