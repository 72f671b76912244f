// SPDX-License-Identifier: Apache-2.0
#include <boost/assert.hpp>
#include <hcpnet/proxy/engine.hpp>

#include "proxy/acceptor.hpp"
#include "proxy/worker.hpp"

namespace hcpnet::proxy {

struct Engine::Impl {
  std::shared_ptr<Worker> worker;
  std::vector<std::shared_ptr<Acceptor>> acceptors;

  void close_acceptors() {
    for (const auto& acceptor : acceptors) acceptor->close();
    acceptors.clear();
  }
};

Engine::Engine(boost::asio::any_io_executor executor, EngineOptions options) : impl_(std::make_shared<Impl>()) {
  impl_->worker = std::make_shared<Worker>(std::move(executor), std::move(options));
}

Engine::~Engine() {
  impl_->close_acceptors();
  impl_->worker->close_all(CloseReason::stopped);
}

void Engine::start(std::shared_ptr<const RouteTable> table) {
  BOOST_ASSERT(impl_->acceptors.empty());
  Worker& worker = *impl_->worker;
  std::vector<std::shared_ptr<Acceptor>> acceptors;
  std::vector<Endpoint> bound;
  for (const Listener& listener : table->config().listeners) {
    Endpoint address = listener.address;
    if (const auto mapped = worker.options.port_map.find(address.port); mapped != worker.options.port_map.end()) {
      address.port = mapped->second;
    }
    const auto& acceptor = acceptors.emplace_back(std::make_shared<Acceptor>(impl_->worker, listener.address));
    acceptor->open(address);
    bound.push_back(acceptor->bound().bound);
  }
  worker.set_table(std::move(table));
  worker.set_own_addresses(std::move(bound));
  impl_->acceptors = std::move(acceptors);
  for (const auto& acceptor : impl_->acceptors) acceptor->accept();
}

void Engine::replace(std::shared_ptr<const RouteTable> table) {
  impl_->worker->set_table(std::move(table));
}

void Engine::set_source_clusters(SourceClusters clusters) {
  impl_->worker->source_clusters = std::move(clusters);
}

void Engine::stop(std::function<void()> done) {
  impl_->close_acceptors();
  impl_->worker->drain(std::move(done));
}

std::vector<BoundListener> Engine::listeners() const {
  std::vector<BoundListener> listeners;
  for (const auto& acceptor : impl_->acceptors) listeners.push_back(acceptor->bound());
  return listeners;
}

EngineStats Engine::stats() const {
  return impl_->worker->stats();
}
std::shared_ptr<const RouteTable> Engine::table() const {
  return impl_->worker->table();
}
const SourceClusters& Engine::source_clusters() const {
  return impl_->worker->source_clusters;
}

}  // namespace hcpnet::proxy
