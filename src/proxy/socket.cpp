// SPDX-License-Identifier: Apache-2.0
#include "proxy/socket.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace hcpnet::proxy {
namespace {

Socket::Transfer outcome(ssize_t result) noexcept {
  if (result < 0) return {0, errno};
  return {static_cast<std::size_t>(result), 0};
}

}  // namespace

bool Socket::Transfer::would_block() const noexcept {
  return error == EAGAIN;
}

Socket::Socket(Poller& poller, FileDescriptor descriptor) noexcept
    : poller_(&poller), descriptor_(std::move(descriptor)) {}

Socket::Socket(Socket&& other) noexcept
    : poller_(other.poller_),
      descriptor_(std::move(other.descriptor_)),
      key_(other.key_),
      user_(std::exchange(other.user_, nullptr)),
      is_readable_(other.is_readable_),
      is_writable_(other.is_writable_),
      has_ended_(other.has_ended_),
      is_disturbed_(other.is_disturbed_),
      has_urgent_(other.has_urgent_),
      is_waiting_(other.is_waiting_) {
  if (user_ != nullptr) poller_->move(key_, *this);
}

error_code Socket::watch(SocketUser& user) {
  if (user_ == nullptr) {
    const Result<Poller::Key> key = poller_->add(*this);
    if (!key) return key.error();
    key_ = *key;
  }
  user_ = &user;
  return {};
}

void Socket::tell_again_later() {
  if (user_ == nullptr || is_waiting_) return;
  poller_->tell_again(key_);
  is_waiting_ = true;
}

void Socket::tell() {
  is_waiting_ = false;
  user_->on_ready(*this);
}

void Socket::note(std::uint32_t events) noexcept {
  const bool is_broken = (events & (EPOLLERR | EPOLLHUP)) != 0;
  if (is_broken || (events & (EPOLLIN | EPOLLPRI | EPOLLRDHUP)) != 0) is_readable_ = true;
  if ((events & EPOLLPRI) != 0) has_urgent_ = true;
  if (is_broken || (events & EPOLLRDHUP) != 0) has_ended_ = true;
  if (is_broken || (events & EPOLLOUT) != 0) is_writable_ = true;
  if (is_broken) is_disturbed_ = true;
}

void Socket::close() noexcept {
  if (std::exchange(user_, nullptr) != nullptr) poller_->remove(key_);
  descriptor_ = FileDescriptor();
}

void Socket::close_with_reset() noexcept {
  const linger at_once{1, 0};
  if (is_open()) static_cast<void>(::setsockopt(descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
  close();
}

void Socket::shutdown_send() noexcept {
  static_cast<void>(::shutdown(descriptor(), SHUT_WR));  // the peer may be gone already: reading from it says so
}

Socket::Transfer Socket::read(std::span<std::uint8_t> buffer) noexcept {
  const Transfer read = outcome(::recv(descriptor(), buffer.data(), buffer.size(), 0));
  // A short read emptied it: what comes now makes an event.
  const bool is_emptied = read.error == 0 && read.count < buffer.size() && !has_ended_ && !has_urgent_;
  if (read.would_block() || is_emptied) is_readable_ = false;
  return read;
}

Socket::Transfer Socket::splice_to(int pipe, std::size_t most) noexcept {
  const Transfer read =
      outcome(::splice(descriptor(), nullptr, pipe, nullptr, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK));
  if (read.would_block()) is_readable_ = false;
  if (read.count > 0 || read.error != 0) return read;
  // Where the FIN has come, splice(2) says "end" at an urgent byte already, whatever there is behind it.
  std::uint8_t next = 0;
  if (::recv(descriptor(), &next, sizeof next, MSG_PEEK) <= 0) return read;
  has_urgent_ = true;
  return {0, EAGAIN};
}

Socket::Transfer Socket::write(std::span<const std::uint8_t> bytes) noexcept {
  const Transfer written = outcome(::send(descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
  if (written.would_block()) is_writable_ = false;
  return written;
}

Socket::Transfer Socket::splice_from(int pipe, std::size_t most) noexcept {
  const Transfer written =
      outcome(::splice(pipe, nullptr, descriptor(), nullptr, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK));
  if (written.would_block()) is_writable_ = false;
  return written;
}

int Socket::take_error() noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  static_cast<void>(::getsockopt(descriptor(), SOL_SOCKET, SO_ERROR, &error, &size));
  is_disturbed_ = false;
  return error;
}

}  // namespace hcpnet::proxy
