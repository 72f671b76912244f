// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <hcpnet/proxy/route_table.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/sockets.hpp"
#include "proxy/worker.hpp"

namespace hcpnet::proxy {

/// One question to one endpoint.
///
///   connecting --connected, HealthCheck::Kind::tcp--> good
///   connecting --connected, tls--> asking --a ServerHello begins--> good
///   any --refused, another answer, timeout--> bad
///
/// An endpoint that takes the PROXY protocol is asked behind a header, in which the proxy speaks for itself.
/// Without a descriptor or an address of ours for it the question is not asked, and nothing is known.
class HealthProbe : public std::enable_shared_from_this<HealthProbe> {
 public:
  using Done = std::function<void(std::optional<bool> is_good)>;  ///< never from within start(); absent: not asked
  /// `backend` has a health check. `dial_from`: our own addresses towards it.
  HealthProbe(std::shared_ptr<Worker> worker, const Backend& backend, std::vector<IpAddress> dial_from, Done done);
  void start(const Endpoint& endpoint);
  /// Ends it; `done` is not called any more.
  void cancel();

 private:
  void on_connected();
  void read();
  void finish(std::optional<bool> is_good);

  /// Record header, and type of the handshake message (RFC 8446 sections 5.1 and 4).
  static constexpr std::size_t kAnswerBytes = 6;
  std::shared_ptr<Worker> worker_;
  HealthCheck check_;
  ProxyHeaderVersion header_;
  std::vector<IpAddress> dial_from_;
  Done done_;
  tcp::socket socket_;
  std::vector<std::uint8_t> hello_;
  std::array<std::uint8_t, kAnswerBytes> answer_{};
  runtime::TimerQueue::Id deadline_{};
};

}  // namespace hcpnet::proxy
