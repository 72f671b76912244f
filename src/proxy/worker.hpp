// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <hcpnet/proxy/engine.hpp>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "proxy/buffer_pool.hpp"
#include "proxy/bulk_meter.hpp"
#include "proxy/close_reason.hpp"
#include "proxy/name_cache.hpp"
#include "proxy/pipe_pool.hpp"
#include "proxy/poller.hpp"
#include "proxy/shared_state.hpp"
#include "proxy/sockets.hpp"
#include "proxy/young_tunnels.hpp"
#include "runtime/timer_queue.hpp"

namespace hcpnet::proxy {

class Connection;

/// What the connections of one executor share. One thread; workers share nothing but SharedState. Connections own it,
/// so that handlers which run after the engine's end still find it.
class Worker : public std::enable_shared_from_this<Worker> {
 public:
  Worker(boost::asio::any_io_executor executor, EngineOptions options, const TcpOptions& tcp,
         std::shared_ptr<SharedState> shared);

  const boost::asio::any_io_executor executor;
  EngineOptions options;  ///< of which configure() changes the settings
  TcpOptions tcp;
  int first_reserved_descriptor = 0;  ///< from this number on they are not for connections
  const std::shared_ptr<SharedState> shared;
  runtime::TimerQueue timers;
  Poller poller;
  BufferPool buffers;
  PipePool pipes;
  BulkMeter bulk;
  YoungTunnels young;
  /// Writing by splice(2) to a peer that is gone raises SIGPIPE: only where that does nothing.
  bool may_splice = false;
  std::shared_ptr<NameCache> names;
  EngineStats counters;  ///< without what stats() adds
  std::array<std::uint64_t, kRuleCount> decisions{};
  std::array<std::uint64_t, kCloseReasonCount> closed{};
  std::shared_ptr<const SourceClusters> source_clusters = std::make_shared<const SourceClusters>();
  std::minstd_rand random{std::random_device{}()};

  /// `made_of_them`: what the kernel allows is asked once for all workers.
  void configure(const EngineSettings& settings, const TcpOptions& made_of_them);
  [[nodiscard]] const std::shared_ptr<const RouteTable>& table() const noexcept { return table_; }
  void set_table(std::shared_ptr<const RouteTable> table);
  [[nodiscard]] const std::shared_ptr<BackendState>& backend(const std::string& name);
  void set_own_addresses(std::vector<Endpoint> bound) { own_addresses_ = std::move(bound); }
  /// A connection to `endpoint` would come back to this proxy.
  [[nodiscard]] bool is_own_address(const Endpoint& endpoint) const;

  void add(Connection& connection) { connections_.insert(&connection); }
  void remove(Connection& connection);
  /// So few descriptors are left to connections that each has to be looked for before it is needed.
  [[nodiscard]] bool is_short_of_descriptors() const noexcept {
    constexpr int kAtOnce = 128;  // what may be opened between two looks: a backend's socket for each of one turn
    return shared->last_descriptor.load(std::memory_order_relaxed) >= first_reserved_descriptor - kAtOnce;
  }
  /// Of this worker alone.
  [[nodiscard]] EngineStats stats() const;

  /// Calls `done` from the event loop when no connection is left; after `patience` it sees to that. The shortest of
  /// several calls counts.
  void drain(std::function<void()> done, std::chrono::milliseconds patience);
  void close_all(CloseReason reason);
  /// Throws what the embedder's functions throw, once all are closed.
  static void close_each(const std::vector<std::shared_ptr<Connection>>& all, CloseReason reason);
  /// At most one warning a second: what makes it necessary may happen thousands of times.
  void warn_rarely(std::string_view message, Logger::Fields fields);

 private:
  void finish_drain();
  void doom_removed_routes();
  void arm_doom_timer();
  void close_doomed();

  std::shared_ptr<const RouteTable> table_;
  std::vector<Endpoint> own_addresses_;
  std::unordered_map<std::string, std::shared_ptr<BackendState>> backends_;  ///< those in use since the last table
  std::unordered_set<Connection*> connections_;
  std::vector<std::function<void()>> drained_;  ///< not empty while draining
  runtime::TimerQueue::Id drain_timer_{};
  Clock::SteadyTime drain_end_ = Clock::SteadyTime::max();
  runtime::TimerQueue::Id doom_timer_{};
  Clock::SteadyTime next_warning_ = Clock::SteadyTime::min();
};

}  // namespace hcpnet::proxy
