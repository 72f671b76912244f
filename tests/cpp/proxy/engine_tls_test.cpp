// SPDX-License-Identifier: Apache-2.0
// Real TLS through an engine on its own thread and the system's clock.
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <hcpnet/proxy/engine.hpp>
#include <thread>

#include "support/openssl.hpp"

namespace hcpnet::proxy {
namespace {

using boost::asio::ip::tcp;

/// A TLS server for one name: echoes each connection's bytes until it is closed, one connection after the other.
class EchoServer {
 public:
  EchoServer(const std::string& name, const test::Identity& authority)
      : identity_(test::make_identity(name, &authority)), context_(test::make_server_context(identity_)) {
    thread_ = std::thread([this] { run(); });
  }
  ~EchoServer() {
    is_stopping_ = true;
    boost::system::error_code ignored;
    tcp::socket(io_).connect(acceptor_.local_endpoint(), ignored);  // wakes accept()
    thread_.join();
  }
  Endpoint endpoint() const { return {Ipv4(127, 0, 0, 1), acceptor_.local_endpoint().port()}; }

 private:
  void run() {
    while (!is_stopping_) {
      tcp::socket socket = acceptor_.accept();
      socket.set_option(tcp::no_delay(true));
      const test::SslPtr ssl(SSL_new(context_.get()));
      SSL_set_fd(ssl.get(), socket.native_handle());
      if (SSL_accept(ssl.get()) == 1) echo(ssl.get());
      ERR_clear_error();
    }
  }
  static void echo(SSL* ssl) {
    char buffer[16384];
    for (int count = 0; (count = SSL_read(ssl, buffer, sizeof buffer)) > 0;) SSL_write(ssl, buffer, count);
    SSL_shutdown(ssl);
  }

  boost::asio::io_context io_;
  test::Identity identity_;
  test::SslContextPtr context_;
  tcp::acceptor acceptor_{io_, {boost::asio::ip::make_address("127.0.0.1"), 0}};
  std::atomic<bool> is_stopping_{false};
  std::thread thread_;
};

/// The engine's loop on a thread of its own, as the stack runs it.
class RunningEngine {
 public:
  explicit RunningEngine(const RouteConfig& config) {
    EngineOptions options;
    options.port_map = {{443, 0}};
    engine_ = std::make_unique<Engine>(io_.get_executor(), options);
    engine_->start(RouteTable::build(config).value());
    address_ = engine_->listeners().at(0).bound;
    thread_ = std::thread([this] { io_.run(); });
  }
  ~RunningEngine() {
    boost::asio::post(io_, [this] { engine_->stop([this] { guard_.reset(); }); });
    thread_.join();
  }
  Endpoint address() const { return address_; }
  template <class Function>
  auto on_thread(Function function) {
    std::packaged_task<decltype(function(*engine_))()> task([&] { return function(*engine_); });
    auto result = task.get_future();
    boost::asio::post(io_, [&] { task(); });
    return result.get();
  }

 private:
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{io_.get_executor()};
  std::unique_ptr<Engine> engine_;
  Endpoint address_;
  std::thread thread_;
};

/// Sends `text` to `name` through the proxy, the server's certificate verified for it; returns what came back, or why
/// not.
std::string echo_through(const Endpoint& proxy, SSL_CTX* context, const std::string& name, const std::string& text,
                         int version = 0) {
  boost::asio::io_context io;
  tcp::socket socket(io);
  socket.connect({boost::asio::ip::make_address(proxy.address.to_string()), proxy.port});
  socket.set_option(tcp::no_delay(true));
  const test::SslPtr ssl(SSL_new(context));
  if (version != 0) {
    SSL_set_min_proto_version(ssl.get(), version);
    SSL_set_max_proto_version(ssl.get(), version);
  }
  SSL_set_tlsext_host_name(ssl.get(), name.c_str());
  SSL_set1_host(ssl.get(), name.c_str());
  SSL_set_fd(ssl.get(), socket.native_handle());
  if (SSL_connect(ssl.get()) != 1) {
    ERR_clear_error();
    return "no handshake: " + std::string(X509_verify_cert_error_string(SSL_get_verify_result(ssl.get())));
  }
  std::string received;
  constexpr std::size_t kPiece = 16'000;
  for (std::size_t sent = 0; sent < text.size();) {
    const std::size_t count = std::min(kPiece, text.size() - sent);
    if (SSL_write(ssl.get(), text.data() + sent, static_cast<int>(count)) <= 0) return "write failed";
    sent += count;
    while (received.size() < sent) {
      char buffer[16384];
      const int got = SSL_read(ssl.get(), buffer, sizeof buffer);
      if (got <= 0) return "read failed";
      received.append(buffer, static_cast<std::size_t>(got));
    }
  }
  SSL_shutdown(ssl.get());
  return received;
}

RouteConfig two_names(const EchoServer& api, const EchoServer& apps) {
  RouteConfig config;
  config.listeners = {{{Ipv4(127, 0, 0, 1), 443}, {}}};
  for (const auto& [name, pattern, server] :
       {std::tuple{"api", "api.blue.test", &api}, std::tuple{"apps", "*.apps.blue.test", &apps}}) {
    Backend& backend = config.backends.emplace_back();
    backend.name = name;
    backend.endpoints = {server->endpoint()};
    Route& route = config.routes.emplace_back();
    route.port = 443;
    route.names = {pattern};
    route.backend = name;
  }
  return config;
}

TEST(EngineWithTls, ClientsVerifyTheServerOfTheirName) {
  const test::Identity authority = test::make_identity("Test CA");
  const EchoServer api("api.blue.test", authority), apps("console.apps.blue.test", authority);
  RunningEngine proxy(two_names(api, apps));
  const test::SslContextPtr context = test::make_client_context(authority);
  const std::string text(300'000, 'x');
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    EXPECT_EQ(echo_through(proxy.address(), context.get(), "api.blue.test", text, version), text);
    EXPECT_EQ(echo_through(proxy.address(), context.get(), "console.apps.blue.test", text, version), text);
  }
  EXPECT_EQ(echo_through(proxy.address(), context.get(), "other.apps.blue.test", "x"),
            "no handshake: hostname mismatch");
  EXPECT_EQ(echo_through(proxy.address(), context.get(), "unknown.test", "x"), "no handshake: ok");
  const EngineStats stats = proxy.on_thread([](Engine& engine) { return engine.stats(); });
  EXPECT_EQ(stats.backends.at("api").total, 2u);
  EXPECT_EQ(stats.backends.at("apps").total, 3u);
  EXPECT_EQ(stats.decisions.at("no_match"), 1u);
}

TEST(EngineWithTls, ReloadsUnderTrafficDisturbNobody) {
  const test::Identity authority = test::make_identity("Test CA");
  const EchoServer api("api.blue.test", authority), apps("console.apps.blue.test", authority);
  const RouteConfig config = two_names(api, apps);
  RunningEngine proxy(config);
  const test::SslContextPtr context = test::make_client_context(authority);
  std::atomic<int> good{0};
  std::vector<std::thread> clients;
  for (const char* name : {"api.blue.test", "console.apps.blue.test"}) {
    clients.emplace_back([&, name] {
      const std::string text(200'000, *name);
      for (int i = 0; i < 5; ++i) good += echo_through(proxy.address(), context.get(), name, text) == text ? 1 : 0;
    });
  }
  for (int i = 0; i < 50; ++i) {
    proxy.on_thread([&](Engine& engine) { return engine.replace(RouteTable::build(config).value()); });
  }
  for (std::thread& thread : clients) thread.join();
  EXPECT_EQ(good, 10);
}

}  // namespace
}  // namespace hcpnet::proxy
