// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <list>
#include <memory>
#include <vector>

#include "dns/query_handler.hpp"
#include "runtime/timer_queue.hpp"

namespace hcpnet::dns {

class TcpSession;

/// The connections of all listeners, least recently active first, and what they share.
struct TcpSessions {
  using List = std::list<std::shared_ptr<TcpSession>>;

  QueryHandler& handler;
  std::shared_ptr<runtime::TimerQueue> timers;
  std::size_t max_connections;
  std::chrono::milliseconds idle_timeout;
  List open{};
  std::vector<std::uint8_t> scratch = std::vector<std::uint8_t>(kMaxMessageBytes);  ///< where a reply is written

  /// Takes a new connection, for which the one that was silent longest makes room.
  void add(boost::asio::ip::tcp::socket socket);
  void close_all();
};

/// One connection (RFC 7766): queries as they come, replies as they are ready, in any order.
///
///   open --end of stream--> draining --last reply sent--> closed         (error, idle, junk, stop(): any --> closed)
class TcpSession : public std::enable_shared_from_this<TcpSession> {
 public:
  /// Queries of one connection that wait for an upstream; more are not read before some are answered.
  static constexpr std::size_t kMaxWaiting = 64;
  /// Replies that the client has not taken; more queries are not read before it has.
  static constexpr std::size_t kMaxUnsentBytes = 256 * 1024;

  TcpSession(boost::asio::ip::tcp::socket socket, TcpSessions& sessions);
  void start(TcpSessions::List::iterator place);
  void close() noexcept;

 private:
  void read();
  void on_read(error_code ec, std::size_t bytes);
  /// Handles what has arrived in whole; false when the connection was closed for it.
  bool handle_queries();
  bool handle_query(ByteView query);
  /// Writes what has room of a transfer; true when it has just ended, and queries may be handled again.
  bool go_on_with_transfer();
  void reply(ByteView bytes);
  void write();
  void go_on();
  void note_activity();
  void arm_idle_timer();

  boost::asio::ip::tcp::socket socket_;
  TcpSessions& sessions_;  ///< outlives every open session
  TcpSessions::List::iterator place_;
  IpAddress client_;
  runtime::TimerQueue::Time last_activity_;
  runtime::TimerQueue::Id idle_timer_;
  std::array<std::uint8_t, 2048> incoming_;
  std::vector<std::uint8_t> received_;  ///< at most a message and what one read brings
  std::vector<std::uint8_t> unsent_;
  std::vector<std::uint8_t> sending_;
  std::shared_ptr<ZoneTransfer> transfer_;  ///< while there is one, nothing else is handled
  std::size_t waiting_ = 0;
  bool is_reading_ = false;
  bool has_ended_ = false;  ///< the client sends no more
  bool is_closed_ = false;
};

}  // namespace hcpnet::dns
