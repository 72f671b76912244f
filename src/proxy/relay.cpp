// SPDX-License-Identifier: Apache-2.0
#include "proxy/relay.hpp"

#include <algorithm>
#include <boost/system/error_code.hpp>
#include <cerrno>
#include <string>
#include <utility>

#include "proxy/sockets.hpp"

namespace hcpnet::proxy {
namespace {

/// What one tunnel carries in a row before others get their turn: about a millisecond. A socket that is emptied at once
/// is half the work of one that is visited often: fewer acknowledgements, fewer awakenings of its sender.
constexpr std::uint64_t kBytesPerTurn = 4 * 1024 * 1024;
/// The same for what comes in small pieces.
constexpr int kReadsPerTurn = 64;
/// What a tunnel carries one way before the socket towards its backend is bounded. Less fits into any bound, and most
/// connections never carry as much: they are spared three system calls. The client's is bounded by its listener.
constexpr std::uint64_t kBoundFromBytes = 64 * 1024;

/// By the kernel, or by a filter of system calls: nothing is wrong with the connection.
bool is_refused(int error) noexcept {
  return error == ENOSYS || error == EINVAL || error == EPERM || error == EOPNOTSUPP;
}

std::string text_of(int error) {
  return boost::system::system_category().message(error);
}

}  // namespace

Relay::Relay(std::shared_ptr<Worker> worker, ConnectionRecord record, Socket client, Socket backend,
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
  const auto keep = shared_from_this();
  to_backend_.pending = worker().buffers.borrow();
  keep_alive();
  worker().young.add(*this);
  touch();
  if (idle_timeout_) arm_idle_timer();
  std::ranges::copy(received, to_backend_.pending.bytes().begin());
  to_backend_.end = received.size();
  for (Side* side : {&client_, &backend_}) {
    if (side->socket.watch(*this)) return shut(side->on_loss);
  }
  flush(to_backend_);
  // What came while nobody read it makes no event any more.
  for (Side* side : {&client_, &backend_}) {
    if (!is_closed_ && side->socket.is_readable()) side->socket.tell_again_later();
  }
}

/// The client's socket has it from its listener.
void Relay::grow_up() noexcept {
  set_keepalive(backend_.socket.descriptor(), worker().tcp.keepalive);
}

void Relay::on_ready(Socket& socket) {
  const auto keep = shared_from_this();
  const bool is_client = &socket == &client_.socket;
  Direction& from_it = is_client ? to_backend_ : to_client_;
  Direction& to_it = is_client ? to_client_ : to_backend_;
  if (socket.is_disturbed()) on_disturbance(is_client ? client_ : backend_);
  if (!is_closed_ && !to_it.is_flushed() && socket.is_writable()) {
    touch();
    if (flush(to_it)) pump(to_it);
  }
  if (!is_closed_ && from_it.is_flushed()) pump(from_it);
}

void Relay::pump(Direction& d) {
  const std::uint64_t end_of_turn = d.record_bytes + kBytesPerTurn;
  for (int reads = 0; reads < kReadsPerTurn && d.record_bytes < end_of_turn; ++reads) {
    if (d.has_ended || !d.from.socket.is_readable()) return;
    if (!(is_splicing_better(d) ? splice_once(d) : copy_once(d))) return;
  }
  if (d.from.socket.is_readable()) d.from.socket.tell_again_later();
}

bool Relay::is_splicing_better(const Direction& d) const noexcept {
  return d.is_bulk && worker().may_splice && !d.from.socket.has_urgent() &&
         worker().bulk.streams() >= kSpliceFromStreams;
}

/// A pipe holds no more than the socket before it may.
std::size_t Relay::largest_splice() const noexcept {
  const std::size_t bound = worker().tcp.receive_buffer_bytes;
  return bound == 0 ? std::size_t{PipePool::kPipeBytes} : std::min<std::size_t>(PipePool::kPipeBytes, bound);
}

bool Relay::copy_once(Direction& d) {
  BufferPool::Buffer buffer = worker().buffers.borrow();
  const Socket::Transfer read = d.from.socket.read(buffer.bytes());
  if (read.would_block()) return true;
  if (read.count == 0) {
    read.error == 0 ? on_end(d) : fail(d.from, read.error);
    return false;
  }
  note_fill(d, read.count == buffer.bytes().size());
  d.pending = std::move(buffer);
  d.begin = 0;
  d.end = read.count;
  return flush(d);
}

bool Relay::splice_once(Direction& d) {
  d.pipe = worker().pipes.borrow(worker().timers.now());
  if (!d.pipe) return copy_once(d);
  const Socket::Transfer read = d.from.socket.splice_to(d.pipe.ends().write, largest_splice());
  if (read.count == 0) d.pipe.release();
  if (read.would_block()) return true;
  if (is_refused(read.error)) {
    worker().may_splice = false;
    worker().options.log.warning("splice(2) is refused here, so all bytes are copied",
                                 {{"cause", text_of(read.error)}});
    return copy_once(d);
  }
  if (read.count == 0) {
    read.error == 0 ? on_end(d) : fail(d.from, read.error);
    return false;
  }
  d.pipe.held = read.count;
  note_fill(d, read.count >= BufferPool::kBufferBytes);
  return flush_pipe(d);
}

void Relay::note_fill(Direction& d, bool is_full) {
  touch();
  d.is_bulk = is_full;
  if (is_full) worker().bulk.note(d.bulk_mark, worker().timers.now());
}

bool Relay::flush(Direction& d) {
  if (d.pipe) return flush_pipe(d);
  while (d.begin < d.end) {
    const Socket::Transfer written = d.to.socket.write(d.pending.bytes().subspan(d.begin, d.end - d.begin));
    if (written.would_block()) return hold(d);
    if (written.error != 0) {
      fail_on_write(d, written.error);
      return false;
    }
    d.begin += written.count;
    count_bytes(d, written.count);
  }
  d.pending.release();
  return true;
}

bool Relay::flush_pipe(Direction& d) {
  while (d.pipe.held > 0) {
    const Socket::Transfer written = d.to.socket.splice_from(d.pipe.ends().read, d.pipe.held);
    if (written.would_block()) return hold(d);
    if (written.count == 0) {
      fail_on_write(d, written.error == 0 ? EPIPE : written.error);
      return false;
    }
    d.pipe.held -= written.count;
    count_bytes(d, written.count);
  }
  d.pipe.release();
  return true;
}

bool Relay::hold(Direction& d) {
  // Nobody reads it while this lasts, so a reset that was noticed already would go unseen.
  if (d.from.socket.is_disturbed()) d.from.socket.tell_again_later();
  return false;
}

void Relay::count_bytes(Direction& d, std::size_t count) noexcept {
  d.record_bytes += count;
  if (d.record_bytes >= kBoundFromBytes && !std::exchange(is_bounded_, true))
    bound_buffers(backend_.socket.descriptor(), worker().tcp);
  d.counter += count;
  d.backend_counter.fetch_add(count, std::memory_order_relaxed);
}

void Relay::on_end(Direction& d) {
  d.has_ended = true;
  if (opposite(d).has_ended) return shut(CloseReason::finished);  // which sends the FIN
  d.to.socket.shutdown_send();
  if (d.from.socket.is_disturbed()) d.from.socket.tell_again_later();
}

void Relay::on_disturbance(Side& side) {
  const Direction& d = &side == &client_ ? to_backend_ : to_client_;
  // Being read: the reader delivers what came before the reset. Asking for the error here would take it away from him.
  if (!d.has_ended && d.is_flushed()) return;
  // No error: both ends of this connection have sent their FIN, and the other direction is still busy elsewhere.
  if (const int error = side.socket.take_error(); error != 0) fail(side, error);
}

void Relay::fail(Side& side, int error) {
  (&side == &client_ ? backend_ : client_).socket.close_with_reset();
  if (!is_reset(error)) return shut(side.on_loss);
  ++(&side == &client_ ? worker().counters.downstream_resets : worker().counters.upstream_resets);
  shut(side.on_reset);
}

void Relay::fail_on_write(Direction& d, int error) {
  rescue(opposite(d));
  fail(d.to, error);
}

/// A side that resets may have answered first: what it sent is still in our socket, and reading delivers it before the
/// error. A server that refuses a request without having read all of it ends like this.
void Relay::rescue(Direction& d) {
  if (d.has_ended || !d.is_flushed()) return;
  const BufferPool::Buffer buffer = worker().buffers.borrow();
  for (;;) {
    const Socket::Transfer read = d.from.socket.read(buffer.bytes());
    if (read.count == 0) return;
    const Socket::Transfer written = d.to.socket.write(buffer.bytes().first(read.count));
    count_bytes(d, written.count);
    if (written.count < read.count) return;  // the reset overtakes the rest, as it may between two hosts
  }
}

void Relay::close(CloseReason reason) {
  shut(reason);
}

void Relay::shut(CloseReason reason) {
  if (std::exchange(is_closed_, true)) return;
  const auto keep = shared_from_this();
  worker().timers.cancel(idle_timer_);
  if (is_linked()) unlink();
  client_.socket.close();
  backend_.socket.close();
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
