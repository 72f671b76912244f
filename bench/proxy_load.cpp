// SPDX-License-Identifier: Apache-2.0
// Both ends of scripts/bench proxy, in one thread: clients on 127.0.0.1 to .4, and the backend on 127.0.1.1 to .4.
//   proxy_load MODE PROXY_PORT BACKEND_PORT SECONDS COUNT HELLO_BYTES NAMES
// conn: connect, hello, one answer, close, COUNT at a time. bulk: the backend sends all it can through COUNT tunnels.
// latency: 64 bytes and their echo, through COUNT tunnels. idle: opens COUNT tunnels and holds them until SIGTERM.
// PROXY_PORT 0: clients connect to the backend itself.
// A hello of more than an Ethernet segment is sent in two.
// Prints one JSON object; for idle as soon as all tunnels are open.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <hcpnet/bytes.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tls/client_hello_writer.hpp"

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMessageBytes = 64;
constexpr std::size_t kSendBytes = 256 * 1024;
constexpr std::size_t kSegmentBytes = 1448;

enum class Mode { conn, bulk, latency, idle };

struct Options {
  Mode mode = Mode::conn;
  std::uint16_t proxy_port = 0, backend_port = 0;
  double seconds = 1;
  std::size_t count = 1, hello_bytes = 517;
  int names = 1;
};

/// One socket of either end.
struct Peer {
  enum class Kind { listener, client, server } kind = Kind::client;
  int fd = -1;
  bool is_connected = false;
  std::size_t skipped = 0;  ///< bytes of the hello that the server has seen
  std::size_t got = 0;      ///< of the current message
  Clock::time_point opened, asked;
};

struct Totals {
  std::uint64_t connections = 0, bytes = 0, errors = 0;
  std::vector<float> latencies_us;
};

Options options;
Totals totals;
int epoll = -1;
std::vector<Peer*> dead;
std::vector<std::string> hellos;
std::size_t turn = 0;
std::size_t established = 0;
std::array<char, kSendBytes> payload{};
bool is_counting = false;

/// A hello of the wanted length: padded by an extension that no server minds (RFC 7685).
std::string make_hello(int name, std::size_t bytes) {
  std::array<std::uint8_t, 64> random;
  for (std::uint8_t& byte : random) byte = static_cast<std::uint8_t>(std::rand());
  const auto hello = hcpnet::tls::make_client_hello("host" + std::to_string(name) + ".bench.example", random);
  std::string text(hello.begin(), hello.end());
  if (text.size() + 4 > bytes) return text;
  const std::size_t padding = bytes - text.size() - 4;
  text += std::string("\0\x15", 2) + static_cast<char>(padding >> 8) + static_cast<char>(padding & 255);
  text += std::string(padding, '\0');
  const auto grow = [&](std::size_t at, std::size_t width) {  // the lengths of record, message and extensions
    std::size_t length = 0;
    for (std::size_t i = 0; i < width; ++i) length = length << 8 | static_cast<unsigned char>(text[at + i]);
    length += padding + 4;
    for (std::size_t i = width; i-- > 0; length >>= 8) text[at + i] = static_cast<char>(length & 255);
  };
  grow(3, 2);
  grow(6, 3);
  grow(9 + 2 + 32 + 1 + 2 + 14 + 2, 2);
  return text;
}

sockaddr_in address(std::uint32_t host, std::uint16_t port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(host);
  to.sin_port = htons(port);
  return to;
}

void watch(Peer* peer, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = peer;
  epoll_ctl(epoll, EPOLL_CTL_ADD, peer->fd, &event);
}

void drop(Peer* peer) {
  if (peer->fd < 0) return;
  ::close(peer->fd);
  peer->fd = -1;
  dead.push_back(peer);
}

void note_latency(Clock::time_point since) {
  if (is_counting)
    totals.latencies_us.push_back(std::chrono::duration<float, std::micro>(Clock::now() - since).count());
}

void open_client() {
  Peer* peer = new Peer;
  peer->opened = Clock::now();
  peer->fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  const int enabled = 1;
  ::setsockopt(peer->fd, IPPROTO_TCP, TCP_NODELAY, &enabled, sizeof enabled);
  const auto place = static_cast<std::uint32_t>(turn++ % 4);
  const sockaddr_in to = options.proxy_port == 0 ? address(0x7F000101 + place, options.backend_port)
                                                 : address(0x7F000001 + place, options.proxy_port);
  if (::connect(peer->fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 && errno != EINPROGRESS) {
    ++totals.errors;
    return drop(peer);
  }
  watch(peer, EPOLLIN | EPOLLOUT | EPOLLET);
}

void send_message(Peer* peer) {
  peer->asked = Clock::now();
  peer->got = 0;
  if (::send(peer->fd, payload.data(), kMessageBytes, MSG_NOSIGNAL) != static_cast<ssize_t>(kMessageBytes))
    ++totals.errors;
}

void on_answer(Peer* peer) {
  ++established;
  if (options.mode == Mode::conn) {
    if (is_counting) ++totals.connections;
    note_latency(peer->opened);
    drop(peer);
    return open_client();
  }
  if (options.mode == Mode::latency) send_message(peer);
}

void on_client(Peer* peer, std::uint32_t events) {
  if ((events & EPOLLOUT) != 0 && !peer->is_connected) {
    peer->is_connected = true;
    const std::string_view hello = hellos[turn * 7919 % hellos.size()];
    for (const std::string_view part :
         {hello.substr(0, kSegmentBytes), hello.substr(std::min(hello.size(), kSegmentBytes))})
      if (!part.empty() &&
          ::send(peer->fd, part.data(), part.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(part.size()))
        ++totals.errors;
  }
  static std::array<char, kSendBytes> buffer;
  for (;;) {
    const ssize_t count = ::recv(peer->fd, buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      ++totals.errors;
      return drop(peer);
    }
    if (options.mode == Mode::bulk) {
      if (is_counting) totals.bytes += static_cast<std::uint64_t>(count);
      if (static_cast<std::size_t>(count) < buffer.size()) return;
      continue;
    }
    peer->got += static_cast<std::size_t>(count);
    if (peer->got < kMessageBytes) continue;
    if (peer->asked != Clock::time_point()) {
      note_latency(peer->asked);
      send_message(peer);
      continue;
    }
    peer->got = 0;
    on_answer(peer);
    if (peer->fd < 0) return;
  }
}

void pour(Peer* peer) {
  while (::send(peer->fd, payload.data(), payload.size(), MSG_NOSIGNAL) > 0) {
  }
}

void on_server(Peer* peer, std::uint32_t events) {
  if ((events & EPOLLOUT) != 0 && options.mode == Mode::bulk && peer->skipped >= options.hello_bytes) pour(peer);
  char buffer[16384];
  for (;;) {
    const ssize_t count = ::recv(peer->fd, buffer, sizeof buffer, 0);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return drop(peer);
    const bool was_greeted = peer->skipped >= options.hello_bytes;
    peer->skipped += static_cast<std::size_t>(count);
    if (peer->skipped < options.hello_bytes) continue;
    if (options.mode == Mode::bulk) return pour(peer);
    const std::size_t answer = was_greeted ? static_cast<std::size_t>(count) : kMessageBytes;
    if (::send(peer->fd, payload.data(), answer, MSG_NOSIGNAL) != static_cast<ssize_t>(answer)) ++totals.errors;
  }
}

void accept_all(int listener) {
  for (;;) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
    if (fd < 0) return;
    const int enabled = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &enabled, sizeof enabled);
    Peer* peer = new Peer;
    peer->kind = Peer::Kind::server;
    peer->fd = fd;
    watch(peer, EPOLLIN | EPOLLOUT | EPOLLET);
  }
}

void listen_all() {
  for (std::uint32_t i = 0; i < 4; ++i) {
    Peer* peer = new Peer;
    peer->kind = Peer::Kind::listener;
    peer->fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    const int enabled = 1;
    ::setsockopt(peer->fd, SOL_SOCKET, SO_REUSEADDR, &enabled, sizeof enabled);
    const sockaddr_in at = address(0x7F000101 + i, options.backend_port);
    if (::bind(peer->fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) {
      std::perror("bind");
      std::exit(1);
    }
    ::listen(peer->fd, 16384);
    watch(peer, EPOLLIN);
  }
}

void turn_once(int wait_ms) {
  epoll_event events[256];
  const int count = ::epoll_wait(epoll, events, 256, wait_ms);
  for (int i = 0; i < count; ++i) {
    Peer* peer = static_cast<Peer*>(events[i].data.ptr);
    if (peer->fd < 0) continue;
    if (peer->kind == Peer::Kind::listener)
      accept_all(peer->fd);
    else if (peer->kind == Peer::Kind::client)
      on_client(peer, events[i].events);
    else
      on_server(peer, events[i].events);
  }
  for (Peer* peer : dead) delete peer;
  dead.clear();
}

void run_for(double seconds) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (Clock::now() < end) turn_once(10);
}

double percentile(double part) {
  auto& all = totals.latencies_us;
  if (all.empty()) return 0;
  const auto at = all.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(all.size() - 1));
  std::ranges::nth_element(all, at);
  return static_cast<double>(*at);
}

void report(double seconds) {
  std::printf(
      "{\"seconds\": %.6f, \"connections\": %llu, \"bytes\": %llu, \"errors\": %llu, \"messages\": %zu, "
      "\"p50_us\": %.1f, \"p99_us\": %.1f}\n",
      seconds, static_cast<unsigned long long>(totals.connections), static_cast<unsigned long long>(totals.bytes),
      static_cast<unsigned long long>(totals.errors), totals.latencies_us.size(), percentile(0.5), percentile(0.99));
  std::fflush(stdout);
}

bool parse(int argc, char** argv) {
  if (argc != 8) return false;
  const std::string mode = argv[1];
  options.mode = mode == "bulk"      ? Mode::bulk
                 : mode == "latency" ? Mode::latency
                 : mode == "idle"    ? Mode::idle
                                     : Mode::conn;
  options.proxy_port = static_cast<std::uint16_t>(std::atoi(argv[2]));
  options.backend_port = static_cast<std::uint16_t>(std::atoi(argv[3]));
  options.seconds = std::atof(argv[4]);
  options.count = static_cast<std::size_t>(std::atoi(argv[5]));
  options.hello_bytes = static_cast<std::size_t>(std::atoi(argv[6]));
  options.names = std::atoi(argv[7]);
  return true;
}

/// As many tunnels as were asked for, a few hundred at a time.
void open_idle() {
  constexpr std::size_t kAtOnce = 256;
  std::size_t opened = 0;
  while (established < options.count && totals.errors == 0) {
    while (opened < options.count && opened - established < kAtOnce) {
      open_client();
      ++opened;
    }
    turn_once(10);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!parse(argc, argv)) return 2;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  epoll = ::epoll_create1(0);
  for (int i = 0; i < std::min(options.names, 1000); ++i)
    hellos.push_back(make_hello(static_cast<int>(static_cast<long>(i) * options.names / std::min(options.names, 1000)),
                                options.hello_bytes));
  options.hello_bytes = hellos[0].size();
  listen_all();
  if (options.mode == Mode::idle) {
    open_idle();
    report(0);
    ::pause();
    return 0;
  }
  for (std::size_t i = 0; i < options.count; ++i) open_client();
  run_for(0.3);  // warm
  is_counting = true;
  const auto begin = Clock::now();
  std::puts("{\"begin\": true}");
  std::fflush(stdout);
  run_for(options.seconds);
  report(std::chrono::duration<double>(Clock::now() - begin).count());
  std::_Exit(0);
}
