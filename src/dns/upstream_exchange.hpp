// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <memory>
#include <span>
#include <vector>

#include "dns/upstream_reply.hpp"
#include "runtime/timer_queue.hpp"

namespace hcpnet::dns {

/// What all exchanges of a forwarder share.
struct ExchangeContext {
  boost::asio::any_io_executor executor;
  std::shared_ptr<runtime::TimerQueue> timers;
  std::function<void()> on_foreign_reply;  ///< a datagram that was not the reply
  std::vector<std::uint8_t> buffer =
      std::vector<std::uint8_t>(kMaxMessageBytes);  ///< for one datagram, while it is looked at
};

/// One question to one upstream: over UDP from a socket and port of its own, and over TCP when the reply was cut, each
/// with a deadline.
///
///   asking_udp --cut or damaged--> connecting --> writing --> reading_length --> reading_message
///   any --reply, error, deadline--> done, told exactly once
///   any --cancel()--> done, told nothing
class UpstreamExchange : public std::enable_shared_from_this<UpstreamExchange> {
 public:
  using Done = std::function<void(Result<Message>)>;

  UpstreamExchange(std::shared_ptr<ExchangeContext> context, Endpoint upstream, UpstreamQuestion question, Done done);
  /// `timeout` holds for UDP, and anew for TCP; never beyond `deadline`.
  void start(std::chrono::milliseconds timeout, runtime::TimerQueue::Time deadline);
  void cancel() noexcept;
  /// The upstream does not keep the case of names, as far as TCP, which is hard to forge, or its absence tells.
  [[nodiscard]] bool has_changed_case() const noexcept { return has_changed_case_; }

 private:
  void ask_udp();
  void wait_udp();
  void on_datagram();
  void ask_tcp();
  void write_tcp();
  void read_length();
  void read_message();
  void on_message();
  void arm_timer();
  void finish(Result<Message> result);
  void fail(error_code ec) { finish(ec); }

  std::shared_ptr<ExchangeContext> context_;
  Endpoint upstream_;
  UpstreamQuestion question_;
  Done done_;
  std::chrono::milliseconds timeout_{};
  runtime::TimerQueue::Time deadline_;
  runtime::TimerQueue::Id timer_;
  boost::asio::ip::udp::socket udp_;
  boost::asio::ip::tcp::socket tcp_;
  std::array<std::uint8_t, 2> length_{};
  std::vector<std::uint8_t> stream_;  ///< the query with its length, then the reply
  bool has_changed_case_ = false;
  bool is_done_ = false;
};

}  // namespace hcpnet::dns
