// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/assert.hpp>
#include <cerrno>
#include <hcpnet/proxy/engine.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "proxy/crew.hpp"
#include "proxy/health_monitor.hpp"
#include "proxy/merge_stats.hpp"
#include "proxy/sockets.hpp"
#include "runtime/open_failures.hpp"

namespace hcpnet::proxy {

struct Engine::Impl {
  Impl(boost::asio::any_io_executor home, EngineOptions engine_options)
      : executor(std::move(home)), options(std::move(engine_options)) {
    const bool has_threads = options.workers > 1;
    if (has_threads && options.clock != &system_clock())
      throw std::invalid_argument("an engine with threads of its own needs the system's clock");
    for (std::size_t i = 0; i < std::max<std::size_t>(1, options.workers); ++i)
      crew.push_back(std::make_unique<CrewMember>(executor, options, tcp, shared, has_threads));
    // Checks run on one worker for all: an endpoint is not asked once by each.
    health = std::make_shared<HealthMonitor>(crew.front()->worker);
  }
  ~Impl() {
    crew.front()->call([this] { health->stop(); });
  }

  /// Sockets that a table adds to those that are open: by member of the crew.
  struct Prepared {
    std::shared_ptr<const RouteTable> table;
    std::vector<std::vector<std::shared_ptr<Acceptor>>> acceptors;
    std::vector<std::vector<std::shared_ptr<UdpRelay>>> udp_relays;
    std::vector<BoundListener> bound;  ///< all of the table
  };

  [[nodiscard]] Endpoint address_of(const Listener& listener) const {
    Endpoint address = listener.address;
    const auto mapped = options.port_map.find(address.port);
    if (mapped != options.port_map.end()) address.port = mapped->second;
    return address;
  }

  /// A port that the system chooses for the first worker holds for the others.
  [[nodiscard]] Prepared open(std::shared_ptr<const RouteTable> next) const {
    Prepared opened{std::move(next), {}, {}, {}};
    opened.acceptors.resize(crew.size());
    opened.udp_relays.resize(crew.size());
    runtime::OpenFailures failures;
    for (const Listener& listener : opened.table->config().listeners)
      failures.attempt([&] { opened.bound.push_back(open(listener, opened)); });
    failures.throw_any();
    return opened;
  }

  [[nodiscard]] BoundListener open(const Listener& listener, Prepared& opened) const {
    const auto known = std::ranges::find_if(
        bound, [&](const BoundListener& b) { return b.configured == listener.address && b.kind == listener.kind; });
    if (known != bound.end()) {
      check_interface(listener);
      return *known;
    }
    const Endpoint address = listener.kind == ListenerKind::udp ? open_all(opened.udp_relays, listener)
                                                                : open_all(opened.acceptors, listener);
    return {listener.address, address, listener.kind};
  }

  template <class Socket>
  Endpoint open_all(std::vector<std::vector<std::shared_ptr<Socket>>>& sockets, const Listener& listener) const {
    Endpoint address = address_of(listener);
    std::vector<FileDescriptor> given = take_inherited(listener, address);
    for (const FileDescriptor& socket : given) check_move(interface_of(socket.get()), listener);
    if (given.empty()) given = copies_of_ours(listener);
    if (!given.empty()) return adopt_all(sockets, listener, std::move(given));
    PortSharing sharing = crew.size() == 1 ? PortSharing::none : PortSharing::first;
    for (std::size_t i = 0; i < crew.size(); ++i) {
      const auto socket = std::make_shared<Socket>(crew[i]->worker, listener);
      socket->open(address, std::exchange(sharing, PortSharing::further));
      address = socket->bound();
      sockets[i].push_back(socket);
    }
    return address;
  }

  /// Where the listener is of another kind until the next table is in force: the same sockets, with what waits in them.
  [[nodiscard]] std::vector<FileDescriptor> copies_of_ours(const Listener& listener) const {
    std::vector<FileDescriptor> copies;
    check_interface(listener);
    const SocketKind kind = listener.kind == ListenerKind::udp ? SocketKind::datagram : SocketKind::stream;
    for (const auto& member : crew)
      for (const ListeningSocket& socket : member->call([&member] { return member->sockets(); }))
        if (socket.kind == kind && socket.configured == listener.address)
          copies.push_back(FileDescriptor::copy_of(socket.descriptor));
    return copies;
  }

  /// Of a listener whose socket is open.
  void check_interface(const Listener& listener) const {
    if (!table) return;
    const auto before = std::ranges::find_if(table->config().listeners, [&](const Listener& known) {
      return known.address == listener.address && protocol_of(known.kind) == protocol_of(listener.kind);
    });
    if (before != table->config().listeners.end()) check_move(before->interface, listener);
  }

  /// An open socket is bound to another interface when the table is in force, which must not fail then: a socket like
  /// it is, now. Without CAP_NET_RAW only one that is bound to none may be. Another process may serve it until then.
  static void check_move(const std::string& from, const Listener& listener) {
    if (from == listener.interface) return;
    const FileDescriptor probe(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    error_code ec;
    if (!probe.is_open()) ec = {errno, boost::system::system_category()};
    if (!ec) ec = bind_to_interface(probe.get(), from);
    if (!ec) ec = rebind_to_interface(probe.get(), listener.interface);
    if (ec)
      throw boost::system::system_error(
          ec, "proxy: cannot move " + listener.address.to_string() + " to " +
                  (listener.interface.empty() ? "every interface" : "interface " + listener.interface));
  }

  [[nodiscard]] std::vector<FileDescriptor> take_inherited(const Listener& listener, const Endpoint& address) const {
    if (!options.inherited) return {};
    const SocketKind kind = listener.kind == ListenerKind::udp ? SocketKind::datagram : SocketKind::stream;
    auto given = options.inherited->take(kind, listener.address);
    return given.empty() ? options.inherited->take(kind, address) : std::move(given);
  }

  /// Every socket is served, or what waits in it would be lost: with fewer workers one has several. With more, several
  /// accept from one; but the datagrams of one client belong to one worker.
  template <class Socket>
  Endpoint adopt_all(std::vector<std::vector<std::shared_ptr<Socket>>>& sockets, const Listener& listener,
                     std::vector<FileDescriptor> given) const {
    const std::size_t count = given.size();
    if (listener.kind != ListenerKind::udp)
      for (std::size_t i = count; i < crew.size(); ++i)
        given.push_back(FileDescriptor::copy_of(given[i - count].get()));
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::size_t at = i % crew.size();
      sockets[at].push_back(std::make_shared<Socket>(crew[at]->worker, listener));
      sockets[at].back()->adopt(std::move(given[i]));
    }
    return sockets[0].back()->bound();
  }

  void adopt(Prepared next) {
    bound = std::move(next.bound);
    const std::vector<Endpoint> own = never_dialled();
    for (std::size_t i = 0; i < crew.size(); ++i) {
      // Waits: what is closed here may be opened again by the next table.
      crew[i]->call([member = crew[i].get(), own, config_of = next.table, acceptors = std::move(next.acceptors[i]),
                     udp_relays = std::move(next.udp_relays[i])]() mutable {
        member->worker->set_own_addresses(own);
        member->worker->set_table(config_of);
        member->adopt(config_of->config(), std::move(acceptors), std::move(udp_relays));
      });
    }
  }

  [[nodiscard]] std::vector<Endpoint> never_dialled() const {
    std::vector<Endpoint> all = other_listeners;
    for (const BoundListener& listener : bound) all.push_back(listener.bound);
    return all;
  }

  /// Nothing listens any more, for good.
  void close_listeners() {
    is_draining = true;
    prepared.reset();
    for (const auto& member : crew) member->call([&member] { member->close_listeners(); });
    bound.clear();
  }

  /// Tells where the kernel does not allow what socket buffers are to be, when that is news.
  void report_buffers() {
    const std::pair now{options.buffers, SocketBuffers{tcp.receive_buffer_bytes, tcp.send_buffer_bytes}};
    if (std::exchange(reported_buffers, now) == now) return;
    const auto report = [&](const char* buffer, const std::optional<std::size_t>& asked, std::size_t granted) {
      if (asked && granted < *asked)
        options.log.warning("the kernel allows less than is configured for a socket buffer",
                            {{"buffer", buffer}, {"bytes", granted}});
      if (!asked && granted == 0)
        options.log.info("the kernel does not allow the usual bound of a socket buffer, so there is none",
                         {{"buffer", buffer}, {"bytes", kDefaultSocketBufferBytes}});
    };
    report("receive", options.buffers.receive_bytes, tcp.receive_buffer_bytes);
    report("send", options.buffers.send_bytes, tcp.send_buffer_bytes);
  }

  boost::asio::any_io_executor executor;
  EngineOptions options;
  TcpOptions tcp = make_tcp_options(options);
  std::shared_ptr<SharedState> shared = std::make_shared<SharedState>();
  std::vector<std::unique_ptr<CrewMember>> crew;  ///< one, or as many as there are threads
  std::shared_ptr<HealthMonitor> health;
  std::shared_ptr<const RouteTable> table;
  std::shared_ptr<const SourceClusters> source_clusters = std::make_shared<const SourceClusters>();
  std::vector<BoundListener> bound;
  std::vector<Endpoint> other_listeners;
  std::optional<Prepared> prepared;
  std::optional<std::pair<SocketBuffers, SocketBuffers>> reported_buffers;  ///< asked for, and granted
  bool is_started = false;
  bool is_draining = false;
  bool is_stopping = false;
};

Engine::Engine(boost::asio::any_io_executor executor, EngineOptions options)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(options))) {}

Engine::~Engine() = default;

void Engine::start(std::shared_ptr<const RouteTable> table) {
  BOOST_ASSERT(!impl_->is_started);
  replace(std::move(table));
  impl_->is_started = true;
  impl_->report_buffers();
  for (const auto& member : impl_->crew) member->start();
}

void Engine::prepare(const std::shared_ptr<const RouteTable>& table) {
  impl_->prepared.reset();
  if (!impl_->is_draining) impl_->prepared = impl_->open(table);
}

void Engine::replace(std::shared_ptr<const RouteTable> table) {
  if (!impl_->prepared || impl_->prepared->table != table) prepare(table);
  impl_->table = table;
  if (impl_->prepared) {
    impl_->adopt(*std::exchange(impl_->prepared, {}));
  } else {  // it drains: nothing listens any more, but what is open follows the table
    for (const auto& member : impl_->crew) member->run([worker = member->worker, table] { worker->set_table(table); });
  }
  if (!impl_->is_stopping) impl_->crew.front()->run([health = impl_->health, table] { health->set_table(table); });
  impl_->shared->retain(table->config());
}

void Engine::configure(const EngineSettings& settings) {
  static_cast<EngineSettings&>(impl_->options) = settings;
  impl_->tcp = make_tcp_options(settings);
  for (const auto& member : impl_->crew)
    member->call([member = member.get(), &settings, &tcp = impl_->tcp] { member->configure(settings, tcp); });
  impl_->report_buffers();
}

void Engine::set_other_listeners(std::vector<Endpoint> listeners) {
  impl_->other_listeners = std::move(listeners);
  for (const auto& member : impl_->crew)
    member->run([worker = member->worker, all = impl_->never_dialled()] { worker->set_own_addresses(all); });
}

void Engine::set_source_clusters(SourceClusters clusters) {
  impl_->source_clusters = std::make_shared<const SourceClusters>(std::move(clusters));
  for (const auto& member : impl_->crew) {
    member->run([worker = member->worker, clusters = impl_->source_clusters] { worker->source_clusters = clusters; });
  }
}

void Engine::drain() {
  try {
    for (const auto& member : impl_->crew) member->call([&member] { member->take_waiting(); });
  } catch (...) {  // of the embedder's functions
    impl_->close_listeners();
    throw;
  }
  impl_->close_listeners();
}

bool Engine::is_draining() const {
  return impl_->is_draining;
}

void Engine::stop(std::function<void()> done, std::optional<std::chrono::milliseconds> patience) {
  impl_->close_listeners();
  impl_->is_stopping = true;
  // Nobody will be sent to an endpoint any more, and the event loop must come to its end.
  impl_->crew.front()->run([health = impl_->health] { health->stop(); });
  // Threads of our own may still drain when the embedder's context has nothing else to do: it must not run out of work.
  const boost::asio::any_io_executor executor =
      boost::asio::prefer(impl_->executor, boost::asio::execution::outstanding_work.tracked);
  const auto left = std::make_shared<std::size_t>(impl_->crew.size());
  const auto one_done = [left, done = std::move(done)] {
    if (--*left == 0 && done) done();
  };
  for (const auto& member : impl_->crew) {
    member->run([worker = member->worker, executor, one_done, patience] {
      worker->drain([executor, one_done] { boost::asio::post(executor, one_done); },
                    patience.value_or(worker->options.drain_timeout));
    });
  }
}

std::vector<BoundListener> Engine::listeners() const {
  return impl_->bound;
}

std::vector<ListeningSocket> Engine::sockets() const {
  std::vector<ListeningSocket> all;
  for (const auto& member : impl_->crew) {
    const auto own = member->call([&member] { return member->sockets(); });
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
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
const EngineSettings& Engine::settings() const {
  return impl_->options;
}
SocketBuffers Engine::granted_buffers() const {
  return {impl_->tcp.receive_buffer_bytes, impl_->tcp.send_buffer_bytes};
}
std::size_t Engine::worker_count() const {
  return impl_->crew.size();
}

}  // namespace hcpnet::proxy
