// SPDX-License-Identifier: Apache-2.0
// Mixed traffic through one proxy while it is reloaded, its endpoints come and go and its names move from backend to
// backend: proxy_soak SECONDS. TLS by name, HTTP by Host, plain TCP where the server speaks first, headers of the PROXY
// protocol in and out, datagrams, clients that say nothing; transfers of every Fate, and tunnels that are held open.
// Fails when a byte or datagram is changed, or a byte lost (both ends know what the other one sends), when a reset
// arrives as an end or an end as a reset, when a backend is reached that the name was not with at that time, when a
// backend is told of another client, or when a tunnel, descriptor or buffer is left at the end.
#include <array>
#include <atomic>
#include <bitset>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <hcpnet/proxy/engine.hpp>
#include <iterator>
#include <memory>

#include "proxy/soak_backends.hpp"
#include "tls/client_hello_writer.hpp"

namespace {

using namespace hcpnet;
using namespace hcpnet::soak;
using namespace std::chrono_literals;
using proxy::ListenerKind;

constexpr unsigned kEndpointsPerOwner = 2;
constexpr unsigned kVisitors = 12;
constexpr unsigned kWatches = 12;
constexpr unsigned kSilent = 50;
constexpr unsigned kUdpClients = 4;

constexpr std::uint16_t kTlsPort = 443;
constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kTcpPort = 22;
constexpr std::uint16_t kUdpPort = 53;
constexpr std::uint16_t kTrustingPort = 8443;  ///< TLS, behind a trusted proxy
constexpr Ipv4 kTrustedProxy(127, 0, 0, 9);

/// How clients come to their backend.
struct Way {
  const char* name;
  std::uint16_t port;  ///< as configured
  ListenerKind kind = ListenerKind::tls;
  bool sends_header = false;  ///< as a trusted proxy does
  bool is_told = false;       ///< the backend gets a header
  std::uint16_t bound = 0;    ///< the port that the kernel gave
  std::array<std::atomic<std::uint64_t>, kFateNames.size()> counts{};
};
Way ways[] = {{"TLS", kTlsPort},
              {"HTTP", kHttpPort, ListenerKind::http},
              {"TCP", kTcpPort, ListenerKind::tcp},
              {"header in", kTrustingPort, ListenerKind::tls, true},
              {"header out", kTrustingPort, ListenerKind::tls, false, true},
              {"header in and out", kTrustingPort, ListenerKind::tls, true, true}};
std::atomic<std::uint64_t> datagrams_sent{0}, datagrams_answered{0};

class Client {
 public:
  explicit Client(unsigned seed) : random_(seed) {}

  /// One connection, some way, of some fate: half of them whole. obey() has the backend's part.
  void visit() {
    Way& way = ways[below(std::size(ways))];
    const auto drawn = static_cast<Fate>(below(8));
    const Fate fate = drawn < Fate::echo ? drawn : Fate::whole;
    const Order order = draw(way, fate);
    Socket socket = open(way, order);
    Exchange backend(socket, order.seed, ~order.seed);
    switch (fate) {
      case Fate::whole:
        backend.send(order.up);
        backend.receive(order.down);
        backend.finish();
        backend.expect_end();
        break;
      case Fate::client_half_closes:
        backend.send(order.up);
        backend.finish();
        backend.receive(order.down);
        backend.expect_end();
        break;
      case Fate::backend_half_closes:
        backend.send(order.up / 2);
        backend.receive(order.down);
        backend.expect_end();
        backend.send(order.up - order.up / 2);
        break;
      case Fate::client_resets:
        backend.send(order.up);
        backend.receive(order.down / 2);
        backend.reset();
        break;
      case Fate::backend_resets:
        expect_reset([&] {
          backend.send(order.up);
          backend.receive(order.down);
          backend.expect_end();
        });
        break;
      case Fate::echo:
        break;
    }
    count(way, fate);
  }

  /// A tunnel that is held open until the end of it all.
  void watch(Way& way) {
    const Socket socket = open(way, draw(way, Fate::echo));
    while (!is_over) {
      char sent[64], got[64];
      for (char& c : sent) c = static_cast<char>(random_() >> 8);
      socket.send(sent, sizeof sent);
      socket.receive(got, sizeof got);
      if (std::memcmp(sent, got, sizeof sent) != 0) problem("an echo was changed");
      count(way, Fate::echo);
      std::this_thread::sleep_for(20ms);
    }
  }

  /// Says nothing that would lead anywhere until it is thrown out.
  void dawdle() {
    const Way& way = ways[below(std::size(ways))];
    if (way.kind == ListenerKind::tcp) return;  // which leads somewhere at once
    const Socket socket = dial(way);
    socket.send(way.sends_header ? "P" : way.kind == ListenerKind::http ? "G" : "\x16", 1);
    char byte = 0;
    if (socket.receive_some(&byte, 1) != 0) problem("a silent client got an answer");
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }
  static void count(Way& way, Fate fate) { ++way.counts[static_cast<std::size_t>(fate)]; }

  Order draw(const Way& way, Fate fate) {
    constexpr std::uint64_t kSizes[] = {1, 1000, 70'000, 1'000'000};
    Order order;
    order.kind = way.kind;
    order.fate = fate;
    order.route = static_cast<std::uint16_t>(below(kNames));
    if (way.kind == ListenerKind::tcp) order.route = kTcpRoute;
    if (way.is_told) order.route = kToldRoute;
    order.up = kSizes[below(std::size(kSizes))] + below(100);
    order.down = kSizes[below(std::size(kSizes))] + below(100);
    order.seed = random_();
    if ((fate == Fate::client_resets || fate == Fate::backend_resets) && below(2) == 0) order.down = 0;
    return order;
  }

  static Socket dial(const Way& way) {
    Socket socket(::socket(AF_INET, SOCK_STREAM, 0));
    socket.limit_waits(kPatience);
    if (way.sends_header) {
      const int is_late = 1;  // the port is chosen with the peer known, so that more of them are free
      ::setsockopt(socket.fd(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &is_late, sizeof is_late);
      socket.bind(loopback(0, kTrustedProxy));
    }
    socket.connect(loopback(way.bound));
    return socket;
  }

  /// A connection whose backend has the order, and is one that may have it.
  Socket open(const Way& way, Order order) {
    const unsigned first = in_force;
    Socket socket = dial(way);
    order.parties = parties_of(way, socket);
    const std::string opening = opening_of(way, order);
    const bool speaks_first = way.kind != ListenerKind::tcp;
    if (speaks_first) socket.send(opening.data(), opening.size());
    unsigned owner = 0;
    socket.receive(&owner, sizeof owner);
    if (!may_lead(order.route, owner, first))
      problem("route " + std::to_string(order.route) + " led to backend " + std::to_string(owner) +
              ", which had it in no version since " + std::to_string(first));
    if (!speaks_first) socket.send(opening.data(), opening.size());
    return socket;
  }

  Parties parties_of(const Way& way, const Socket& socket) {
    if (way.sends_header)
      return {static_cast<std::uint32_t>(Ipv4(192, 0, 2, 0).value() + below(256)),
              static_cast<std::uint32_t>(Ipv4(198, 51, 100, 0).value() + below(256)),
              static_cast<std::uint16_t>(1 + below(65'535)), static_cast<std::uint16_t>(1 + below(65'535))};
    const sockaddr_in own = socket.local();
    return {ntohl(own.sin_addr.s_addr), INADDR_LOOPBACK, ntohs(own.sin_port), way.bound};
  }

  /// All that comes before the content.
  std::string opening_of(const Way& way, const Order& order) {
    std::string opening;
    if (way.sends_header) {
      const auto version = below(2) == 0 ? proxy::ProxyHeaderVersion::v1 : proxy::ProxyHeaderVersion::v2;
      const auto header = proxy::encode_proxy_header(version, order.parties.addresses());
      opening.append(header.begin(), header.end());
    }
    if (way.kind == ListenerKind::http) opening += "GET / HTTP/1.1\r\nHost: " + name_of(order.route) + "\r\n\r\n";
    if (way.kind == ListenerKind::tls) {
      std::array<std::uint8_t, 64> noise;
      for (std::uint8_t& byte : noise) byte = static_cast<std::uint8_t>(random_() >> 8);
      const auto hello = tls::make_client_hello(name_of(order.route), noise);
      opening.append(hello.begin(), hello.end());
    }
    opening.append(reinterpret_cast<const char*>(&order), sizeof order);
    return opening;
  }

  std::minstd_rand random_;
};

/// Datagrams may be lost, in a full socket or with a flow that a reload ends. Those that come must be right.
class UdpClient {
 public:
  UdpClient(std::uint16_t proxy_port, std::uint32_t number)
      : client_(number), random_(number + 1), socket_(::socket(AF_INET, SOCK_DGRAM, 0)) {
    socket_.limit_waits({0, 200'000});
    socket_.connect(loopback(proxy_port));
  }

  void burst() {
    const unsigned first = in_force;
    const std::uint64_t begin = next_;
    for (; next_ < begin + kBurst; ++next_) {
      const std::vector<char> datagram = make_datagram({next_, client_, first});
      socket_.send(datagram.data(), datagram.size());
      ++datagrams_sent;
    }
    std::bitset<kBurst> answered;
    while (!answered.all()) {
      const std::optional<std::uint64_t> number = receive_answer();
      if (!number) break;             // what has not come yet counts as lost
      if (*number < begin) continue;  // of an earlier burst after all
      if (answered.test(*number - begin)) problem("a datagram was answered twice");
      answered.set(*number - begin);
    }
    // Now and then for so long that the flow ends.
    std::this_thread::sleep_for(random_() % 128 == 0 ? 1500ms : 20ms);
  }

 private:
  static constexpr std::size_t kBurst = 16;

  /// The number of the datagram that was answered; nullopt: no answer comes any more.
  std::optional<std::uint64_t> receive_answer() const {
    unsigned owner = 0;
    std::array<char, sizeof owner + kLargestDatagram> buffer;
    const ssize_t count = ::recv(socket_.fd(), buffer.data(), buffer.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return std::nullopt;
    if (count < static_cast<ssize_t>(sizeof owner)) throw std::runtime_error("no answer to a datagram");
    std::memcpy(&owner, buffer.data(), sizeof owner);
    const auto head =
        parse_datagram(std::span<const char>(buffer).first(static_cast<std::size_t>(count)).subspan(sizeof owner));
    if (!head || head->client != client_ || head->number >= next_)
      throw std::runtime_error("an answer is to no datagram of this client");
    // A flow ends a moment after the reload that takes its endpoint away: one version of grace.
    if (!may_lead(kUdpRoute, owner, head->first == 0 ? 0 : head->first - 1))
      problem("a datagram reached an endpoint that its backend did not have");
    ++datagrams_answered;
    return head->number;
  }

  std::uint32_t client_;
  std::uint64_t next_ = 0;
  std::minstd_rand random_;
  Socket socket_;
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

/// What is behind the proxy.
struct Backends {
  Backends() {
    for (unsigned i = 0; i < (kOwners + 1) * kEndpointsPerOwner; ++i)
      tcp.push_back(std::make_unique<TcpEndpoint>(i / kEndpointsPerOwner));
    for (unsigned owner = 0; owner < kOwners; ++owner) udp.push_back(std::make_unique<UdpEndpoint>(owner));
  }
  std::vector<std::unique_ptr<TcpEndpoint>> tcp;  ///< by owner, and kTold's
  std::vector<std::unique_ptr<UdpEndpoint>> udp;  ///< by owner
  Socket refusing{::socket(AF_INET, SOCK_STREAM, 0)};
  std::uint16_t refusing_port = take_port(refusing);
};

/// Each version has other endpoints in another order; one of them refuses.
proxy::Backend make_backend(const Backends& backends, unsigned owner, unsigned version) {
  proxy::Backend backend;
  backend.name = "owner" + std::to_string(owner);
  backend.balance = static_cast<proxy::Balance>((version + owner) % 3);
  if (version % 3 == 0) backend.endpoints.push_back({Ipv4(127, 0, 0, 1), backends.refusing_port});
  for (unsigned i = 0; i < kEndpointsPerOwner; ++i) {
    const std::size_t at = owner * kEndpointsPerOwner + (i + version) % kEndpointsPerOwner;
    if (i == 0 || version % 2 == 0) backend.endpoints.push_back({Ipv4(127, 0, 0, 1), backends.tcp[at]->port()});
  }
  if (owner == kTold)
    backend.proxy_header = version % 2 == 0 ? proxy::ProxyHeaderVersion::v1 : proxy::ProxyHeaderVersion::v2;
  return backend;
}

void add_listener(proxy::RouteConfig& config, std::uint16_t port, ListenerKind kind) {
  proxy::Listener& listener = config.listeners.emplace_back();
  listener.address = {Ipv4(127, 0, 0, 1), port};
  listener.kind = kind;
}

proxy::Route& add_route(proxy::RouteConfig& config, std::uint16_t port, const std::string& backend) {
  proxy::Route& route = config.routes.emplace_back();
  route.port = port;
  route.backend = backend;
  return route;
}

std::shared_ptr<const proxy::RouteTable> make_table(const Backends& backends, unsigned version) {
  proxy::RouteConfig config;
  add_listener(config, kTlsPort, ListenerKind::tls);
  add_listener(config, kHttpPort, ListenerKind::http);
  add_listener(config, kTcpPort, ListenerKind::tcp);
  add_listener(config, kUdpPort, ListenerKind::udp);
  add_listener(config, kTrustingPort, ListenerKind::tls);
  config.listeners.back().trusted_proxies = {Cidr(kTrustedProxy, 32)};

  for (unsigned owner = 0; owner <= kTold; ++owner) config.backends.push_back(make_backend(backends, owner, version));
  const auto backend_of = [&](unsigned route) { return config.backends[owner_of(route, version)].name; };
  for (unsigned route = 0; route < kNames; ++route)
    for (const std::uint16_t port : {kTlsPort, kHttpPort, kTrustingPort})
      add_route(config, port, backend_of(route)).names = {name_of(route)};
  add_route(config, kTrustingPort, backend_of(kToldRoute)).names = {name_of(kToldRoute)};
  add_route(config, kTcpPort, backend_of(kTcpRoute)).not_tls = true;

  // Of datagrams the endpoint moves, so that flows have to.
  proxy::Backend& udp = config.backends.emplace_back();
  udp.name = "udp";
  udp.endpoints = {{Ipv4(127, 0, 0, 1), backends.udp[owner_of(kUdpRoute, version)]->port()}};
  proxy::Route& datagrams = add_route(config, kUdpPort, udp.name);
  datagrams.not_tls = true;
  datagrams.protocol = proxy::Protocol::udp;
  return proxy::RouteTable::build(std::move(config)).value();
}

/// Tells the ways their ports.
void note_ports(const proxy::Engine& engine) {
  for (const proxy::BoundListener& listener : engine.listeners())
    for (Way& way : ways)
      if (way.port == listener.configured.port) way.bound = listener.bound.port;
}
std::uint16_t udp_port(const proxy::Engine& engine) {
  for (const proxy::BoundListener& listener : engine.listeners())
    if (listener.kind == ListenerKind::udp) return listener.bound.port;
  throw std::runtime_error("no listener for datagrams");
}

std::vector<std::thread> start_clients(std::uint16_t proxy_udp_port) {
  std::vector<std::thread> threads;
  unsigned seed = 1;
  const auto start = [&](unsigned number, auto step) {
    for (unsigned i = 0; i < number; ++i)
      threads.emplace_back([step, i, own_seed = seed++] {
        Client client(own_seed);
        repeat([&] { step(client, i); });
      });
  };
  start(kVisitors, [](Client& client, unsigned) { client.visit(); });
  start(kWatches, [](Client& client, unsigned i) { client.watch(ways[i % std::size(ways)]); });
  start(kSilent, [](Client& client, unsigned) { client.dawdle(); });
  for (unsigned i = 0; i < kUdpClients; ++i)
    threads.emplace_back([proxy_udp_port, i] {
      UdpClient client(proxy_udp_port, i);
      repeat([&] { client.burst(); });
    });
  return threads;
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

proxy::EngineStats run(double seconds) {
  const Backends backends;
  boost::asio::io_context io{1};
  proxy::EngineOptions options;
  options.workers = 2;
  for (const std::uint16_t port : {kTlsPort, kHttpPort, kTcpPort, kUdpPort, kTrustingPort}) options.port_map[port] = 0;
  options.inspect_timeout = 2s;
  options.udp_idle_timeout = 1s;
  proxy::Engine engine(io.get_executor(), std::move(options));
  engine.start(make_table(backends, 0));
  note_ports(engine);
  std::vector<std::thread> clients = start_clients(udp_port(engine));

  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (unsigned version = 1; std::chrono::steady_clock::now() < end; ++version) {
    std::this_thread::sleep_for(250ms);
    coming = version;
    engine.replace(make_table(backends, version));
    in_force = version;
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

/// To the line of its kind of traffic, all of which must have taken place.
void add(std::string& line, std::uint64_t count, const std::string& what) {
  line += (line.back() == ':' ? " " : ", ") + std::to_string(count) + ' ' + what;
  if (count == 0) problem("not all kinds of traffic took place; " + line);
}

void report(const proxy::EngineStats& stats) {
  for (const Way& way : ways) {
    std::string line = std::string(way.name) + ':';
    for (std::size_t i = 0; i < kFateNames.size(); ++i) add(line, way.counts[i], kFateNames[i]);
    std::puts(line.c_str());
  }
  std::string line = "datagrams:";
  add(line, datagrams_sent, "sent");
  add(line, datagrams_answered, "answered");
  std::puts(line.c_str());
  line = "proxy:";
  add(line, in_force, "reloads");
  add(line, stats.endpoint_failures, "refused endpoints");
  add(line, stats.inspect_timeouts, "silent clients");
  std::printf("%s, %.1f GB, %llu problems\n", line.c_str(), static_cast<double>(carried) / 1e9,
              static_cast<unsigned long long>(problems));
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
  if (stats.buffers_in_use != 0) problem(std::to_string(stats.buffers_in_use) + " buffers left");
  report(stats);
  return problems == 0 ? 0 : 1;
}
