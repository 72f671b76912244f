// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "proxy/connection.hpp"
#include "proxy/socket.hpp"

namespace hcpnet::proxy {

/// How many streams of a worker are busy at the same time before they are spliced. Below this copying is as fast, as
/// the one buffer that is used again and again stays in the cache; measured at 1 to 256 (docs/performance.md).
inline constexpr std::uint32_t kSpliceFromStreams = 96;

/// Copies bytes both ways between two connected sockets until both directions have ended.
///
///   relaying --FIN of one side--> half_closed --FIN of the other--> closed(finished)
///   any --RST or error of one side--> closed, the other side is reset
///   any --idle_timeout, close()--> closed
///
/// Each direction waits for readability, borrows a buffer, and writes what it read; it reads no further before all of
/// that is written, so a slow receiver stops its sender and costs one buffer at most. Where many streams are busy at
/// the same time, one that fills its buffer is spliced through a pipe of the kernel instead, which is cheaper then:
/// it saves the processor both copies. Relaying has no deadline unless the backend has an
/// idle_timeout: watches are silent for hours. TCP keepalive finds peers that vanished. Half-closed has none either,
/// for the same reason.
class Relay final : public Connection, public SocketUser, public YoungTunnel {
 public:
  using IdleTimeout = std::optional<std::chrono::milliseconds>;
  Relay(std::shared_ptr<Worker> worker, ConnectionRecord record, Socket client, Socket backend,
        IdleTimeout idle_timeout);

  /// `received` is what the client sent so far, at most BufferPool::kBufferBytes: it goes first.
  void start(std::span<const std::uint8_t> received);
  void close(CloseReason reason) override;
  void on_ready(Socket& socket) override;
  void grow_up() noexcept override;

 private:
  struct Side {
    Socket socket;
    CloseReason on_reset;
    CloseReason on_loss;
  };
  struct Direction {
    Side& from;
    Side& to;
    std::uint64_t& record_bytes;
    std::uint64_t& counter;
    Counter& backend_counter;
    BufferPool::Buffer pending = {};  ///< read and not yet written: bytes [begin, end)
    std::size_t begin = 0;
    std::size_t end = 0;
    PipePool::Pipe pipe = {};     ///< spliced into and not yet out of; instead of `pending`
    std::uint32_t bulk_mark = 0;  ///< of the worker's BulkMeter
    bool is_bulk = false;         ///< the last read filled a buffer
    bool has_ended = false;
    [[nodiscard]] bool is_flushed() const noexcept { return begin == end && pipe.held == 0; }
  };

  Direction& opposite(const Direction& d) noexcept { return &d == &to_backend_ ? to_client_ : to_backend_; }

  /// False: the tunnel has ended, or waits for the receiver.
  [[nodiscard]] bool copy_once(Direction& d);
  [[nodiscard]] bool splice_once(Direction& d);
  [[nodiscard]] bool is_splicing_better(const Direction& d) const noexcept;
  [[nodiscard]] std::size_t largest_splice() const noexcept;
  void pump(Direction& d);
  /// Writes what is pending. True when nothing is left.
  bool flush(Direction& d);
  bool flush_pipe(Direction& d);
  /// The receiver takes no more for now: false.
  bool hold(Direction& d);
  void count_bytes(Direction& d, std::size_t count) noexcept;
  void note_fill(Direction& d, bool is_full);
  void on_end(Direction& d);
  void on_disturbance(Side& side);

  void fail(Side& side, int error);
  void fail_on_write(Direction& d, int error);
  void rescue(Direction& d);
  void shut(CloseReason reason);

  void touch();
  void arm_idle_timer();

  Side client_;
  Side backend_;
  Direction to_backend_;
  Direction to_client_;
  IdleTimeout idle_timeout_;
  Clock::SteadyTime last_activity_;
  runtime::TimerQueue::Id idle_timer_{};
  bool is_bounded_ = false;  ///< the buffers of the backend's socket
  bool is_closed_ = false;
};

}  // namespace hcpnet::proxy
