// SPDX-License-Identifier: Apache-2.0
#include "proxy/connection.hpp"

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

}  // namespace

Connection::Connection(std::shared_ptr<Worker> worker, ConnectionRecord record)
    : worker_(std::move(worker)), record_(std::move(record)) {
  worker_->add(*this);
}

bool Connection::has_route_in(const RouteTable& table) const noexcept {
  if (!record_.backend) return true;
  std::string_view matched = record_.server_name ? std::string_view(*record_.server_name) : std::string_view();
  if (record_.rule == Rule::wildcard) matched.remove_prefix(matched.size() - record_.wildcard_bytes);
  return table.has_route(record_.listener->address.port, *record_.rule, matched, record_.backend->name,
                         record_.protocol);
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
