// SPDX-License-Identifier: Apache-2.0
// Mixed traffic through one proxy while it is reloaded and its endpoints come and go: proxy_soak SECONDS. Fails when a
// byte is lost or changed (both ends hash what they send and get), when a connection reaches another backend than its
// name's, when a tunnel that is held open is dropped, or when a descriptor is left at the end.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <hcpnet/proxy/engine.hpp>
#include <hcpnet/tls/client_hello.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tls/client_hello_writer.hpp"

namespace {

using namespace hcpnet;
using namespace std::chrono_literals;

constexpr int kNames = 4;
constexpr int kEndpointsPerName = 2;
constexpr int kTransfers = 8;
constexpr int kWatches = 8;
constexpr int kSlowlorises = 50;

std::atomic<bool> is_over{false};
std::atomic<int> sessions{0};  ///< of all backends
std::atomic<std::uint64_t> transfers{0}, watched{0}, bytes{0}, problems{0};

void problem(const std::string& what) {
  ++problems;
  std::fprintf(stderr, "proxy_soak: %s\n", what.c_str());
}

std::string name_of(int index) {
  return "host" + std::to_string(index) + ".soak.test";
}

/// A blocking socket that throws what goes wrong.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {
    if (fd < 0) throw std::runtime_error(std::strerror(errno));
  }
  ~Socket() { ::close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

  void send(const void* data, std::size_t size) const {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t sent = ::send(fd_, at, size, MSG_NOSIGNAL);
      if (sent <= 0) throw std::runtime_error(std::string("send: ") + std::strerror(errno));
      at += sent;
      size -= static_cast<std::size_t>(sent);
    }
  }
  /// 0 at the end.
  std::size_t receive_some(void* data, std::size_t size) const {
    const ssize_t count = ::recv(fd_, data, size, 0);
    if (count < 0) throw std::runtime_error(std::string("receive: ") + std::strerror(errno));
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

 private:
  int fd_;
};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(port);
  return at;
}

/// FNV-1a, 64 bits.
class Hash {
 public:
  void add(const char* data, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) value = (value ^ static_cast<unsigned char>(data[i])) * 0x100000001B3;
  }
  std::uint64_t value = 0xCBF29CE484222325;
};

/// What a client asks for, after its hello.
struct Order {
  std::uint64_t up = 0;    ///< bytes that follow
  std::uint64_t down = 0;  ///< bytes that are wanted; 0: an echo of every message until the end
};

std::uint64_t send_random(const Socket& socket, std::uint64_t count, std::minstd_rand& random) {
  Hash hash;
  std::vector<char> chunk(64 * 1024);
  while (count > 0) {
    const std::size_t size = std::min<std::uint64_t>(count, random() % chunk.size() + 1);
    for (std::size_t i = 0; i < size; ++i) chunk[i] = static_cast<char>(random() >> 8);
    hash.add(chunk.data(), size);
    socket.send(chunk.data(), size);
    count -= size;
    bytes += size;
  }
  return hash.value;
}

std::uint64_t receive_hashed(const Socket& socket, std::uint64_t count) {
  Hash hash;
  std::vector<char> chunk(64 * 1024);
  while (count > 0) {
    const std::size_t size = socket.receive_some(chunk.data(), std::min<std::uint64_t>(count, chunk.size()));
    if (size == 0) throw std::runtime_error("bytes are missing at the end");
    hash.add(chunk.data(), size);
    count -= size;
  }
  return hash.value;
}

/// Reads a ClientHello and no byte more.
std::string read_hello(const Socket& socket) {
  std::vector<std::uint8_t> hello(5);
  socket.receive(hello.data(), 5);
  hello.resize(5 + (std::size_t{hello[3]} << 8 | hello[4]));
  socket.receive(hello.data() + 5, hello.size() - 5);
  return tls::parse_client_hello(hello).value().server_name.value_or("");
}

void serve(int fd, int name) {
  try {
    const Socket socket(fd);
    if (read_hello(socket) != name_of(name)) problem("a connection reached the backend of another name");
    Order order;
    socket.receive(&order, sizeof order);
    char message[64];
    if (order.down == 0) {
      while (const std::size_t size = socket.receive_some(message, sizeof message)) socket.send(message, size);
      return;
    }
    std::minstd_rand random(static_cast<unsigned>(order.up));
    const std::uint64_t got = receive_hashed(socket, order.up);
    socket.send(&got, sizeof got);
    const std::uint64_t sent = send_random(socket, order.down, random);
    socket.send(&sent, sizeof sent);
    if (socket.receive_some(message, 1) != 0) problem("a backend got more than was sent");
  } catch (const std::exception& e) {
    if (!is_over) problem(std::string("backend: ") + e.what());
  }
}

/// One endpoint of one name: accepts for as long as the program runs.
class Endpoint4 {
 public:
  explicit Endpoint4(int name) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at = loopback(0);
    socklen_t size = sizeof at;
    if (::bind(listener_.fd(), reinterpret_cast<sockaddr*>(&at), size) != 0) throw std::runtime_error("bind");
    ::listen(listener_.fd(), 1024);
    ::getsockname(listener_.fd(), reinterpret_cast<sockaddr*>(&at), &size);
    port = ntohs(at.sin_port);
    acceptor_ = std::thread([this, name] {
      for (;;) {
        const int fd = ::accept(listener_.fd(), nullptr, nullptr);
        if (fd < 0) return;
        ++sessions;
        std::thread([fd, name] {
          serve(fd, name);
          --sessions;
        }).detach();
      }
    });
  }
  ~Endpoint4() {
    ::shutdown(listener_.fd(), SHUT_RDWR);
    acceptor_.join();
  }
  std::uint16_t port = 0;

 private:
  Socket listener_;
  std::thread acceptor_;
};

class Client {
 public:
  Client(std::uint16_t proxy, unsigned seed) : proxy_(proxy), random_(seed) {}

  void transfer() {
    const Socket socket(connect(static_cast<int>(random_() % kNames)));
    constexpr std::uint64_t kSizes[] = {1, 1000, 70'000, 1'000'000};
    const Order order{kSizes[random_() % 4] + random_() % 100, kSizes[random_() % 4] + random_() % 100};
    socket.send(&order, sizeof order);
    const std::uint64_t sent = send_random(socket, order.up, random_);
    std::uint64_t got = 0, theirs = 0;
    socket.receive(&got, sizeof got);
    if (got != sent) problem("bytes to the backend were changed");
    if (random_() % 2 == 0) socket.finish();  // a half-closed tunnel still delivers
    const std::uint64_t received = receive_hashed(socket, order.down);
    socket.receive(&theirs, sizeof theirs);
    if (received != theirs) problem("bytes to the client were changed");
    socket.finish();
    char rest = 0;
    if (socket.receive_some(&rest, 1) != 0) problem("a client got more than was sent");
    ++transfers;
  }

  void watch() {
    const Socket socket(connect(static_cast<int>(random_() % kNames)));
    const Order order{};
    socket.send(&order, sizeof order);
    while (!is_over) {
      char sent[64], got[64];
      for (char& c : sent) c = static_cast<char>(random_() >> 8);
      socket.send(sent, sizeof sent);
      socket.receive(got, sizeof got);
      if (std::memcmp(sent, got, sizeof sent) != 0) problem("an echo was changed");
      ++watched;
      std::this_thread::sleep_for(20ms);
    }
  }

  /// Says nothing that would lead anywhere until it is thrown out.
  void dawdle() {
    const Socket socket(dial());
    socket.send("\x16", 1);
    char byte = 0;
    static_cast<void>(::recv(socket.fd(), &byte, 1, 0));
  }

 private:
  int dial() const {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in to = loopback(proxy_);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return fd;
    ::close(fd);
    throw std::runtime_error("the proxy does not accept");
  }
  int connect(int name) {
    const int fd = dial();
    std::array<std::uint8_t, 64> noise;
    for (std::uint8_t& byte : noise) byte = static_cast<std::uint8_t>(random_() >> 8);
    const auto hello = tls::make_client_hello(name_of(name), noise);
    if (::send(fd, hello.data(), hello.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(hello.size()))
      problem("a hello could not be sent");
    return fd;
  }

  std::uint16_t proxy_;
  std::minstd_rand random_;
};

template <class Step>
void repeat(Step step) {
  while (!is_over) {
    try {
      step();
    } catch (const std::exception& e) {
      if (!is_over) problem(std::string("client: ") + e.what());
    }
  }
}

/// Each table has other endpoints in another order; one of them refuses.
std::shared_ptr<const proxy::RouteTable> make_table(const std::vector<std::unique_ptr<Endpoint4>>& endpoints,
                                                    std::uint16_t refusing, unsigned number) {
  proxy::RouteConfig config;
  config.listeners = {{{Ipv4(127, 0, 0, 1), 443}}};
  for (int i = 0; i < kNames; ++i) {
    proxy::Backend& backend = config.backends.emplace_back();
    backend.name = name_of(i);
    backend.balance = static_cast<proxy::Balance>((number + static_cast<unsigned>(i)) % 3);
    if (number % 3 == 0) backend.endpoints.push_back({Ipv4(127, 0, 0, 1), refusing});
    for (unsigned j = 0; j < kEndpointsPerName; ++j) {
      const auto at = static_cast<std::size_t>(i) * kEndpointsPerName + (j + number) % kEndpointsPerName;
      if (j == 0 || number % 2 == 0) backend.endpoints.push_back({Ipv4(127, 0, 0, 1), endpoints[at]->port});
    }
    proxy::Route& route = config.routes.emplace_back();
    route.port = 443;
    route.names = {name_of(i)};
    route.backend = backend.name;
  }
  return proxy::RouteTable::build(std::move(config)).value();
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

proxy::EngineStats run(double seconds) {
  std::vector<std::unique_ptr<Endpoint4>> endpoints;
  for (int i = 0; i < kNames * kEndpointsPerName; ++i)
    endpoints.push_back(std::make_unique<Endpoint4>(i / kEndpointsPerName));
  const Socket refusing(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  ::bind(refusing.fd(), reinterpret_cast<sockaddr*>(&at), size);
  ::getsockname(refusing.fd(), reinterpret_cast<sockaddr*>(&at), &size);

  boost::asio::io_context io{1};
  proxy::EngineOptions options;
  options.workers = 2;
  options.port_map = {{443, 0}};
  options.inspect_timeout = 2s;
  proxy::Engine engine(io.get_executor(), std::move(options));
  engine.start(make_table(endpoints, ntohs(at.sin_port), 0));
  const std::uint16_t port = engine.listeners().at(0).bound.port;

  std::vector<std::thread> clients;
  unsigned seed = 1;
  for (int i = 0; i < kTransfers; ++i)
    clients.emplace_back([port, s = seed++] {
      Client client(port, s);
      repeat([&] { client.transfer(); });
    });
  for (int i = 0; i < kWatches; ++i)
    clients.emplace_back([port, s = seed++] {
      Client client(port, s);
      repeat([&] { client.watch(); });
    });
  for (int i = 0; i < kSlowlorises; ++i)
    clients.emplace_back([port, s = seed++] {
      Client client(port, s);
      repeat([&] { client.dawdle(); });
    });

  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (unsigned number = 1; std::chrono::steady_clock::now() < end; ++number) {
    std::this_thread::sleep_for(250ms);
    engine.replace(make_table(endpoints, ntohs(at.sin_port), number));
    io.restart();
    io.poll();
  }
  is_over = true;
  for (std::thread& client : clients) client.join();
  bool is_stopped = false;
  engine.stop([&] { is_stopped = true; });
  io.restart();
  io.run_for(10s);
  if (!is_stopped) problem("the engine does not stop");
  for (int i = 0; i < 1000 && sessions > 0; ++i) std::this_thread::sleep_for(10ms);
  if (sessions > 0) problem("a backend's connection does not end");
  return engine.stats();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::signal(SIGPIPE, SIG_IGN);
  const std::size_t before = open_descriptors();
  const proxy::EngineStats stats = run(std::atof(argv[1]));
  const std::size_t after = open_descriptors();
  if (after != before) problem(std::to_string(after) + " descriptors, " + std::to_string(before) + " at the start");
  if (stats.active != 0) problem(std::to_string(stats.active) + " connections left");
  if (transfers == 0 || watched == 0 || stats.inspect_timeouts == 0) problem("not all kinds of traffic took place");
  std::printf("%llu transfers, %llu echoes, %.1f GB, %llu refused endpoints, %llu inspect timeouts, %llu problems\n",
              static_cast<unsigned long long>(transfers), static_cast<unsigned long long>(watched),
              static_cast<double>(bytes) / 1e9, static_cast<unsigned long long>(stats.endpoint_failures),
              static_cast<unsigned long long>(stats.inspect_timeouts), static_cast<unsigned long long>(problems));
  return problems == 0 ? 0 : 1;
}
