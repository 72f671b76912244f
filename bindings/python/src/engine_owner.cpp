// SPDX-License-Identifier: Apache-2.0
#include "engine_owner.hpp"

#include <memory>
#include <string>

namespace hcpnet::python {

EngineOwner::EngineOwner(const Table& table, proxy::EngineOptions options, Functions functions)
    : OwnerOf<EngineThread>("engine"), table_(table) {
  options.resolve = resolver_of(make_callback(std::move(functions.resolve)));
  options.access_log = sink_of<std::string>(make_callback(std::move(functions.access_log)));
  options.log = Logger(sink_of<LogRecord>(make_callback(std::move(functions.log))), "proxy");
  serve(std::make_unique<EngineThread>(std::move(options)));
}

void EngineOwner::start() {
  begin([this] { served_->start(table_); });
}

void EngineOwner::stop_within(std::optional<std::chrono::milliseconds> patience) {
  end([&] {
    {
      const std::lock_guard lock(mutex_);
      state_ = State::stopped;
    }
    served_->stop(patience);
  });
}

void EngineOwner::replace(const Table& table) {
  const PythonCall call;
  with([&](EngineThread& thread) {
    if (state_ == State::stopped) throw UseError("the engine was stopped");
    if (state_ == State::started) {
      thread.call([&](proxy::Engine& engine) {
        engine.prepare(table.routes);  // all that can fail
        engine.set_source_clusters(table.clusters);
        engine.replace(table.routes);
      });
    }
    table_ = table;
  });
}

void EngineOwner::set_source_clusters(proxy::SourceClusters clusters) {
  const PythonCall call;
  with([&](EngineThread& thread) {
    thread.call([&](proxy::Engine& engine) { engine.set_source_clusters(clusters); });
    table_.clusters = std::move(clusters);
  });
}

Table EngineOwner::table() {
  const PythonCall call;
  return with([this](EngineThread&) { return table_; });
}

}  // namespace hcpnet::python
