// SPDX-License-Identifier: Apache-2.0
#include "proxy/acceptor.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <cerrno>

#include "proxy/admission.hpp"
#include "proxy/session.hpp"
#include "runtime/close_on_exec.hpp"
#include "runtime/close_shared.hpp"

namespace hcpnet::proxy {
namespace {

/// Accepted in a row before other connections get their turn.
constexpr int kConnectionsPerTurn = 64;
/// In the queue of a socket, as far as one cares that closes it.
constexpr int kMostWaiting = 16'384;

bool is_anybody_waiting(int listening) noexcept {
  pollfd waiting{listening, POLLIN, 0};
  return ::poll(&waiting, 1, 0) > 0;
}

/// Keeps a number. No copy of the listening socket, which would then go on listening when that is closed.
FileDescriptor make_placeholder() noexcept {
  return FileDescriptor(::eventfd(0, EFD_CLOEXEC));
}

}  // namespace

Acceptor::Acceptor(std::shared_ptr<Worker> worker, Listener listener)
    : worker_(std::move(worker)),
      listener_(std::make_shared<const Listener>(std::move(listener))),
      state_(worker_->shared->listener(listener_->address, Protocol::tcp)),
      acceptor_(worker_->executor) {}

void Acceptor::open(const Endpoint& address, PortSharing sharing) {
  const tcp::endpoint endpoint = to_asio(address);
  error_code ec;
  acceptor_.open(endpoint.protocol(), ec);
  if (!ec) close_on_exec(acceptor_);
  if (!ec) acceptor_.set_option(asio::socket_base::reuse_address(true), ec);
  if (!ec && address.address.is_v6()) acceptor_.set_option(asio::ip::v6_only(true), ec);
  if (!ec && sharing == PortSharing::further) ec = share_port(acceptor_.native_handle());
  if (!ec) ec = bind_to_interface(acceptor_.native_handle(), listener_->interface);
  if (!ec) acceptor_.bind(endpoint, ec);
  if (!ec && sharing == PortSharing::first) ec = share_port(acceptor_.native_handle());
  if (!ec) acceptor_.listen(asio::socket_base::max_listen_connections, ec);
  if (!ec) acceptor_.native_non_blocking(true, ec);
  if (ec) throw boost::system::system_error(ec, "proxy: cannot listen on " + address.to_string());
  apply_settings();
  bound_ = from_asio(acceptor_.local_endpoint());
}

void Acceptor::adopt(FileDescriptor socket) {
  error_code ec;
  acceptor_.assign(to_asio(listener_->address).protocol(), socket.get(), ec);
  if (!ec) static_cast<void>(socket.release());
  if (!ec) acceptor_.native_non_blocking(true, ec);
  if (ec) throw boost::system::system_error(ec, "proxy: cannot take over " + listener_->address.to_string());
  bound_ = from_asio(acceptor_.local_endpoint());
}

void Acceptor::accept() {
  acceptor_.async_wait(tcp::acceptor::wait_read, [self = shared_from_this()](const error_code& ec) {
    if (!ec && self->acceptor_.is_open()) self->accept_waiting();
  });
}

void Acceptor::accept_waiting() {
  for (int turn = 0; turn < kConnectionsPerTurn && acceptor_.is_open(); ++turn) {
    error_code ec;
    try {
      ec = accept_one();
    } catch (...) {  // of the embedder's functions: those who wait must not pay for it
      if (acceptor_.is_open()) accept();
      throw;
    }
    if (ec == asio::error::would_block) break;
    if (ec) return back_off(ec);
  }
  if (acceptor_.is_open()) accept();
}

error_code Acceptor::accept_one() {
  FileDescriptor for_backend;
  if (worker_->is_short_of_descriptors()) {
    // Numbers that are free now: one is freed for the client, and the other one kept for its backend. Whoever was
    // accepted without would have to be turned away, while in the queue he can wait.
    if (!is_anybody_waiting(acceptor_.native_handle())) return asio::error::would_block;
    const FileDescriptor for_client = make_placeholder();
    for_backend = make_placeholder();
    const int last = worker_->first_reserved_descriptor - 1;
    if (!for_client.is_open() || !for_backend.is_open() || std::max(for_client.get(), for_backend.get()) > last)
      return asio::error::no_descriptors;
  }
  tcp::endpoint peer;
  auto size = static_cast<socklen_t>(peer.capacity());
  FileDescriptor client(::accept4(acceptor_.native_handle(), peer.data(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!client.is_open()) {
    // One that was given up while it waited is not a lack of anything.
    return errno == ECONNABORTED ? error_code() : error_code(errno, boost::system::system_category());
  }
  worker_->shared->last_descriptor.store(client.get(), std::memory_order_relaxed);
  peer.resize(size);
  begin_session(Socket(worker_->poller, std::move(client)), from_asio(peer), std::move(for_backend));
  return {};
}

void Acceptor::take_waiting() {
  for (int taken = 0; taken < kMostWaiting && acceptor_.is_open(); ++taken) {
    const error_code ec = accept_one();
    if (ec == asio::error::would_block) return;
    if (ec) return note_lack(ec);
  }
}

void Acceptor::begin_session(Socket client, const Endpoint& peer, FileDescriptor spare) {
  if (!take_room(*worker_, *listener_, *state_, peer)) return;
  std::make_shared<Session>(worker_, open_record(*worker_, state_, peer, Protocol::tcp), listener_, std::move(client),
                            std::move(spare))
      ->start();
}

void Acceptor::note_lack(const error_code& cause) {
  ++worker_->counters.accept_backoffs;
  worker_->warn_rarely("cannot accept connections",
                       {{"listener", listener_->address.to_string()}, {"cause", cause.message()}});
}

void Acceptor::back_off(const error_code& cause) {
  note_lack(cause);
  worker_->timers.after(worker_->options.accept_backoff, [weak = weak_from_this()] {
    if (const auto self = weak.lock(); self && self->acceptor_.is_open()) self->accept();
  });
}

void Acceptor::set_listener(const Listener& listener) {
  note_failed_rebind(*worker_, listener, rebind_to_interface(acceptor_.native_handle(), listener.interface));
  listener_ = std::make_shared<const Listener>(listener);
}

void Acceptor::close() {
  if (acceptor_.is_open()) close_shared(acceptor_);
}

}  // namespace hcpnet::proxy
