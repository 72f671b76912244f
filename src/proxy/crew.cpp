// SPDX-License-Identifier: Apache-2.0
#include "proxy/crew.hpp"

#include <utility>

namespace hcpnet::proxy {
namespace {

/// Records reach the sink on the thread that it expects.
Logger logging_at(const asio::any_io_executor& home, const Logger& log) {
  if (!log.is_enabled()) return {};
  const auto forward = [home, sink = log.sink()](const LogRecord& record) {
    asio::post(home, [sink, record] { sink(record); });
  };
  return {forward, log.component()};
}

/// The embedder's resolver is asked on its own thread, and its answer is brought here.
Resolve resolving_at(const asio::any_io_executor& home, const asio::any_io_executor& here, const Resolve& resolve) {
  if (!resolve) return {};
  return [=](const std::string& host, std::uint16_t port, Resolved resolved) {
    asio::post(home, [=, resolved = std::move(resolved)] {
      resolve(host, port, [=](Result<Resolution> answer) {
        asio::post(here, [resolved, answer = std::move(answer)] { resolved(answer); });
      });
    });
  };
}

EngineOptions adapted(EngineOptions options, const asio::any_io_executor& home, const asio::any_io_executor& here) {
  options.log = logging_at(home, options.log);
  options.resolve = resolving_at(home, here, options.resolve);
  return options;
}

}  // namespace

CrewMember::CrewMember(const asio::any_io_executor& home, const EngineOptions& options,
                       std::shared_ptr<SharedState> shared, bool has_thread) {
  if (!has_thread) {
    worker = std::make_shared<Worker>(home, options, std::move(shared));
    return;
  }
  io_ = std::make_unique<asio::io_context>(1);
  work_.emplace(io_->get_executor());
  const asio::any_io_executor here = io_->get_executor();
  worker = std::make_shared<Worker>(here, adapted(options, home, here), std::move(shared));
}

CrewMember::~CrewMember() {
  if (thread_.joinable()) {
    work_.reset();
    io_->stop();
    thread_.join();
  }
  close_listeners();
  worker->close_all(CloseReason::stopped);
}

void CrewMember::start() {
  for (const auto& acceptor : acceptors) acceptor->accept();
  for (const auto& relay : udp_relays) relay->start();
  if (io_) thread_ = std::thread([io = io_.get()] { io->run(); });
}

void CrewMember::close_listeners() {
  for (const auto& acceptor : acceptors) acceptor->close();
  for (const auto& relay : udp_relays) relay->close();
  acceptors.clear();
  udp_relays.clear();
}

}  // namespace hcpnet::proxy
