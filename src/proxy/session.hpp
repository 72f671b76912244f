// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <hcpnet/tls/client_hello.hpp>
#include <memory>
#include <string_view>
#include <vector>

#include "proxy/connection.hpp"
#include "proxy/sockets.hpp"

namespace hcpnet::proxy {

/// An accepted connection up to the moment at which its backend answers.
///
///   inspecting --ClientHello, or proof that none comes--> chosen --endpoint known--> connecting --connected--> handed
///   over to a Relay connecting --refused, unreachable, connect_timeout--> connecting to the next endpoint, or closed
///
/// Deadlines: inspect_timeout from accept on for all of inspecting; the backend's connect_timeout for the look-up of
/// its name, and again for each endpoint. While it connects nobody listens to the client: the deadline bounds that, and
/// the relay finds out.
class Session final : public Connection {
 public:
  Session(std::shared_ptr<Worker> worker, ConnectionRecord record, tcp::socket client);
  void start();
  void close(CloseReason reason) override;

 private:
  [[nodiscard]] std::shared_ptr<Session> self() { return std::static_pointer_cast<Session>(shared_from_this()); }
  void set_deadline(std::chrono::milliseconds after, void (Session::*on_deadline)());

  void read_hello();
  void wait_for_hello();
  void on_received();
  void on_inspect_timeout();
  void choose(Greeting greeting);

  void find_endpoints();
  void on_resolved(const Result<std::vector<Endpoint>>& endpoints);
  void on_resolve_timeout();
  void set_candidates(const std::vector<Endpoint>& endpoints);
  void connect_next();
  void connect(const Endpoint& endpoint);
  void on_connected(const error_code& ec);
  void on_connect_timeout();
  void on_endpoint_failure(CloseReason reason, std::string_view cause);
  void fail_backend(CloseReason reason);
  void become_relay();

  tcp::socket client_;
  tcp::socket backend_socket_;
  tls::ClientHelloReader reader_;
  std::vector<std::uint8_t> received_;
  runtime::TimerQueue::Id deadline_{};
  std::shared_ptr<const RouteTable> table_;  ///< owns backend_
  const Backend* backend_ = nullptr;
  std::vector<Endpoint> candidates_;
  std::size_t attempt_ = 0;  ///< candidates tried so far
  std::shared_ptr<Session>
      keep_alive_;  ///< while a name is looked up: the one who looks may take longer than a session lives
  CloseReason last_failure_ = CloseReason::connect_failed;
  bool is_closed_ = false;
};

}  // namespace hcpnet::proxy
