// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/clock.hpp>
#include <hcpnet/proxy/engine.hpp>
#include <memory>
#include <optional>
#include <string>

#include "proxy/shared_state.hpp"
#include "proxy/worker.hpp"

namespace hcpnet::proxy {

/// What is known of one accepted connection, for limits, the access log and the counters.
struct ConnectionRecord {
  Endpoint client;  ///< as the header of a trusted proxy says, otherwise the peer
  Clock::SteadyTime accepted_at;
  std::shared_ptr<ListenerState> listener;
  Protocol protocol = Protocol::tcp;
  std::optional<std::string> server_name;
  std::optional<Rule> rule;                 ///< absent before the decision
  bool is_source_counted = false;           ///< towards max_connections_per_source
  bool is_logged = true;                    ///< has a record in the access log
  std::shared_ptr<BackendState> backend;    ///< null before the decision
  std::size_t target = 0;                   ///< target_hash() of the backend, as it was then
  std::shared_ptr<EndpointState> endpoint;  ///< counted as active; null before it is connected
  std::optional<Endpoint> tried;            ///< the last endpoint that was tried, where none answered
  std::uint64_t bytes_to_backend = 0;
  std::uint64_t bytes_to_client = 0;
};

/// Stands for what a backend leads to, so that a tunnel need not keep the text; never 0 unless that is unknown: the
/// backend has nothing but addresses, which come and go, and no target.
[[nodiscard]] std::size_t target_hash(const Backend& backend);

/// One accepted connection in one of its stages: Session up to the backend's answer, then Relay. Registered with its
/// worker from construction until `finish` or `hand_over`. Until then it lives as long as `keep_alive` says, or as its
/// pending handlers.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Ends it at once, whatever it was doing. Idempotent.
  virtual void close(CloseReason reason) = 0;

  /// Asked anew, `table` would lead it to the backend that it has, with the target that this had, and its listener
  /// would let it in; or no backend has been chosen yet. A listener that is gone refuses nobody.
  [[nodiscard]] bool has_route_in(const RouteTable& table, const SourceClusters& clusters) const;
  /// A flow of datagrams that `table` would not lead to the endpoint that it has, though to the same backend. Nobody at
  /// the other end would close it, and it would lead nowhere for as long as its client sends.
  [[nodiscard]] bool has_lost_endpoint(const RouteTable& table, const SourceClusters& clusters) const;
  /// When it ends because its route is gone.
  std::optional<Clock::SteadyTime> doomed_at;

 protected:
  Connection(std::shared_ptr<Worker> worker, ConnectionRecord record);
  /// Until `finish` or `hand_over`; whoever calls those holds it himself.
  void keep_alive() { alive_ = shared_from_this(); }
  /// Counts and logs the end.
  void finish(CloseReason reason);
  /// The next stage, already registered, goes on with the record.
  void hand_over();

  [[nodiscard]] Worker& worker() const noexcept { return *worker_; }

  const std::shared_ptr<Worker> worker_;
  ConnectionRecord record_;

 private:
  /// The backend that `table` would lead it to, if it is called as the one that it has. Precondition: it has one.
  [[nodiscard]] const Backend* backend_in(const RouteTable& table, const SourceClusters& clusters) const;

  std::shared_ptr<Connection> alive_;
};

}  // namespace hcpnet::proxy
