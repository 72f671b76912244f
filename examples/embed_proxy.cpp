// SPDX-License-Identifier: Apache-2.0
// A proxy engine inside a program that has an event loop, a way to look names up and a list of endpoints of its own.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <future>
#include <hcpnet/proxy/engine.hpp>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using boost::asio::ip::tcp;
using namespace hcpnet;

constexpr std::uint16_t kSshPort = 22;

/// Connections of `port` go to one backend, whatever they say: ssh, for example. `endpoints` may be empty; then its
/// name is looked up.
std::shared_ptr<const proxy::RouteTable> make_table(std::vector<Endpoint> endpoints) {
  proxy::RouteConfig config;
  config.listeners = {{.address = {Ipv4(127, 0, 0, 1), kSshPort}, .kind = proxy::ListenerKind::tcp}};
  config.backends.resize(1);
  config.backends[0].name = "bastion";
  config.backends[0].host = "bastion.internal";
  config.backends[0].port = kSshPort;
  config.backends[0].endpoints = std::move(endpoints);
  config.routes = {{.port = kSshPort, .not_tls = true, .backend = "bastion"}};
  return proxy::RouteTable::build(std::move(config)).value();
}

/// A server that greets each client and ends.
class Greeter {
 public:
  Greeter(boost::asio::io_context& io, std::string greeting)
      : greeting_(std::move(greeting)), acceptor_(io, {boost::asio::ip::make_address("127.0.0.1"), 0}) {
    accept();
  }
  [[nodiscard]] Endpoint endpoint() const { return {Ipv4(127, 0, 0, 1), acceptor_.local_endpoint().port()}; }
  void close() { acceptor_.close(); }

 private:
  void accept() {
    acceptor_.async_accept([this](boost::system::error_code ec, tcp::socket socket) {
      if (ec) return;
      boost::asio::write(socket, boost::asio::buffer(greeting_));
      accept();
    });
  }
  std::string greeting_;
  tcp::acceptor acceptor_;
};

/// What a client gets that connects to `to`.
std::string greeting_at(const Endpoint& to) {
  boost::asio::io_context io;
  tcp::socket socket(io);
  socket.connect({boost::asio::ip::make_address(to.address.to_string()), to.port});
  std::string text;
  boost::system::error_code eof;
  boost::asio::read(socket, boost::asio::dynamic_buffer(text), eof);
  return text;
}

}  // namespace

int main() {
  try {
    boost::asio::io_context io;  // the program's own loop, in the thread that calls run()
    Greeter one(io, "one"), two(io, "two");

    proxy::EngineOptions options;
    options.port_map = {{kSshPort, 0}};  // a port that the system chooses
    options.resolve = [&](const std::string& host, std::uint16_t, const proxy::Resolved& resolved) {
      std::cout << "asked for " << host << '\n';
      resolved(proxy::Resolution({one.endpoint()}, std::chrono::seconds(60)));
    };
    options.access_log = [](const std::string& line) { std::cout << line << '\n'; };
    proxy::Engine engine(io.get_executor(), std::move(options));
    engine.start(make_table({}));
    const Endpoint address = engine.listeners().at(0).bound;

    std::string first, second;
    std::thread clients([&] {
      first = greeting_at(address);
      // An engine is called on the thread of its loop.
      std::promise<void> replaced;
      boost::asio::post(io, [&] {
        engine.replace(make_table({two.endpoint()}));  // from a watch of endpoints, say
        replaced.set_value();
      });
      replaced.get_future().wait();
      second = greeting_at(address);
      boost::asio::post(io, [&] {
        engine.stop([&] {
          one.close();
          two.close();
        });
      });
    });
    io.run();  // ends when nothing is left to do
    clients.join();
    return first == "one" && second == "two" ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
