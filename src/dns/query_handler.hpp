// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/responder.hpp>
#include <hcpnet/net.hpp>
#include <memory>
#include <mutex>
#include <span>

#include "dns/transfer.hpp"

namespace hcpnet::dns {

/// Takes a reply that comes after the query was handled; never called inside handle() or forward().
using ReplyLater = std::function<void(ByteView reply)>;

/// What the listeners ask for replies.
class QueryHandler {
 public:
  struct Handled {
    std::size_t bytes = 0;       ///< of the reply in `out`; 0: none, or not now
    bool must_forward = false;   ///< call forward()
    bool must_transfer = false;  ///< over TCP: call begin_transfer()
  };
  /// Held while the queries of one batch are handled: empty unless other threads want to change what they are answered
  /// from.
  virtual std::unique_lock<std::mutex> begin_batch() { return {}; }
  virtual Handled handle(ByteView query, const IpAddress& client, Transport transport, std::span<std::uint8_t> out) = 0;
  /// Returns the size of a reply in `out` when it is there at once, else 0, and `later` is called once, or never if the
  /// server stops.
  virtual std::size_t forward(ByteView query, Transport transport, std::span<std::uint8_t> out, ReplyLater later) = 0;

  /// The messages that answer a transfer which handle() has allowed.
  virtual std::shared_ptr<ZoneTransfer> begin_transfer(ByteView query, const IpAddress& client) = 0;

  /// So many replies took so long, from the receipt of the queries.
  virtual void on_replies(std::size_t count, std::chrono::nanoseconds time) noexcept = 0;
  /// Things that listeners see and only they can count.
  virtual void on_oversize() noexcept = 0;  ///< a datagram larger than any query we read
  virtual void on_send_failure() noexcept = 0;
  virtual void on_tcp_limit() noexcept = 0;  ///< a connection closed to make room for a new one
  virtual void on_tcp_timeout() noexcept = 0;

 protected:
  ~QueryHandler() = default;
};

}  // namespace hcpnet::dns
