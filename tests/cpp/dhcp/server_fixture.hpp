// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <hcpnet/dhcp/server.hpp>
#include <optional>
#include <string>
#include <thread>

namespace hcpnet::test {

/// A network on loopback: any address of 127.0.0.0/8 can be asked for without root.
inline dhcp::Config loopback_config() {
  dhcp::Subnet subnet;
  subnet.name = "test/loopback";
  subnet.cidr = Ipv4Cidr(Ipv4(127, 0, 0, 0), 8);
  subnet.server_id = Ipv4(127, 0, 0, 1);
  subnet.pools = {{{Ipv4(127, 1, 0, 1), Ipv4(127, 1, 255, 254)}}};
  subnet.lease_time = std::chrono::hours(1);
  return {{subnet}, {}, {}};
}

/// A server with a thread of its own.
class ServerThread {
 public:
  explicit ServerThread(const std::string& database, const dhcp::Config& config = loopback_config(),
                        dhcp::ServerOptions options = {})
      : guard_(io_.get_executor()) {
    options.database = database;
    options.port_map = {{67, 0}, {547, 0}};
    server_.emplace(io_.get_executor(), std::move(options));
    server_->start(config);
    port_ = server_->bound().at(0).bound.port;
    thread_ = std::thread([this] { io_.run(); });
  }
  ~ServerThread() {
    io_.stop();
    thread_.join();
  }
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Calls on the server's thread and waits.
  template <class Call>
  auto run(Call call) {
    std::packaged_task<decltype(call(*server_))()> task([&] { return call(*server_); });
    auto result = task.get_future();
    boost::asio::post(io_, [&task] { task(); });
    return result.get();
  }
  /// Stops the server and waits until it has.
  void stop() {
    std::promise<void> stopped;
    run([&](dhcp::Server& server) { server.stop([&] { stopped.set_value(); }); });
    stopped.get_future().wait();
  }

 private:
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_;
  std::optional<dhcp::Server> server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace hcpnet::test
