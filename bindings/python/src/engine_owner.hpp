// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <optional>
#include <utility>

#include "engine_thread.hpp"
#include "thread_owner.hpp"

namespace hcpnet::python {

/// A proxy::Engine as Python needs it.
class EngineOwner : public OwnerOf<EngineThread> {
 public:
  /// What of Python an engine calls; each may be None.
  struct Functions {
    pybind11::object resolve, access_log, log;
  };
  EngineOwner(const Table& table, proxy::EngineOptions options, Functions functions);

  void start();
  void stop() override { stop_within({}); }
  /// Other calls are answered meanwhile.
  void stop_within(std::optional<std::chrono::milliseconds> patience);
  void replace(const Table& table);
  void set_source_clusters(proxy::SourceClusters clusters);
  /// The one that is served, or is to be.
  [[nodiscard]] Table table();

  /// Runs `work` on the engine; the result as a Python object.
  template <class Work>
  pybind11::object ask(Work work) {
    return answer([&](EngineThread& thread) { return thread.call(work); });
  }
  /// The same for work without a result.
  template <class Work>
  void tell(Work work) {
    const PythonCall call;
    with([&](EngineThread& thread) { thread.call(work); });
  }

 private:
  Table table_;  ///< under mutex_
};

}  // namespace hcpnet::python
