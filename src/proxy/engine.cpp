// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/assert.hpp>
#include <hcpnet/proxy/engine.hpp>
#include <stdexcept>

#include "proxy/crew.hpp"
#include "proxy/health_monitor.hpp"
#include "proxy/merge_stats.hpp"

namespace hcpnet::proxy {

struct Engine::Impl {
  Impl(boost::asio::any_io_executor home, EngineOptions engine_options)
      : executor(std::move(home)), options(std::move(engine_options)) {
    const bool has_threads = options.workers > 1;
    if (has_threads && options.clock != &system_clock())
      throw std::invalid_argument("an engine with threads of its own needs the system's clock");
    for (std::size_t i = 0; i < std::max<std::size_t>(1, options.workers); ++i)
      crew.push_back(std::make_unique<CrewMember>(executor, options, shared, has_threads));
    // Checks run on one worker for all: an endpoint is not asked once by each.
    health = std::make_shared<HealthMonitor>(crew.front()->worker);
  }
  ~Impl() {
    crew.front()->call([this] { health->stop(); });
  }

  /// Opens the listeners of one worker. Ports that the system chose for the first one hold for the others.
  void open(CrewMember& member, const RouteConfig& config) {
    for (const Listener& listener : config.listeners) {
      Endpoint address = listener.address;
      if (const auto mapped = options.port_map.find(address.port); mapped != options.port_map.end())
        address.port = mapped->second;
      const auto known = std::ranges::find_if(bound, [&](const BoundListener& b) {
        return b.configured == listener.address && protocol_of(b.kind) == protocol_of(listener.kind);
      });
      const bool is_shared = crew.size() > 1;
      if (known != bound.end()) address = known->bound;
      if (listener.kind == ListenerKind::udp) {
        const auto& relay = member.udp_relays.emplace_back(std::make_shared<UdpRelay>(member.worker, listener));
        relay->open(address, is_shared);
        if (known == bound.end()) bound.push_back({listener.address, relay->bound(), listener.kind});
      } else {
        const auto& acceptor = member.acceptors.emplace_back(std::make_shared<Acceptor>(member.worker, listener));
        acceptor->open(address, is_shared);
        if (known == bound.end()) bound.push_back({listener.address, acceptor->bound(), listener.kind});
      }
    }
  }

  void close_listeners() {
    for (const auto& member : crew) member->call([&member] { member->close_listeners(); });
    bound.clear();
  }

  boost::asio::any_io_executor executor;
  EngineOptions options;
  std::shared_ptr<SharedState> shared = std::make_shared<SharedState>();
  std::vector<std::unique_ptr<CrewMember>> crew;  ///< one, or as many as there are threads
  std::shared_ptr<HealthMonitor> health;
  std::shared_ptr<const RouteTable> table;
  std::shared_ptr<const SourceClusters> source_clusters = std::make_shared<const SourceClusters>();
  std::vector<BoundListener> bound;
  bool is_draining = false;
};

namespace {

/// Gives every listening socket the rules that the table has for it now.
template <class Sockets>
void set_listeners(const Sockets& sockets, const RouteConfig& config) {
  for (const auto& socket : sockets) {
    const auto found = std::ranges::find_if(config.listeners, [&](const Listener& listener) {
      return listener.address == socket->listener().address && listener.kind == socket->listener().kind;
    });
    if (found != config.listeners.end()) socket->set_listener(*found);
  }
}

}  // namespace

Engine::Engine(boost::asio::any_io_executor executor, EngineOptions options)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(options))) {}

Engine::~Engine() = default;

void Engine::start(std::shared_ptr<const RouteTable> table) {
  BOOST_ASSERT(impl_->bound.empty());
  try {
    for (const auto& member : impl_->crew) impl_->open(*member, table->config());
  } catch (...) {
    impl_->close_listeners();
    throw;
  }
  std::vector<Endpoint> own;
  for (const BoundListener& listener : impl_->bound) own.push_back(listener.bound);
  for (const auto& member : impl_->crew) member->worker->set_own_addresses(own);
  replace(std::move(table));
  for (const auto& member : impl_->crew) member->start();
}

void Engine::replace(std::shared_ptr<const RouteTable> table) {
  impl_->table = table;
  for (const auto& member : impl_->crew) {
    member->run([&crew_member = *member, table] {
      set_listeners(crew_member.acceptors, table->config());
      set_listeners(crew_member.udp_relays, table->config());
      crew_member.worker->set_table(table);
    });
  }
  impl_->crew.front()->run([health = impl_->health, table] { health->set_table(table); });
  impl_->shared->retain(table->config());
}

void Engine::set_source_clusters(SourceClusters clusters) {
  impl_->source_clusters = std::make_shared<const SourceClusters>(std::move(clusters));
  for (const auto& member : impl_->crew) {
    member->run([worker = member->worker, clusters = impl_->source_clusters] { worker->source_clusters = clusters; });
  }
}

void Engine::drain() {
  impl_->is_draining = true;
  impl_->close_listeners();
}

bool Engine::is_draining() const {
  return impl_->is_draining;
}

void Engine::stop(std::function<void()> done) {
  drain();
  const auto left = std::make_shared<std::size_t>(impl_->crew.size());
  const auto one_done = [left, done = std::move(done)] {
    if (--*left == 0 && done) done();
  };
  for (const auto& member : impl_->crew) {
    member->run([worker = member->worker, executor = impl_->executor, one_done] {
      worker->drain([executor, one_done] { boost::asio::post(executor, one_done); });
    });
  }
}

std::vector<BoundListener> Engine::listeners() const {
  return impl_->bound;
}

EngineStats Engine::stats() const {
  EngineStats all;
  for (const auto& member : impl_->crew)
    merge(all, member->call([worker = member->worker] { return worker->stats(); }));
  impl_->shared->add_to(all, impl_->options.clock->steady_now());
  return all;
}

std::shared_ptr<const RouteTable> Engine::table() const {
  return impl_->table;
}
const SourceClusters& Engine::source_clusters() const {
  return *impl_->source_clusters;
}

}  // namespace hcpnet::proxy
