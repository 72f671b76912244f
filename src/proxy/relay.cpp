// SPDX-License-Identifier: Apache-2.0
#include "proxy/relay.hpp"

#include <fcntl.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <utility>

namespace hcpnet::proxy {
namespace {

/// Reads in a row before other connections get their turn.
constexpr int kReadsPerTurn = 4;
/// Below this copying is faster: the buffers stay in the cache.
constexpr std::uint32_t kSpliceFromStreams = 24;

asio::mutable_buffer as_buffer(const BufferPool::Buffer& buffer) {
  return {buffer.bytes().data(), buffer.bytes().size()};
}

}  // namespace

Relay::Relay(std::shared_ptr<Worker> worker, ConnectionRecord record, tcp::socket client, tcp::socket backend,
             IdleTimeout idle_timeout)
    : Connection(std::move(worker), std::move(record)),
      client_{std::move(client), CloseReason::client_reset, CloseReason::client_lost},
      backend_{std::move(backend), CloseReason::backend_reset, CloseReason::backend_lost},
      to_backend_{client_, backend_, record_.bytes_to_backend, worker_->counters.bytes_to_backend,
                  record_.backend->bytes_to_backend},
      to_client_{backend_, client_, record_.bytes_to_client, worker_->counters.bytes_to_client,
                 record_.backend->bytes_to_client},
      idle_timeout_(idle_timeout) {}

void Relay::start(std::span<const std::uint8_t> received) {
  touch();
  if (idle_timeout_) arm_idle_timer();
  to_backend_.pending = worker().buffers.borrow();
  std::ranges::copy(received, to_backend_.pending.bytes().begin());
  to_backend_.end = received.size();
  wait_readable(to_client_);
  if (flush(to_backend_)) wait_readable(to_backend_);
}

void Relay::wait_readable(Direction& d) {
  d.from.socket.async_wait(tcp::socket::wait_read, [self = self(), &d](const error_code& ec) {
    if (ec || self->is_closed_) return;
    self->on_readable(d);
  });
}

void Relay::on_readable(Direction& d) {
  for (int turn = 0; turn < kReadsPerTurn; ++turn) {
    const Progress progress = is_splicing_better(d) ? splice_once(d) : copy_once(d);
    if (progress == Progress::stopped) return;
    if (progress == Progress::drained) break;
  }
  wait_readable(d);
}

bool Relay::is_splicing_better(const Direction& d) const noexcept {
  return d.bulk_mark != 0 && worker().may_splice && worker().bulk.streams() >= kSpliceFromStreams;
}

Relay::Progress Relay::copy_once(Direction& d) {
  BufferPool::Buffer buffer = worker().buffers.borrow();
  error_code ec;
  const std::size_t count = d.from.socket.read_some(as_buffer(buffer), ec);
  if (ec == asio::error::would_block) return Progress::drained;
  if (ec) {
    ec == asio::error::eof ? on_end(d) : fail(d.from, ec);
    return Progress::stopped;
  }
  const bool is_full = count == buffer.bytes().size();
  if (is_full)
    worker().bulk.note(d.bulk_mark, worker().timers.now());
  else
    d.bulk_mark = 0;
  touch();
  d.pending = std::move(buffer);
  d.begin = 0;
  d.end = count;
  if (!flush(d)) return Progress::stopped;
  return is_full ? Progress::more : Progress::drained;  // a short read emptied the socket
}

Relay::Progress Relay::splice_once(Direction& d) {
  d.pipe = worker().pipes.borrow();
  if (!d.pipe) return copy_once(d);
  const ssize_t count = ::splice(d.from.socket.native_handle(), nullptr, d.pipe.ends().write, nullptr,
                                 PipePool::kPipeBytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  if (count <= 0) {
    const int error = count == 0 ? 0 : errno;
    d.pipe.release();
    if (error == EAGAIN) return Progress::drained;
    error == 0 ? on_end(d) : fail(d.from, error_code(error, boost::system::system_category()));
    return Progress::stopped;
  }
  d.pipe.held = static_cast<std::size_t>(count);
  if (d.pipe.held >= BufferPool::kBufferBytes)
    worker().bulk.note(d.bulk_mark, worker().timers.now());
  else
    d.bulk_mark = 0;
  touch();
  return flush_pipe(d) ? Progress::more : Progress::stopped;
}

bool Relay::flush(Direction& d) {
  if (d.pipe) return flush_pipe(d);
  while (d.begin < d.end) {
    error_code ec;
    const auto rest = d.pending.bytes().subspan(d.begin, d.end - d.begin);
    const std::size_t count = d.to.socket.write_some(asio::buffer(rest.data(), rest.size()), ec);
    if (ec == asio::error::would_block) return hold(d);
    if (ec) {
      fail_on_write(d, ec);
      return false;
    }
    d.begin += count;
    count_bytes(d, count);
  }
  d.pending.release();
  return true;
}

bool Relay::flush_pipe(Direction& d) {
  while (d.pipe.held > 0) {
    const ssize_t count = ::splice(d.pipe.ends().read, nullptr, d.to.socket.native_handle(), nullptr, d.pipe.held,
                                   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (count < 0 && errno == EAGAIN) return hold(d);
    if (count <= 0) {
      fail_on_write(
          d, count == 0 ? error_code(asio::error::broken_pipe) : error_code(errno, boost::system::system_category()));
      return false;
    }
    d.pipe.held -= static_cast<std::size_t>(count);
    count_bytes(d, static_cast<std::size_t>(count));
  }
  d.pipe.release();
  return true;
}

bool Relay::hold(Direction& d) {
  watch_for_reset(d.from);  // nobody reads it while this lasts
  wait_writable(d);
  return false;
}

void Relay::count_bytes(Direction& d, std::size_t count) noexcept {
  d.record_bytes += count;
  d.counter += count;
  d.backend_counter.fetch_add(count, std::memory_order_relaxed);
}

void Relay::wait_writable(Direction& d) {
  d.to.socket.async_wait(tcp::socket::wait_write, [self = self(), &d](const error_code& ec) {
    if (ec || self->is_closed_) return;
    self->on_writable(d);
  });
}

void Relay::on_writable(Direction& d) {
  touch();
  if (flush(d)) wait_readable(d);
}

void Relay::on_end(Direction& d) {
  d.has_ended = true;
  error_code ignored;  // that peer may be gone already; its own direction reports it
  d.to.socket.shutdown(tcp::socket::shutdown_send, ignored);
  if (opposite(d).has_ended) return shut(CloseReason::finished);
  watch_for_reset(d.from);  // nobody reads it from now on
}

void Relay::watch_for_reset(Side& side) {
  if (std::exchange(side.is_watched, true)) return;
  side.socket.async_wait(tcp::socket::wait_error, [self = self(), &side](const error_code& ec) {
    if (!ec && !self->is_closed_) self->on_disturbance(side);
  });
}

void Relay::on_disturbance(Side& side) {
  side.is_watched = false;
  const Direction& d = &side == &client_ ? to_backend_ : to_client_;
  // Being read again: the reader delivers what came before the reset. Asking for the error here would take it away from
  // him.
  if (!d.has_ended && d.is_flushed()) return;
  int pending = 0;
  socklen_t size = sizeof pending;
  static_cast<void>(::getsockopt(side.socket.native_handle(), SOL_SOCKET, SO_ERROR, &pending, &size));
  // No error: both ends of this connection have sent their FIN, and the other direction is still busy elsewhere.
  if (pending != 0) fail(side, error_code(pending, boost::system::system_category()));
}

void Relay::fail(Side& side, const error_code& ec) {
  Side& other = &side == &client_ ? backend_ : client_;
  close_with_reset(other.socket);
  if (!is_reset(ec)) return shut(side.on_loss);
  ++(&side == &client_ ? worker().counters.downstream_resets : worker().counters.upstream_resets);
  shut(side.on_reset);
}

void Relay::fail_on_write(Direction& d, const error_code& ec) {
  rescue(opposite(d));
  fail(d.to, ec);
}

/// A side that resets may have answered first: what it sent is still in our socket, and reading delivers it before the
/// error. A server that refuses a request without having read all of it ends like this.
void Relay::rescue(Direction& d) {
  if (d.has_ended || !d.is_flushed()) return;
  const BufferPool::Buffer buffer = worker().buffers.borrow();
  for (;;) {
    error_code ec;
    const std::size_t count = d.from.socket.read_some(as_buffer(buffer), ec);
    if (ec) return;
    const std::size_t written = d.to.socket.write_some(asio::buffer(buffer.bytes().data(), count), ec);
    count_bytes(d, written);
    if (ec || written < count) return;  // the reset overtakes the rest, as it may between two hosts
  }
}

void Relay::close(CloseReason reason) {
  shut(reason);
}

void Relay::shut(CloseReason reason) {
  if (std::exchange(is_closed_, true)) return;
  const auto keep = shared_from_this();
  worker().timers.cancel(idle_timer_);
  close_orderly(client_.socket);
  close_orderly(backend_.socket);
  to_backend_.pending.release();
  to_client_.pending.release();
  to_backend_.pipe.release();
  to_client_.pipe.release();
  finish(reason);
}

void Relay::touch() {
  if (idle_timeout_) last_activity_ = worker().timers.now();
}

void Relay::arm_idle_timer() {  // re-armed only when it fires, never per read
  idle_timer_ = worker().timers.at(last_activity_ + *idle_timeout_, [weak = weak_from_this()] {
    const auto self = std::static_pointer_cast<Relay>(weak.lock());
    if (!self) return;
    if (self->worker().timers.now() < self->last_activity_ + *self->idle_timeout_) return self->arm_idle_timer();
    ++self->worker().counters.idle_timeouts;
    self->close(CloseReason::idle_timeout);
  });
}

}  // namespace hcpnet::proxy
