// SPDX-License-Identifier: Apache-2.0
// The least that a forwarder can be: epoll, one buffer of 62 KiB, half-close done right, and nothing else: no names, no
// timers, no limits. What a proxy costs beyond this is the price of what it does. proxy_floor PORT BACKEND_PORT
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::size_t kBufferBytes = 62 * 1024;
std::uint8_t shared_buffer[kBufferBytes];

struct End {
  int fd = -1;
  End* peer = nullptr;
  bool is_listener = false;
  bool is_connecting = false;
  bool has_ended = false;
  std::vector<std::uint8_t> unsent;  ///< towards this end
};

int epoll = -1;
std::uint16_t backend_port = 0;
std::vector<End*> dead;  ///< freed after the batch: later events of it may still name them

sockaddr_in address(std::uint32_t host, std::uint16_t port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(host);
  to.sin_port = htons(port);
  return to;
}

void watch(End* end) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = end;
  epoll_ctl(epoll, EPOLL_CTL_ADD, end->fd, &event);
}

void close_both(End* end) {
  End* ends[] = {end, end->peer};
  for (End* one : ends) {
    if (one->fd < 0) continue;
    ::close(one->fd);
    one->fd = -1;
    dead.push_back(one);
  }
}

/// False when the tunnel has ended.
bool send_on(End* to, const std::uint8_t* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t sent = ::send(to->fd, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) {
      to->unsent.assign(bytes, bytes + count);
      return true;
    }
    if (sent < 0) return close_both(to), false;
    bytes += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return true;
}

void pump(End* from) {
  End* to = from->peer;
  while (to->unsent.empty() && !to->is_connecting && !from->has_ended) {
    const ssize_t count = ::recv(from->fd, shared_buffer, sizeof shared_buffer, 0);
    if (count < 0) {
      if (errno != EAGAIN) close_both(from);
      return;
    }
    if (count == 0) {
      from->has_ended = true;
      ::shutdown(to->fd, SHUT_WR);
      if (to->has_ended) close_both(from);
      return;
    }
    if (!send_on(to, shared_buffer, static_cast<std::size_t>(count))) return;
  }
}

void accept_all(int listener) {
  static std::uint32_t turn = 0;
  for (;;) {
    const int client = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
    if (client < 0) return;
    const int enabled = 1;
    ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &enabled, sizeof enabled);
    const int backend = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    ::setsockopt(backend, IPPROTO_TCP, TCP_NODELAY, &enabled, sizeof enabled);
    const sockaddr_in to = address(0x7F000101 + turn++ % 4, backend_port);
    ::connect(backend, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    End* one = new End;
    End* other = new End;
    one->fd = client;
    other->fd = backend;
    other->is_connecting = true;
    one->peer = other;
    other->peer = one;
    watch(one);
    watch(other);
  }
}

void on_event(End* end, std::uint32_t events) {
  if (end->fd < 0) return;
  if (end->is_listener) return accept_all(end->fd);
  if ((events & (EPOLLOUT | EPOLLERR)) != 0 && end->is_connecting) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(end->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return close_both(end);
    end->is_connecting = false;
    pump(end->peer);
  } else if ((events & EPOLLOUT) != 0 && !end->unsent.empty()) {
    const std::vector<std::uint8_t> unsent = std::move(end->unsent);
    end->unsent.clear();
    if (!send_on(end, unsent.data(), unsent.size())) return;
    if (end->unsent.empty()) pump(end->peer);
  }
  if (end->fd >= 0 && (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP)) != 0) pump(end);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  backend_port = static_cast<std::uint16_t>(std::atoi(argv[2]));
  epoll = ::epoll_create1(0);
  for (std::uint32_t i = 0; i < 4; ++i) {
    End* listener = new End;
    listener->is_listener = true;
    listener->fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    const int enabled = 1;
    ::setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &enabled, sizeof enabled);
    const sockaddr_in at = address(0x7F000001 + i, static_cast<std::uint16_t>(std::atoi(argv[1])));
    if (::bind(listener->fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) return std::perror("bind"), 1;
    ::listen(listener->fd, 16384);
    watch(listener);
  }
  for (;;) {
    epoll_event events[256];
    const int count = ::epoll_wait(epoll, events, 256, -1);
    for (int i = 0; i < count; ++i) on_event(static_cast<End*>(events[i].data.ptr), events[i].events);
    for (End* end : dead) delete end;
    dead.clear();
  }
}
