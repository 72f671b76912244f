// SPDX-License-Identifier: Apache-2.0
#include "engine_thread.hpp"

#include <functional>
#include <utility>

namespace hcpnet::python {

EngineThread::EngineThread(proxy::EngineOptions options) : options_(std::move(options)), engine_(make_engine()) {}

EngineThread::~EngineThread() {
  loop_.abandon();
}

std::unique_ptr<proxy::Engine> EngineThread::make_engine() {
  return std::make_unique<proxy::Engine>(loop_.io().get_executor(), options_);
}

void EngineThread::start(const Table& table) {
  engine_->set_source_clusters(table.clusters);
  engine_->prepare(table.routes);  // what is likely to fail, and leaves the engine as it was
  try {
    engine_->start(table.routes);
    loop_.start();
  } catch (...) {
    engine_ = make_engine();
    throw;
  }
}

void EngineThread::stop(std::optional<std::chrono::milliseconds> patience) {
  const bool is_first = !is_stopping_.exchange(true);
  const bool is_asked = loop_.post([this, is_first, patience] {
    std::function<void()> done;
    if (is_first) done = [this] { ended_.set_value(); };
    engine_->drain();
    engine_->stop(std::move(done), patience);
  });
  if (is_asked) end_.wait();
  loop_.end();
}

}  // namespace hcpnet::python
