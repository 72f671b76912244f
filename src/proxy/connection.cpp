// SPDX-License-Identifier: Apache-2.0
#include "proxy/connection.hpp"

namespace hcpnet::proxy {
namespace {

std::string endpoint_of(const ConnectionRecord& record) {
  if (record.endpoint) return record.endpoint->address.to_string();
  return record.tried ? record.tried->to_string() : std::string("-");
}

Logger::Fields describe(const ConnectionRecord& record, CloseReason reason, Clock::SteadyTime now) {
  const auto duration = std::chrono::duration_cast<std::chrono::milliseconds>(now - record.accepted_at);
  return {
      {"listener", record.listener->address.to_string()},
      {"client", record.client.to_string()},
      {"sni", record.server_name ? printable(*record.server_name) : std::string("-")},
      {"rule", record.rule ? std::string(to_string(*record.rule)) : std::string("-")},
      {"backend", record.backend ? record.backend->name : std::string("-")},
      {"endpoint", endpoint_of(record)},
      {"bytes_to_backend", std::to_string(record.bytes_to_backend)},
      {"bytes_to_client", std::to_string(record.bytes_to_client)},
      {"duration_ms", std::to_string(duration.count())},
      {"reason", std::string(to_string(reason))},
  };
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
  if (worker_->options.log.is_enabled()) {
    worker_->options.log.info("connection closed", describe(record_, reason, worker_->timers.now()));
  }
  worker_->remove(*this);
}

}  // namespace hcpnet::proxy
