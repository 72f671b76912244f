// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <hcpnet/dns/zone.hpp>
#include <hcpnet/net.hpp>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dns/random_source.hpp"
#include "runtime/timer_queue.hpp"

namespace hcpnet::dns {

struct NotifyCounters {
  std::uint64_t sent = 0;          ///< messages, the repeated ones too
  std::uint64_t acknowledged = 0;  ///< by NOERROR
  std::uint64_t failed = 0;        ///< another reply, or none after every attempt
  std::uint64_t limited = 0;       ///< not sent, because too many were waiting
};

/// Tells secondaries that a zone has changed (RFC 1996): over UDP, again after 2, 4, 8 and 16 seconds without a reply.
/// A newer change of a zone takes the place of the one before. All calls on the executor's thread.
class Notifier : public std::enable_shared_from_this<Notifier> {
 public:
  static constexpr int kAttempts = 5;
  static constexpr std::chrono::seconds kFirstWait{2};
  static constexpr std::size_t kMaxPending = 256;   ///< under way at a time; the others wait for their turn
  static constexpr std::size_t kMaxWaiting = 4096;  ///< what is more is not sent

  Notifier(boost::asio::any_io_executor executor, std::shared_ptr<runtime::TimerQueue> timers)
      : executor_(std::move(executor)), timers_(std::move(timers)) {}

  /// `from`: our own address, by which the secondary knows its primary; nullopt: whichever the kernel takes.
  void notify(const Endpoint& secondary, const std::optional<IpAddress>& from, const Zone& zone);
  void stop();
  [[nodiscard]] const NotifyCounters& counters() const noexcept { return counters_; }

 private:
  struct Pending;
  struct Notice {
    std::optional<IpAddress> from;
    std::uint16_t id = 0;
    std::vector<std::uint8_t> message;
  };
  using Key = std::pair<Endpoint, Name>;
  using PendingPtr = std::shared_ptr<Pending>;

  void go_on();
  void start(const Key& key, Notice notice);
  void send(const PendingPtr& pending);
  void receive(const PendingPtr& pending);
  void on_reply(const PendingPtr& pending, ByteView bytes);
  void finish(const PendingPtr& pending);

  boost::asio::any_io_executor executor_;
  std::shared_ptr<runtime::TimerQueue> timers_;
  RandomSource random_;
  std::map<Key, PendingPtr> pending_;
  std::map<Key, Notice> waiting_;
  NotifyCounters counters_;
};

}  // namespace hcpnet::dns
