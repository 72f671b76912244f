// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>
#include <poll.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <functional>
#include <hcpnet/dns/server.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dns/dns_support.hpp"
#include "dns/endpoints.hpp"

namespace hcpnet::test {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::ip::udp;

/// How long a test waits, in real time, for something that must come.
inline constexpr std::chrono::seconds kPatience{20};

/// Runs the event loop until `ready` holds; false when patience ends.
inline bool run_until(asio::io_context& io, const std::function<bool()>& ready) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!ready()) {
    if (std::chrono::steady_clock::now() > end) return false;
    io.restart();
    if (io.poll() == 0) io.run_one_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// Runs whatever is ready, and what follows from it.
inline void run_ready(asio::io_context& io) {
  for (int quiet = 0; quiet < 3; ++quiet) {
    io.restart();
    while (io.run_one_for(std::chrono::milliseconds(1)) > 0) quiet = 0;
    io.restart();
  }
}

/// A client of one UDP socket.
class UdpClient {
 public:
  UdpClient(asio::io_context& io, const Endpoint& server, const char* from = "127.0.0.1")
      : UdpClient(io, udp::endpoint(dns::to_asio(server.address), server.port), from) {}
  /// An address may have a zone here.
  UdpClient(asio::io_context& io, udp::endpoint server, const char* from)
      : io_(io), socket_(io, udp::endpoint(asio::ip::make_address(from), 0)), server_(std::move(server)) {
    socket_.non_blocking(true);
  }
  void send(ByteView bytes) { socket_.send_to(asio::buffer(bytes.data(), bytes.size()), server_); }
  void send(const dns::Message& query) { send(dns::encode_message(query).value()); }
  std::optional<Bytes> try_receive() {
    Bytes bytes(65535);
    boost::system::error_code ec;
    bytes.resize(socket_.receive_from(asio::buffer(bytes), replied_from, 0, ec));
    return ec ? std::nullopt : std::optional(bytes);
  }
  Bytes receive_bytes() {
    std::optional<Bytes> bytes;
    EXPECT_TRUE(run_until(io_, [&] { return (bytes = try_receive()).has_value(); })) << "no reply";
    return bytes.value_or(Bytes{});
  }
  dns::Message receive() { return dns::parse_message(receive_bytes()).value(); }
  dns::Message ask(const dns::Message& query) {
    send(query);
    return receive();
  }

  udp::endpoint replied_from;

 private:
  asio::io_context& io_;
  udp::socket socket_;
  udp::endpoint server_;
};

/// A client of one TCP connection.
class TcpClient {
 public:
  TcpClient(asio::io_context& io, const Endpoint& server) : io_(io), socket(io) {
    socket.connect({dns::to_asio(server.address), server.port});
    socket.non_blocking(true);
  }
  static Bytes frame(ByteView message) {
    Bytes framed{static_cast<std::uint8_t>(message.size() >> 8), static_cast<std::uint8_t>(message.size())};
    framed.insert(framed.end(), message.begin(), message.end());
    return framed;
  }
  static Bytes frame(const dns::Message& query) { return frame(dns::encode_message(query).value()); }
  void send(ByteView bytes) {
    socket.non_blocking(false);
    asio::write(socket, asio::buffer(bytes.data(), bytes.size()));
    socket.non_blocking(true);
  }
  /// The next message; nullopt when the server has closed.
  std::optional<dns::Message> receive() {
    std::optional<Bytes> message;
    EXPECT_TRUE(run_until(io_, [&] { return pull(message); })) << "no reply";
    if (!message) return std::nullopt;
    return dns::parse_message(*message).value();
  }
  bool is_closed() {
    std::optional<Bytes> message;
    return pull(message) && !message;
  }
  bool wait_closed() {
    return run_until(io_, [&] { return is_closed(); });
  }

 private:
  /// True when `message` is there, or never will be.
  bool pull(std::optional<Bytes>& message) {
    std::array<std::uint8_t, 4096> chunk;
    boost::system::error_code ec;
    const std::size_t size = socket.read_some(asio::buffer(chunk), ec);
    received_.insert(received_.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(size));
    const std::size_t needed = received_.size() < 2 ? 2 : 2 + (std::size_t{received_[0]} << 8 | received_[1]);
    if (received_.size() >= 2 && received_.size() >= needed) {
      message = Bytes(received_.begin() + 2, received_.begin() + static_cast<std::ptrdiff_t>(needed));
      received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(needed));
      return true;
    }
    return ec && ec != asio::error::would_block;
  }

  asio::io_context& io_;

 public:
  tcp::socket socket;

 private:
  Bytes received_;
};

/// An upstream that does as its script says, over UDP and TCP on one port.
class ScriptedUpstream {
 public:
  struct Asked {
    dns::Message query;
    bool over_tcp = false;
    udp::endpoint client;
    int number = 0;  ///< from 1
  };
  /// The bytes of the reply, or none for silence.
  using Script = std::function<std::optional<Bytes>(const Asked&)>;

  ScriptedUpstream(asio::io_context& io, Script does, const char* address = "127.0.0.1")
      : script(std::move(does)), udp_(io), acceptor_(io) {
    bind_both(asio::ip::make_address(address));
    receive();
    accept();
  }
  [[nodiscard]] Endpoint endpoint() const {
    return {dns::from_asio(udp_.local_endpoint().address()), udp_.local_endpoint().port()};
  }
  void send_to(const udp::endpoint& client, ByteView bytes) {
    udp_.send_to(asio::buffer(bytes.data(), bytes.size()), client);
  }

  Script script;
  std::vector<Asked> asked;

 private:
  /// The system chooses the UDP port; its TCP twin may be taken, and then it chooses again.
  void bind_both(const asio::ip::address& address) {
    for (int attempt = 1;; ++attempt) {
      udp_ = udp::socket(udp_.get_executor(), udp::endpoint(address, 0));
      const tcp::endpoint same(address, udp_.local_endpoint().port());
      acceptor_ = tcp::acceptor(acceptor_.get_executor());
      acceptor_.open(same.protocol());
      acceptor_.set_option(tcp::acceptor::reuse_address(true));
      boost::system::error_code ec;
      acceptor_.bind(same, ec);
      if (!ec) acceptor_.listen(tcp::acceptor::max_listen_connections, ec);
      if (!ec) return;
      if (ec != asio::error::address_in_use || attempt == 32)
        throw boost::system::system_error(ec, "scripted upstream");
    }
  }
  std::optional<Bytes> on_query(ByteView bytes, bool over_tcp, const udp::endpoint& client) {
    asked.push_back({dns::parse_message(bytes).value(), over_tcp, client, static_cast<int>(asked.size()) + 1});
    return script(Asked(asked.back()));
  }
  void receive() {
    udp_.async_receive_from(asio::buffer(buffer_), client_, [this](boost::system::error_code ec, std::size_t size) {
      if (ec) return;
      if (const auto reply = on_query(ByteView(buffer_).first(size), false, client_)) send_to(client_, *reply);
      receive();
    });
  }
  void accept() {
    acceptor_.async_accept([this](boost::system::error_code ec, tcp::socket socket) {
      if (ec) return;
      const auto shared = std::make_shared<tcp::socket>(std::move(socket));
      const auto query = std::make_shared<Bytes>(2);
      asio::async_read(*shared, asio::buffer(*query),
                       [this, shared, query](boost::system::error_code bad, std::size_t) {
                         if (bad) return;
                         query->resize(std::size_t{(*query)[0]} << 8 | (*query)[1]);
                         asio::async_read(*shared, asio::buffer(*query),
                                          [this, shared, query](boost::system::error_code worse, std::size_t) {
                                            if (worse) return;
                                            const auto reply = on_query(*query, true, {});
                                            if (!reply) return;
                                            const Bytes framed = TcpClient::frame(*reply);
                                            asio::write(*shared, asio::buffer(framed));
                                          });
                       });
      accept();
    });
  }

  udp::socket udp_;
  tcp::acceptor acceptor_;
  udp::endpoint client_;
  std::array<std::uint8_t, 4096> buffer_{};
};

/// A reply with these A records.
inline Bytes reply_with(const dns::Message& query, std::vector<std::string> addresses, std::uint32_t ttl = 60) {
  dns::Message reply = query;
  reply.flags |= dns::flag::kResponse | dns::flag::kRecursionAvailable;
  reply.edns.reset();
  for (const std::string& address : addresses)
    reply.answers.push_back(
        {query.questions[0].name, dns::Type::a, dns::kClassIn, ttl, std::string(as_text(ipv4(address).bytes()))});
  return dns::encode_message(reply).value();
}
inline Bytes reply_with_code(const dns::Message& query, dns::Rcode rcode) {
  dns::Message reply = query;
  reply.flags = static_cast<std::uint16_t>(reply.flags | dns::flag::kResponse | static_cast<std::uint16_t>(rcode));
  return dns::encode_message(reply).value();
}

/// A server on loopback, on ports that the system chose, with time in the test's hand.
class DnsServerTest : public testing::Test {
 protected:
  ~DnsServerTest() override {
    if (server) server->stop({});
    run_ready(io);
  }
  static dns::Config config_with(dns::Forwarding forwarding = {}) {
    dns::Config config;
    config.listeners = {Endpoint{Ipv4(127, 0, 0, 1), 53}};
    config.views = {view_of({std::make_shared<const dns::Zone>(
        name("blue.example"), std::vector<dns::RRset>{a_record("api.blue.example", "192.0.2.4")})})};
    config.forwarding = std::move(forwarding);
    return config;
  }
  void start(dns::Config config) {
    options.port_map[53] = 0;
    options.clock = &clock;
    server = std::make_unique<dns::Server>(io.get_executor(), options);
    server->start(std::move(config));
  }
  [[nodiscard]] Endpoint bound(std::size_t i = 0) const { return server->listeners().at(i).bound; }
  [[nodiscard]] std::uint64_t dropped(const std::string& reason) const { return server->stats().dropped.at(reason); }

  asio::io_context io;
  ManualClock clock;
  dns::ServerOptions options;
  std::unique_ptr<dns::Server> server;
};

}  // namespace hcpnet::test
