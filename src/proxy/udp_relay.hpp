// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/ip/udp.hpp>
#include <cstdint>
#include <hcpnet/proxy/engine.hpp>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "proxy/connection.hpp"
#include "proxy/sockets.hpp"
#include "proxy/worker.hpp"

namespace hcpnet::proxy {

namespace asio = boost::asio;
using asio::ip::udp;
class UdpFlow;

/// The socket of one ListenerKind::udp listener: hands each datagram to the flow of its client, and makes flows.
class UdpRelay : public std::enable_shared_from_this<UdpRelay> {
 public:
  UdpRelay(std::shared_ptr<Worker> worker, Listener listener);

  /// As in Acceptor.
  void open(const Endpoint& address, PortSharing sharing);
  void adopt(FileDescriptor socket);
  void start();
  void close();
  void set_listener(const Listener& listener);
  [[nodiscard]] const Listener& listener() const noexcept { return listener_; }
  [[nodiscard]] const Endpoint& bound() const noexcept { return bound_; }
  [[nodiscard]] int descriptor() { return socket_.native_handle(); }

  /// For flows. Drops what the socket has no room for.
  void send_to_client(const udp::endpoint& client, std::span<const std::uint8_t> datagram);
  void remove(const udp::endpoint& client) { flows_.erase(client); }
  [[nodiscard]] std::span<std::uint8_t> buffer() noexcept { return buffer_; }

 private:
  void receive();
  void on_readable();
  void on_datagram(const udp::endpoint& client, std::span<const std::uint8_t> datagram);
  [[nodiscard]] std::shared_ptr<UdpFlow> open_flow(const udp::endpoint& client);

  std::shared_ptr<Worker> worker_;
  Listener listener_;
  std::shared_ptr<ListenerState> state_;
  Endpoint bound_;
  udp::socket socket_;
  std::vector<std::uint8_t> buffer_;
  std::unordered_map<udp::endpoint, std::weak_ptr<UdpFlow>> flows_;
};

/// The datagrams of one client: a connected socket towards one endpoint of its backend.
///
///   resolving --endpoint known--> forwarding --udp_idle_timeout, error of the backend--> closed
///
/// The first datagram waits for the endpoint; those that come meanwhile are dropped, as a network may do.
class UdpFlow final : public Connection {
 public:
  UdpFlow(std::shared_ptr<Worker> worker, ConnectionRecord record, std::weak_ptr<UdpRelay> relay,
          const udp::endpoint& client, std::shared_ptr<const RouteTable> table, const Backend& backend);

  void start();
  void forward(std::span<const std::uint8_t> datagram);
  void close(CloseReason reason) override;

 private:
  [[nodiscard]] std::shared_ptr<UdpFlow> self() { return std::static_pointer_cast<UdpFlow>(shared_from_this()); }
  void connect(std::span<const Endpoint> endpoints);
  void receive();
  void on_readable();
  void arm_idle_timer();
  void fail(CloseReason reason);
  void fail_backend(CloseReason reason);

  std::weak_ptr<UdpRelay> relay_;
  udp::endpoint client_;
  std::shared_ptr<const RouteTable> table_;  ///< owns backend_; only until the endpoint is known
  const Backend* backend_;
  udp::socket socket_;
  std::vector<std::uint8_t> first_;
  Clock::SteadyTime last_activity_;
  runtime::TimerQueue::Id idle_timer_{};
  bool is_connected_ = false;
  bool is_closed_ = false;
};

}  // namespace hcpnet::proxy
