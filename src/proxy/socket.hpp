// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <hcpnet/inherited_sockets.hpp>
#include <hcpnet/result.hpp>
#include <span>

#include "proxy/poller.hpp"

namespace hcpnet::proxy {

class Socket;

/// The peer tore the connection down, as opposed to an error of the network.
[[nodiscard]] inline bool is_reset(int error) noexcept {
  return error == ECONNRESET || error == EPIPE;
}

/// Who is told that a socket can do something again.
class SocketUser {
 public:
  virtual void on_ready(Socket& socket) = 0;

 protected:
  ~SocketUser() = default;
};

/// A TCP socket of one connection, non-blocking. What it can do is known without asking the kernel: a flag is set when
/// the poller hears of it, and cleared by the call that finds it true no longer. One thread.
class Socket {
 public:
  /// What one call did. No bytes and no error: the peer has sent its FIN.
  struct Transfer {
    std::size_t count = 0;
    int error = 0;  ///< errno
    [[nodiscard]] bool would_block() const noexcept;
  };

  Socket(Poller& poller, FileDescriptor descriptor) noexcept;
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&&) = delete;
  ~Socket() { close(); }

  /// From now on `user` is told. Nothing is known of the socket before the first call.
  [[nodiscard]] error_code watch(SocketUser& user);
  /// Tells the user in the next turn, as something was left undone or may have been missed.
  void tell_again_later();
  /// Idempotent.
  void close() noexcept;
  /// Closes with RST instead of FIN: the peer must not take a broken transfer for a complete one (RFC 9293
  /// section 3.6).
  void close_with_reset() noexcept;
  void shutdown_send() noexcept;

  [[nodiscard]] Transfer read(std::span<std::uint8_t> buffer) noexcept;
  [[nodiscard]] Transfer write(std::span<const std::uint8_t> bytes) noexcept;
  /// splice(2) into an end of a pipe, and out of one. Before an urgent byte that no event has told of yet the former
  /// would block, and stays readable: for read().
  [[nodiscard]] Transfer splice_to(int pipe, std::size_t most) noexcept;
  [[nodiscard]] Transfer splice_from(int pipe, std::size_t most) noexcept;
  /// SO_ERROR, which the kernel then forgets.
  [[nodiscard]] int take_error() noexcept;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
  [[nodiscard]] bool is_open() const noexcept { return descriptor_.is_open(); }
  [[nodiscard]] bool is_readable() const noexcept { return is_readable_; }  ///< has bytes, has ended, or is broken
  [[nodiscard]] bool is_writable() const noexcept { return is_writable_; }  ///< or broken
  /// The peer has sent urgent data at some time: splice(2) does not get past it.
  [[nodiscard]] bool has_urgent() const noexcept { return has_urgent_; }
  /// It broke, or both sides have sent their FIN, since take_error() was called.
  [[nodiscard]] bool is_disturbed() const noexcept { return is_disturbed_; }

 private:
  friend class Poller;
  void note(std::uint32_t events) noexcept;
  void tell();

  Poller* poller_;
  FileDescriptor descriptor_;
  Poller::Key key_;
  SocketUser* user_ = nullptr;  ///< null: not registered
  bool is_readable_ = false;
  bool is_writable_ = false;
  bool has_ended_ = false;  ///< the last event of reading has come: there is something to read until the end is read
  bool is_disturbed_ = false;
  bool has_urgent_ = false;  ///< a read ends before the urgent byte, whatever there is behind it
  bool is_waiting_ = false;  ///< among those that will be told
};

}  // namespace hcpnet::proxy
