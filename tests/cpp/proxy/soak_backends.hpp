// SPDX-License-Identifier: Apache-2.0
// What proxy_soak has behind the proxy, and what both sides of it have agreed on. A backend says who it is, reads what
// its client wants, and compares every byte with what was to come.
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <hcpnet/bytes.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/proxy/error.hpp>
#include <hcpnet/proxy/http_host.hpp>
#include <hcpnet/proxy/proxy_header.hpp>
#include <hcpnet/proxy/route_table.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/tls/client_hello.hpp>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace hcpnet::soak {

inline std::atomic<bool> is_over{false};
inline std::atomic<int> sessions{0};  ///< of all backends
inline std::atomic<std::uint64_t> carried{0}, problems{0};

inline void problem(const std::string& what) {
  if (++problems <= 20) std::fprintf(stderr, "proxy_soak: %s\n", what.c_str());
}

// Routes, and the backends that own them.
inline constexpr unsigned kNames = 4;           ///< routes by name
inline constexpr unsigned kToldRoute = kNames;  ///< by name as well, to the backend that is told who its client is
inline constexpr unsigned kTcpRoute = kNames + 1;
inline constexpr unsigned kUdpRoute = kNames + 2;
inline constexpr unsigned kOwners = 3;  ///< backends that routes move between
inline constexpr unsigned kTold = kOwners;

inline std::string name_of(unsigned route) {
  return "host" + std::to_string(route) + ".soak.test";
}
/// In each version of the table: the first route moves with every reload, the second with every second one, and so on.
inline unsigned owner_of(unsigned route, unsigned version) {
  return route == kToldRoute ? kTold : (route + version / (route + 1)) % kOwners;
}

inline std::atomic<unsigned> in_force{0};  ///< the latest version that every worker has
inline std::atomic<unsigned> coming{0};    ///< the latest that any worker may have

/// Whether a route led to this owner at some time between the version `first` and now.
inline bool may_lead(unsigned route, unsigned owner, unsigned first) {
  for (unsigned version = first, last = coming; version <= last; ++version)
    if (owner_of(route, version) == owner) return true;
  return false;
}

/// The other side tore the connection down.
class Reset : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A blocking socket that throws what goes wrong.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {
    if (fd < 0) fail("socket");
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] sockaddr_in local() const {
    sockaddr_in at{};
    socklen_t size = sizeof at;
    if (::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size) != 0) fail("getsockname");
    return at;
  }
  void bind(const sockaddr_in& at) const {
    if (::bind(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) fail("bind");
  }
  void connect(const sockaddr_in& to) const {
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) fail("connect");
  }
  /// What takes longer fails.
  void limit_waits(const timeval& longest) const {
    for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO})
      if (::setsockopt(fd_, SOL_SOCKET, option, &longest, sizeof longest) != 0) fail("setsockopt");
  }

  void send(const void* data, std::size_t size) const {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t sent = ::send(fd_, at, size, MSG_NOSIGNAL);
      if (sent <= 0) fail("send");
      at += sent;
      size -= static_cast<std::size_t>(sent);
    }
  }
  /// 0 at the end.
  std::size_t receive_some(void* data, std::size_t size, int flags = 0) const {
    const ssize_t count = ::recv(fd_, data, size, flags);
    if (count < 0) fail("receive");
    return static_cast<std::size_t>(count);
  }
  void receive(void* data, std::size_t size) const {
    char* at = static_cast<char*>(data);
    while (size > 0) {
      const std::size_t count = receive_some(at, size);
      if (count == 0) throw std::runtime_error("the other side ended early");
      at += count;
      size -= count;
    }
  }
  void finish() const { ::shutdown(fd_, SHUT_WR); }
  void reset() {
    const linger at_once{1, 0};
    if (::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) != 0) fail("setsockopt");
    ::close(std::exchange(fd_, -1));
  }

 private:
  [[noreturn]] static void fail(const char* call) {
    const int error = errno;
    const std::string what = std::string(call) + ": " + std::strerror(error);
    if (error == ECONNRESET) throw Reset(what);
    throw std::runtime_error(what);
  }
  int fd_;
};

inline sockaddr_in loopback(std::uint16_t port, Ipv4 address = Ipv4(127, 0, 0, 1)) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(address.value());
  at.sin_port = htons(port);
  return at;
}
/// Takes a port of loopback that the kernel chooses.
inline std::uint16_t take_port(const Socket& socket) {
  socket.bind(loopback(0));
  return ntohs(socket.local().sin_port);
}

/// So long nothing here takes, but where something hangs.
inline constexpr timeval kPatience{20, 0};

/// Bytes that both sides can make, without end.
class Content {
 public:
  explicit Content(std::uint64_t seed) : words_(seed) {}
  void fill(char* data, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      if (place_ == 0) word_ = words_();
      data[i] = static_cast<char>(word_ >> (8 * place_));
      place_ = (place_ + 1) % sizeof word_;
    }
  }

 private:
  std::mt19937_64 words_;
  std::uint64_t word_ = 0;
  std::size_t place_ = 0;  ///< of the next byte in the word
};

/// How a connection goes. Both sides know, so whatever else happens is a problem.
enum class Fate : std::uint8_t {
  whole,
  client_half_closes,   ///< before the answer begins
  backend_half_closes,  ///< while the client is still sending
  client_resets,        ///< while it sends, or in the middle of the answer
  backend_resets,       ///< while the client sends, or after the answer
  echo,                 ///< of every message until the end
};
inline constexpr std::array kFateNames{
    "whole", "half-closed by the client", "half-closed by the backend", "reset by the client", "reset by the backend",
    "echoes"};
static_assert(kFateNames.size() == static_cast<std::size_t>(Fate::echo) + 1);

/// Who is connected, as headers of the PROXY protocol say it.
struct Parties {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  [[nodiscard]] proxy::ProxyHeader::Addresses addresses() const {
    return {{Ipv4(source), source_port}, {Ipv4(destination), destination_port}};
  }
};

/// What a client wants, after its greeting. Sent as it is.
struct Order {
  proxy::ListenerKind kind = proxy::ListenerKind::tls;  ///< comes first: no greeting begins with such a byte
  Fate fate = Fate::whole;
  std::uint16_t route = 0;
  Parties parties;
  std::uint64_t up = 0;    ///< bytes that the client sends
  std::uint64_t down = 0;  ///< bytes that the backend sends; 0 before a reset: it comes while the client sends
  std::uint64_t seed = 0;  ///< of the content upwards; downwards its complement
};
static_assert(std::has_unique_object_representations_v<Order>, "no padding");

/// One end of a connection that carries content both ways.
class Exchange {
 public:
  Exchange(Socket& socket, std::uint64_t own_seed, std::uint64_t other_seed)
      : socket_(socket), own_(own_seed), other_(other_seed), sizes_(own_seed) {}

  void send(std::uint64_t count) {
    while (count > 0) {
      const std::size_t size = std::min<std::uint64_t>(count, sizes_() % chunk_.size() + 1);
      own_.fill(chunk_.data(), size);
      socket_.send(chunk_.data(), size);
      carried += size;
      count -= size;
    }
  }
  void receive(std::uint64_t count) {
    while (count > 0) {
      const std::size_t size = socket_.receive_some(chunk_.data(), std::min<std::uint64_t>(count, chunk_.size()));
      if (size == 0) throw std::runtime_error("bytes are missing at the end");
      other_.fill(expected_.data(), size);
      if (std::memcmp(chunk_.data(), expected_.data(), size) != 0) throw std::runtime_error("bytes were changed");
      count -= size;
    }
  }
  void expect_end() {
    char more = 0;
    if (socket_.receive_some(&more, 1) != 0) throw std::runtime_error("more came than was sent");
  }
  void finish() { socket_.finish(); }
  void reset() { socket_.reset(); }

 private:
  Socket& socket_;
  Content own_, other_;
  std::minstd_rand sizes_;
  std::vector<char> chunk_ = std::vector<char>(64 * 1024);
  std::vector<char> expected_ = std::vector<char>(64 * 1024);
};

/// What was sent before a reset may be cut anywhere, but must not look complete.
template <class Steps>
void expect_reset(Steps steps) {
  try {
    steps();
  } catch (const Reset&) {
    return;
  }
  throw std::runtime_error("a reset arrived as an end");
}

/// The backend's part; Client::visit() has the other.
inline void obey(Socket& socket, const Order& order) {
  Exchange client(socket, ~order.seed, order.seed);
  switch (order.fate) {
    case Fate::whole:
      client.receive(order.up);
      client.send(order.down);
      return client.expect_end();
    case Fate::client_half_closes:
      client.receive(order.up);
      client.expect_end();
      return client.send(order.down);
    case Fate::backend_half_closes:
      client.receive(order.up / 2);
      client.send(order.down);
      client.finish();
      client.receive(order.up - order.up / 2);
      return client.expect_end();
    case Fate::client_resets:
      return expect_reset([&] {
        client.receive(order.up);
        client.send(order.down);
        client.expect_end();
      });
    case Fate::backend_resets:
      client.receive(order.down == 0 ? order.up / 2 : order.up);
      client.send(order.down);
      return client.reset();
    case Fate::echo: {
      char message[64];
      while (const std::size_t size = socket.receive_some(message, sizeof message)) socket.send(message, size);
    }
  }
}

inline proxy::ProxyHeader read_header(const Socket& socket) {
  std::vector<std::uint8_t> received;
  for (;;) {
    socket.receive(&received.emplace_back(), 1);
    const Result<proxy::ProxyHeader> header = proxy::parse_proxy_header(received);
    if (header) return *header;
    if (header.error() != proxy::Errc::need_more) throw std::runtime_error("no header came");
  }
}

inline std::string read_hello(const Socket& socket) {
  std::vector<std::uint8_t> hello(5);
  socket.receive(hello.data(), 5);
  hello.resize(5 + (std::size_t{hello[3]} << 8 | hello[4]));
  socket.receive(hello.data() + 5, hello.size() - 5);
  return tls::parse_client_hello(hello).value().server_name.value_or("");
}

inline std::string read_request(const Socket& socket) {
  std::string request;
  while (!request.ends_with("\r\n\r\n")) {
    request.push_back('\0');
    socket.receive(&request.back(), 1);
  }
  return proxy::parse_http_host(as_bytes(request)).value().name.value_or("");
}

/// The name that the client asked the proxy for, and no byte more; empty where it did not.
inline std::string read_greeting(const Socket& socket) {
  char first = 0;
  if (socket.receive_some(&first, 1, MSG_PEEK) == 0) throw std::runtime_error("no greeting came");
  if (first == '\x16') return read_hello(socket);
  return first == 'G' ? read_request(socket) : std::string();
}

inline void serve(int fd, unsigned owner) {
  try {
    Socket socket(fd);
    socket.limit_waits(kPatience);
    socket.send(&owner, sizeof owner);
    proxy::ProxyHeader header;
    if (owner == kTold) header = read_header(socket);
    const std::string name = read_greeting(socket);
    Order order;
    socket.receive(&order, sizeof order);
    if (name != (order.kind == proxy::ListenerKind::tcp ? std::string() : name_of(order.route)))
      problem("a backend got the greeting of another connection");
    if (owner == kTold && header.addresses != order.parties.addresses()) problem("a header tells of another client");
    obey(socket, order);
  } catch (const std::exception& e) {
    if (!is_over) problem(std::string("backend: ") + e.what());
  }
}

/// One endpoint of one backend: accepts for as long as it exists.
class TcpEndpoint {
 public:
  explicit TcpEndpoint(unsigned owner) : listener_(::socket(AF_INET, SOCK_STREAM, 0)), port_(take_port(listener_)) {
    if (::listen(listener_.fd(), 1024) != 0) throw std::runtime_error("listen");
    acceptor_ = std::thread([this, owner] {
      for (;;) {
        const int fd = ::accept(listener_.fd(), nullptr, nullptr);
        if (fd < 0) return;
        ++sessions;
        std::thread([fd, owner] {
          serve(fd, owner);
          --sessions;
        }).detach();
      }
    });
  }
  TcpEndpoint(const TcpEndpoint&) = delete;
  TcpEndpoint& operator=(const TcpEndpoint&) = delete;
  ~TcpEndpoint() {
    ::shutdown(listener_.fd(), SHUT_RDWR);
    acceptor_.join();
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  Socket listener_;
  std::uint16_t port_;
  std::thread acceptor_;
};

inline constexpr std::size_t kLargestDatagram = 4096;

/// How a datagram begins; content follows.
struct DatagramHead {
  std::uint64_t number = 0;  ///< among those of its client
  std::uint32_t client = 0;
  std::uint32_t first = 0;  ///< the version in force when it was sent
};

inline std::vector<char> make_datagram(const DatagramHead& head) {
  std::vector<char> datagram(sizeof head + head.number * 97 % 2000);
  std::memcpy(datagram.data(), &head, sizeof head);
  Content((head.number * 31 + head.client) * 31 + head.first)
      .fill(datagram.data() + sizeof head, datagram.size() - sizeof head);
  return datagram;
}
/// nullopt: no client made it.
inline std::optional<DatagramHead> parse_datagram(std::span<const char> datagram) {
  DatagramHead head;
  if (datagram.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, datagram.data(), sizeof head);
  if (!std::ranges::equal(make_datagram(head), datagram)) return std::nullopt;
  return head;
}

/// Sends every datagram back, behind the number of its owner.
class UdpEndpoint {
 public:
  explicit UdpEndpoint(unsigned owner) : socket_(::socket(AF_INET, SOCK_DGRAM, 0)), port_(take_port(socket_)) {
    socket_.limit_waits({0, 100'000});
    echo_ = std::thread([this, owner] {
      while (!is_ended_) answer_one(owner);
    });
  }
  UdpEndpoint(const UdpEndpoint&) = delete;
  UdpEndpoint& operator=(const UdpEndpoint&) = delete;
  ~UdpEndpoint() {
    is_ended_ = true;
    echo_.join();
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  void answer_one(unsigned owner) {
    std::array<char, sizeof owner + kLargestDatagram> answer;
    std::memcpy(answer.data(), &owner, sizeof owner);
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const ssize_t count = ::recvfrom(socket_.fd(), answer.data() + sizeof owner, kLargestDatagram, 0,
                                     reinterpret_cast<sockaddr*>(&from), &size);
    if (count < 0) return;  // nothing has come for a while
    const std::span<const char> whole =
        std::span<const char>(answer).first(sizeof owner + static_cast<std::size_t>(count));
    if (!parse_datagram(whole.subspan(sizeof owner))) problem("a datagram to a backend was changed");
    // A flow that has ended meanwhile takes no answer.
    static_cast<void>(
        ::sendto(socket_.fd(), whole.data(), whole.size(), 0, reinterpret_cast<const sockaddr*>(&from), size));
  }

  Socket socket_;
  std::uint16_t port_;
  std::atomic<bool> is_ended_{false};
  std::thread echo_;
};

}  // namespace hcpnet::soak
