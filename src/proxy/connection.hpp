// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/clock.hpp>
#include <hcpnet/proxy/engine.hpp>
#include <memory>
#include <optional>
#include <string>

#include "proxy/worker.hpp"

namespace hcpnet::proxy {

/// What is known of one accepted connection, for the access log and the counters.
struct ConnectionRecord {
  Endpoint listener;  ///< as configured
  Endpoint client;
  Clock::SteadyTime accepted_at;
  std::optional<std::string> server_name;
  std::optional<Rule> rule;  ///< absent before the decision
  std::string backend;
  std::optional<Endpoint> endpoint;
  std::uint64_t bytes_to_backend = 0;
  std::uint64_t bytes_to_client = 0;
};

/// One accepted connection in one of its stages: Session up to the backend's answer, then Relay. Registered with its
/// worker from construction until `finish` or `hand_over`; kept alive by its pending handlers alone.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Ends it at once, whatever it was doing. Idempotent.
  virtual void close(CloseReason reason) = 0;

 protected:
  Connection(std::shared_ptr<Worker> worker, ConnectionRecord record);
  /// Counts and logs the end.
  void finish(CloseReason reason);
  /// The next stage, already registered, goes on with the record.
  void hand_over() { worker_->remove(*this); }

  [[nodiscard]] Worker& worker() const noexcept { return *worker_; }

  const std::shared_ptr<Worker> worker_;
  ConnectionRecord record_;
};

}  // namespace hcpnet::proxy
