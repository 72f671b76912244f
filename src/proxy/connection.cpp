// SPDX-License-Identifier: Apache-2.0
#include "proxy/connection.hpp"

namespace hcpnet::proxy {
namespace {

Logger::Fields describe(const ConnectionRecord& record, CloseReason reason, Clock::SteadyTime now) {
  const auto duration = std::chrono::duration_cast<std::chrono::milliseconds>(now - record.accepted_at);
  return {
      {"listener", record.listener.to_string()},
      {"client", record.client.to_string()},
      {"sni", record.server_name ? printable(*record.server_name) : std::string("-")},
      {"rule", record.rule ? std::string(to_string(*record.rule)) : std::string("-")},
      {"backend", record.backend.empty() ? std::string("-") : record.backend},
      {"endpoint", record.endpoint ? record.endpoint->to_string() : std::string("-")},
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

void Connection::finish(CloseReason reason) {
  ++worker_->closed[static_cast<std::size_t>(reason)];
  if (!record_.backend.empty()) --worker_->counters.backends[record_.backend].active;
  if (worker_->options.log.is_enabled()) {
    worker_->options.log.info("connection closed", describe(record_, reason, worker_->timers.now()));
  }
  worker_->remove(*this);
}

}  // namespace hcpnet::proxy
