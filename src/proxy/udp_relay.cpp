// SPDX-License-Identifier: Apache-2.0
#include "proxy/udp_relay.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "proxy/access.hpp"
#include "proxy/admission.hpp"
#include "proxy/sockets.hpp"
#include "runtime/close_on_exec.hpp"
#include "runtime/close_shared.hpp"

namespace hcpnet::proxy {
namespace {

constexpr std::size_t kLargestDatagram = 65'535;
/// Datagrams in a row before other connections get their turn.
constexpr int kDatagramsPerTurn = 32;

udp::endpoint to_udp(const Endpoint& endpoint) {
  const tcp::endpoint same = to_asio(endpoint);
  return {same.address(), same.port()};
}
Endpoint from_udp(const udp::endpoint& endpoint) {
  return from_asio(tcp::endpoint(endpoint.address(), endpoint.port()));
}

}  // namespace

UdpRelay::UdpRelay(std::shared_ptr<Worker> worker, Listener listener)
    : worker_(std::move(worker)),
      listener_(std::move(listener)),
      state_(worker_->shared->listener(listener_.address, Protocol::udp)),
      socket_(worker_->executor),
      buffer_(kLargestDatagram) {}

void UdpRelay::open(const Endpoint& address, PortSharing sharing) {
  const udp::endpoint endpoint = to_udp(address);
  error_code ec;
  socket_.open(endpoint.protocol(), ec);
  if (!ec) close_on_exec(socket_);
  if (!ec && address.address.is_v6()) socket_.set_option(asio::ip::v6_only(true), ec);
  if (!ec && sharing == PortSharing::further) ec = share_port(socket_.native_handle());
  if (!ec) ec = bind_to_interface(socket_.native_handle(), listener_.interface);
  if (!ec) socket_.non_blocking(true, ec);
  if (!ec) socket_.bind(endpoint, ec);
  if (!ec && sharing == PortSharing::first) ec = share_port(socket_.native_handle());
  if (ec) throw boost::system::system_error(ec, "proxy: cannot listen on " + address.to_string() + " (UDP)");
  bound_ = from_udp(socket_.local_endpoint());
}

void UdpRelay::adopt(FileDescriptor socket) {
  error_code ec;
  socket_.assign(to_udp(listener_.address).protocol(), socket.get(), ec);
  if (!ec) static_cast<void>(socket.release());
  if (!ec) socket_.non_blocking(true, ec);
  if (ec) throw boost::system::system_error(ec, "proxy: cannot take over " + listener_.address.to_string() + " (UDP)");
  bound_ = from_udp(socket_.local_endpoint());
}

void UdpRelay::start() {
  receive();
}

void UdpRelay::receive() {
  socket_.async_wait(udp::socket::wait_read, [self = shared_from_this()](const error_code& ec) {
    if (!ec && self->socket_.is_open()) self->on_readable();
  });
}

void UdpRelay::on_readable() {
  for (int turn = 0; turn < kDatagramsPerTurn; ++turn) {
    udp::endpoint client;
    error_code ec;
    const std::size_t count = socket_.receive_from(asio::buffer(buffer_), client, 0, ec);
    if (ec) break;  // would_block, or an error of an earlier datagram that nobody can be told about
    try {
      on_datagram(client, std::span(buffer_).first(count));
    } catch (...) {  // of the embedder's functions: later datagrams must not pay for it
      if (socket_.is_open()) receive();
      throw;
    }
  }
  receive();
}

void UdpRelay::on_datagram(const udp::endpoint& client, std::span<const std::uint8_t> datagram) {
  const auto known = flows_.find(client);
  if (known != flows_.end()) {
    if (const auto flow = known->second.lock()) return flow->forward(datagram);
  }
  if (const auto flow = open_flow(client)) return flow->forward(datagram);
  ++worker_->counters.udp_dropped;
}

std::shared_ptr<UdpFlow> UdpRelay::open_flow(const udp::endpoint& client) {
  const Endpoint peer = from_udp(client);
  if (!is_allowed(listener_, peer.address)) {
    ++worker_->counters.source_denied;
    return nullptr;
  }
  if (!take_room(*worker_, listener_, *state_, peer)) return nullptr;
  const auto table = worker_->table();
  ConnectionRecord record = open_record(*worker_, state_, peer, Protocol::udp);
  std::optional<CloseReason> refusal = admit(*worker_, listener_, record);
  const Backend* backend = refusal ? nullptr : decide(*worker_, *table, record, Greeting::not_tls);
  if (backend != nullptr && backend->max_connections > 0 && record.backend->active > backend->max_connections) {
    ++worker_->counters.backend_limit_refused;
    ++record.backend->limit_refused;
    refusal = CloseReason::backend_limit;
  }
  if (backend == nullptr && !refusal) refusal = reason_for(Greeting::not_tls, *record.rule);
  // Whoever forges addresses would fill the access log: such datagrams are counted, and warned of now and then.
  record.is_logged = !refusal;
  if (refusal)
    worker_->warn_rarely("datagram refused", {{"listener", listener_.address.to_string()},
                                              {"client", peer.to_string()},
                                              {"reason", std::string(to_string(*refusal))}});
  static const Backend kNowhere{};
  const auto flow = std::make_shared<UdpFlow>(worker_, std::move(record), weak_from_this(), client, table,
                                              backend == nullptr ? kNowhere : *backend);
  if (refusal) {
    flow->close(*refusal);
    return nullptr;
  }
  flows_[client] = flow;
  flow->start();
  return flow;
}

void UdpRelay::send_to_client(const udp::endpoint& client, std::span<const std::uint8_t> datagram) {
  error_code ec;
  socket_.send_to(asio::buffer(datagram.data(), datagram.size()), client, 0, ec);
  ++(ec ? worker_->counters.udp_dropped : worker_->counters.udp_datagrams);
}

void UdpRelay::set_listener(const Listener& listener) {
  note_failed_rebind(*worker_, listener, rebind_to_interface(socket_.native_handle(), listener.interface));
  listener_ = listener;
}

void UdpRelay::close() {
  if (socket_.is_open()) close_shared(socket_);
  if (flows_.empty()) return;
  // Nothing reaches their clients any more. Later, as whoever closes this may not be ready for what an access log does.
  asio::post(worker_->executor, [flows = std::exchange(flows_, {})] {
    std::vector<std::shared_ptr<Connection>> alive;
    for (const auto& [client, weak] : flows)
      if (auto flow = weak.lock()) alive.push_back(std::move(flow));
    Worker::close_each(alive, CloseReason::stopped);
  });
}

UdpFlow::UdpFlow(std::shared_ptr<Worker> worker, ConnectionRecord record, std::weak_ptr<UdpRelay> relay,
                 const udp::endpoint& client, std::shared_ptr<const RouteTable> table, const Backend& backend)
    : Connection(std::move(worker), std::move(record)),
      relay_(std::move(relay)),
      client_(client),
      table_(std::move(table)),
      backend_(&backend),
      socket_(worker_->executor) {}

void UdpFlow::start() {
  keep_alive();
  last_activity_ = worker().timers.now();
  arm_idle_timer();
  if (backend_->is_unserved) return fail_backend(CloseReason::no_endpoint);
  if (!backend_->endpoints.empty()) return connect(backend_->endpoints);
  worker().names->resolve(backend_->host, backend_->port, [self = self()](const Result<Resolution>& answer) {
    if (self->is_closed_) return;
    if (answer) return self->connect(answer->endpoints);
    self->fail_backend(CloseReason::resolve_failed);
  });
}

void UdpFlow::connect(std::span<const Endpoint> endpoints) {
  const auto relay = relay_.lock();
  if (!relay) return close(CloseReason::stopped);
  const auto candidates = record_.backend->choose(*backend_, endpoints, 1, worker().timers.now(),
                                                  record_.backend->total, worker().random());
  table_.reset();
  record_.endpoint = candidates.front();
  ++record_.endpoint->total;
  ++record_.endpoint->active;
  error_code ec;
  const udp::endpoint to = to_udp(record_.endpoint->address);
  if (worker().is_own_address(record_.endpoint->address)) {
    ++worker().counters.loops_refused;
    return fail(CloseReason::loop);
  }
  socket_.open(to.protocol(), ec);
  if (!ec) close_on_exec(socket_);
  if (!ec && socket_.native_handle() >= worker().first_reserved_descriptor) ec = asio::error::no_descriptors;
  if (!ec) socket_.non_blocking(true, ec);
  const std::vector<IpAddress>& dial_from = relay->listener().dial_from;
  const auto own = std::ranges::find(dial_from, record_.endpoint->address.address.is_v4(), &IpAddress::is_v4);
  if (!ec && own != dial_from.end()) socket_.bind(to_udp({*own, 0}), ec);
  if (!ec) socket_.connect(to, ec);
  if (ec) return fail(CloseReason::connect_failed);
  is_connected_ = true;
  receive();
  if (!first_.empty()) forward(std::exchange(first_, {}));
}

void UdpFlow::forward(std::span<const std::uint8_t> datagram) {
  if (is_closed_) {
    ++worker().counters.udp_dropped;
    return;
  }
  if (!is_connected_) {
    if (first_.empty())
      first_.assign(datagram.begin(), datagram.end());
    else
      ++worker().counters.udp_dropped;
    return;
  }
  last_activity_ = worker().timers.now();
  error_code ec;
  const std::size_t count = socket_.send(asio::buffer(datagram.data(), datagram.size()), 0, ec);
  if (ec) {
    ++worker().counters.udp_dropped;
    if (ec != asio::error::would_block) fail(CloseReason::connect_failed);
    return;
  }
  ++worker().counters.udp_datagrams;
  record_.bytes_to_backend += count;
  worker().counters.bytes_to_backend += count;
  record_.backend->bytes_to_backend += count;
}

void UdpFlow::receive() {
  socket_.async_wait(udp::socket::wait_read, [self = self()](const error_code& ec) {
    if (!ec && !self->is_closed_) self->on_readable();
  });
}

void UdpFlow::on_readable() {
  const auto relay = relay_.lock();
  if (!relay) return close(CloseReason::stopped);
  for (int turn = 0; turn < kDatagramsPerTurn; ++turn) {
    error_code ec;
    const auto buffer = relay->buffer();
    const std::size_t count = socket_.receive(asio::buffer(buffer.data(), buffer.size()), 0, ec);
    if (ec == asio::error::would_block) break;
    if (ec) return fail(CloseReason::connect_failed);
    last_activity_ = worker().timers.now();
    relay->send_to_client(client_, buffer.first(count));
    record_.bytes_to_client += count;
    worker().counters.bytes_to_client += count;
    record_.backend->bytes_to_client += count;
  }
  receive();
}

/// The endpoint has nobody on that port, say: the client's next datagram begins anew, maybe at another one.
void UdpFlow::fail(CloseReason reason) {
  ++worker().counters.endpoint_failures;
  ++record_.endpoint->failures;
  fail_backend(reason);
}

void UdpFlow::fail_backend(CloseReason reason) {
  ++worker().counters.connect_failures;
  ++record_.backend->connect_failures;
  close(reason);
}

void UdpFlow::arm_idle_timer() {  // re-armed only when it fires, never per datagram
  idle_timer_ = worker().timers.at(last_activity_ + worker().options.udp_idle_timeout, [weak = weak_from_this()] {
    const auto self = std::static_pointer_cast<UdpFlow>(weak.lock());
    if (!self) return;
    if (self->worker().timers.now() < self->last_activity_ + self->worker().options.udp_idle_timeout)
      return self->arm_idle_timer();
    self->close(CloseReason::finished);
  });
}

void UdpFlow::close(CloseReason reason) {
  if (std::exchange(is_closed_, true)) return;
  const auto keep = shared_from_this();
  worker().timers.cancel(idle_timer_);
  if (!first_.empty()) ++worker().counters.udp_dropped;
  error_code ignored;
  socket_.close(ignored);
  if (const auto relay = relay_.lock()) relay->remove(client_);
  finish(reason);
}

}  // namespace hcpnet::proxy
