// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <hcpnet/net.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "dns/query_handler.hpp"
#include "dns/request_counters.hpp"
#include "dns/snapshot.hpp"
#include "dns/udp_listener.hpp"

namespace hcpnet::dns {

/// What one thread has counted.
struct WorkerCounters {
  std::uint64_t queries = 0;
  std::array<std::uint64_t, 32> responses{};  ///< by RCODE
  std::array<std::uint64_t, kDropReasons> dropped{};
  std::array<std::uint64_t, kFormatErrors> format_errors{};
  std::vector<std::uint64_t> views;  ///< by position in the snapshot
  std::uint64_t no_view = 0;
  std::uint64_t chains_cut = 0;
  std::uint64_t oversize = 0;
  std::uint64_t send_failures = 0;
  RequestCounters requests;
  std::uint64_t handover_refused = 0;  ///< dropped: too many were waiting for the server's thread
};

WorkerCounters& operator+=(WorkerCounters& sum, const WorkerCounters& more);

/// A thread with a socket of its own for each listener, beside those of the server's executor: the kernel spreads
/// clients over them (SO_REUSEPORT).
///
/// It answers from the snapshot and holds no other state. What needs more goes to the server's thread: what is to be
/// forwarded, transfers, queries with a cookie, and all of them when replies are counted for a rate limit. A mutex
/// is held while a batch is answered, which nobody else wants except for the moments of replace() and counters(): so
/// once replace() returns, nothing is answered from the old snapshot.
///
/// All calls on the server's thread.
class UdpWorker final : public QueryHandler {
 public:
  /// How many queries may wait for the server's thread.
  static constexpr std::size_t kMaxHandedOver = 1024;
  using Time = std::chrono::steady_clock::time_point;
  /// Takes a query that a worker has `received` and passed on. Called on the server's thread.
  using Receive = std::function<void(ByteView query, const IpAddress& client, Time received, const ReplyLater& later)>;

  UdpWorker(boost::asio::any_io_executor server, Receive receive, std::size_t receive_buffer_bytes);
  ~UdpWorker() { stop(); }
  UdpWorker(const UdpWorker&) = delete;
  UdpWorker& operator=(const UdpWorker&) = delete;

  /// Before start(). Throws boost::system::system_error.
  void bind(const Endpoint& at);
  void adopt(const Endpoint& at, FileDescriptor socket);
  /// Of the listener that was bound or adopted at `position`.
  [[nodiscard]] int descriptor(std::size_t position) const { return listeners_[position]->descriptor(); }
  /// After the first replace(). Throws std::system_error when there can be no more threads.
  void start();
  /// Returns what was counted of the views of the snapshot before.
  std::vector<std::uint64_t> replace(std::shared_ptr<const Snapshot> snapshot);
  [[nodiscard]] WorkerCounters counters() const;
  void add_lost(LostDatagrams& lost) const;
  /// Ends the thread and closes the sockets. May be called again.
  void stop() noexcept;

 private:
  std::unique_lock<std::mutex> begin_batch() override { return std::unique_lock(mutex_); }
  Handled handle(ByteView query, const IpAddress& client, Transport transport, std::span<std::uint8_t> out) override;
  std::size_t forward(ByteView query, Transport transport, std::span<std::uint8_t> out, ReplyLater later) override;
  std::shared_ptr<ZoneTransfer> begin_transfer(ByteView, const IpAddress&) override { return nullptr; }  // only TCP
  void on_replies(std::size_t count, std::chrono::nanoseconds time) noexcept override {
    const std::lock_guard lock(mutex_);  // the batch has let go of it
    counters_.requests.add_replies(count, time);
  }
  void on_oversize() noexcept override { ++counters_.oversize; }
  void on_send_failure() noexcept override { ++send_failures_; }
  void on_tcp_limit() noexcept override {}
  void on_tcp_timeout() noexcept override {}

  boost::asio::any_io_executor server_;
  Receive receive_;
  std::size_t receive_buffer_bytes_;
  boost::asio::io_context io_{1};
  std::unique_ptr<UdpBatch> batch_ = std::make_unique<UdpBatch>();
  std::vector<std::shared_ptr<UdpListener>> listeners_;
  mutable std::mutex mutex_;  ///< of what both threads use: snapshot_ and counters_
  std::shared_ptr<const Snapshot> snapshot_;
  WorkerCounters counters_;
  IpAddress client_;  ///< of the query handled last, which is the one that forward() is called for
  // These two are also touched by replies that come later, on the server's thread.
  std::atomic<std::uint64_t> send_failures_ = 0;
  std::shared_ptr<std::atomic<std::size_t>> waiting_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::thread thread_;
};

}  // namespace hcpnet::dns
