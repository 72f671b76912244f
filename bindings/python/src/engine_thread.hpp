// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <future>
#include <hcpnet/proxy/engine.hpp>
#include <memory>
#include <optional>

#include "route_table.hpp"
#include "runtime/loop_thread.hpp"

namespace hcpnet::python {

/// A proxy::Engine with an event loop on a thread of its own. start() comes first; then all but the destructor may be
/// called from any other thread.
class EngineThread {
 public:
  explicit EngineThread(proxy::EngineOptions options);
  /// Closes everything at once.
  ~EngineThread();
  EngineThread(const EngineThread&) = delete;
  EngineThread& operator=(const EngineThread&) = delete;

  /// All or nothing; after an exception it may be called again.
  void start(const Table& table);
  /// Runs `work` on the engine, where it lives.
  template <class Work>
  auto call(Work work) {
    return loop_.call([&] { return work(*engine_); });
  }
  /// Waits until the last connection has ended, for `patience` at most, EngineOptions::drain_timeout if absent. Several
  /// may ask at once: the earliest end counts.
  void stop(std::optional<std::chrono::milliseconds> patience);

 private:
  [[nodiscard]] std::unique_ptr<proxy::Engine> make_engine();

  const proxy::EngineOptions options_;
  runtime::LoopThread loop_;  ///< outlives the engine
  std::unique_ptr<proxy::Engine> engine_;
  std::atomic<bool> is_stopping_ = false;
  std::promise<void> ended_;
  const std::shared_future<void> end_ = ended_.get_future().share();
};

}  // namespace hcpnet::python
