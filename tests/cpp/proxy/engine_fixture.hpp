// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <hcpnet/proxy/engine.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hcpnet::test {

using boost::asio::ip::tcp;

/// An engine on a held clock, real sockets on loopback, all on one thread: whatever a peer waits for, the engine runs
/// meanwhile.
class EngineFixture : public testing::Test {
 public:
  /// Runs the engine until `is_done`; false after ten seconds of real time.
  template <class IsDone>
  bool run_until(IsDone&& is_done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!is_done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      io.restart();
      io.run_one_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  /// Runs everything that is ready now.
  void run_ready() {
    io.restart();
    while (io.poll() > 0) io.restart();
  }

  boost::asio::io_context io{1};
  boost::asio::io_context outside{1};  ///< for the sockets of clients and backends, which are used synchronously
  ManualClock clock;
  std::vector<LogRecord> records;

 protected:
  proxy::EngineOptions options() {
    proxy::EngineOptions options;
    options.port_map = {{443, 0}, {6443, 0}};
    options.clock = &clock;
    options.log = Logger([this](const LogRecord& record) { records.push_back(record); }, "proxy");
    return options;
  }
  /// Every "connection closed" record's value of one field.
  std::vector<std::string> closed(std::string_view field) const {
    std::vector<std::string> values;
    for (const LogRecord& record : records) {
      if (record.message != "connection closed") continue;
      for (const auto& [name, value] : record.fields) {
        if (name == field) values.push_back(value);
      }
    }
    return values;
  }
};

/// One end of a TCP connection, as a test uses it. Every wait runs the engine.
class Peer {
 public:
  Peer(EngineFixture& fixture, tcp::socket socket) : fixture_(&fixture), socket_(std::move(socket)) {
    socket_.non_blocking(true);
  }
  /// A client; the kernel completes the connection without the engine.
  static Peer connect(EngineFixture& fixture, const Endpoint& to, const char* from = nullptr) {
    tcp::socket socket(fixture.outside);
    const auto address = boost::asio::ip::make_address(to.address.to_string());
    socket.open(address.is_v4() ? tcp::v4() : tcp::v6());
    if (from != nullptr) socket.bind({boost::asio::ip::make_address(from), 0});
    socket.connect({address, to.port});
    return {fixture, std::move(socket)};
  }

  template <class Bytes>
  void send(const Bytes& bytes) {
    std::size_t sent = 0;
    ASSERT_TRUE(fixture_->run_until([&] {
      sent += send_some({reinterpret_cast<const char*>(bytes.data()) + sent, bytes.size() - sent});
      return sent == bytes.size() || error_;
    }));
    ASSERT_EQ(sent, bytes.size()) << error_.message();
  }
  /// As much as the kernel takes now.
  std::size_t send_some(std::string_view bytes) {
    boost::system::error_code ec;
    const std::size_t count = bytes.empty() ? 0 : socket_.write_some(boost::asio::buffer(bytes), ec);
    if (ec && ec != boost::asio::error::would_block) error_ = ec;
    return count;
  }
  /// Whatever is there now, appended to `into`.
  void receive_some(std::string& into) {
    char buffer[16384];
    boost::system::error_code ec;
    const std::size_t count = socket_.read_some(boost::asio::buffer(buffer), ec);
    into.append(buffer, count);
    if (ec && ec != boost::asio::error::would_block) error_ = ec;
  }
  /// Exactly `count` bytes, or as many as come before the end.
  std::string receive(std::size_t count) {
    std::string received;
    fixture_->run_until([&] {
      char buffer[65536];
      boost::system::error_code ec;
      const std::size_t room = std::min(sizeof buffer, count - received.size());
      if (room > 0) received.append(buffer, socket_.read_some(boost::asio::buffer(buffer, room), ec));
      if (ec && ec != boost::asio::error::would_block) error_ = ec;
      return received.size() == count || error_;
    });
    return received;
  }
  /// How the other side ended, after everything that it sent: eof or an error.
  boost::system::error_code end() {
    fixture_->run_until([&] {
      std::string ignored;
      receive_some(ignored);
      return static_cast<bool>(error_);
    });
    return error_;
  }
  /// Everything up to the end.
  std::string receive_all() {
    std::string received;
    fixture_->run_until([&] {
      receive_some(received);
      return static_cast<bool>(error_);
    });
    return received;
  }
  void finish() { socket_.shutdown(tcp::socket::shutdown_send); }
  void reset() {
    socket_.set_option(boost::asio::socket_base::linger(true, 0));
    socket_.close();
  }
  void close() { socket_.close(); }
  tcp::socket& socket() { return socket_; }
  [[nodiscard]] const tcp::socket& socket() const { return socket_; }

 private:
  EngineFixture* fixture_;
  tcp::socket socket_;
  boost::system::error_code error_;
};

/// A listening socket that stands for a backend's endpoint.
class Server {
 public:
  explicit Server(EngineFixture& fixture, const char* address = "127.0.0.1", int backlog = 64)
      : fixture_(&fixture), acceptor_(fixture.outside) {
    const tcp::endpoint endpoint(boost::asio::ip::make_address(address), 0);
    acceptor_.open(endpoint.protocol());
    acceptor_.bind(endpoint);
    acceptor_.listen(backlog);
    acceptor_.non_blocking(true);
  }
  Endpoint endpoint() const {
    return {*parse_ip_address(acceptor_.local_endpoint().address().to_string()), acceptor_.local_endpoint().port()};
  }
  Peer accept() {
    tcp::socket socket(fixture_->outside);
    const bool is_there = fixture_->run_until([&] { return try_accept(socket); });
    EXPECT_TRUE(is_there) << "nobody connected to the backend";
    return {*fixture_, std::move(socket)};
  }
  bool has_connection() {
    tcp::socket socket(fixture_->outside);
    return try_accept(socket);
  }
  void close() { acceptor_.close(); }

 private:
  bool try_accept(tcp::socket& socket) {
    boost::system::error_code ec;
    acceptor_.accept(socket, ec);
    return !ec;
  }
  EngineFixture* fixture_;
  tcp::acceptor acceptor_;
};

/// An endpoint of loopback that refuses connections: a port that was free a moment ago and stays bound, but not
/// listening.
class ClosedPort {
 public:
  explicit ClosedPort(EngineFixture& fixture) : socket_(fixture.outside) {
    socket_.open(tcp::v4());
    socket_.bind({boost::asio::ip::make_address("127.0.0.1"), 0});
  }
  Endpoint endpoint() const { return {Ipv4(127, 0, 0, 1), socket_.local_endpoint().port()}; }

 private:
  tcp::socket socket_;
};

}  // namespace hcpnet::test
