// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <hcpnet/inherited_sockets.hpp>
#include <hcpnet/log.hpp>
#include <memory>
#include <string>
#include <vector>

#include "runtime/timer_queue.hpp"

namespace hcpnet {

/// The predecessor's side of a handover (stack/handover_wire.hpp): waits for a process that wants to take over, one at
/// a time, of the same user. All calls on the executor's thread, or before it runs.
class HandoverServer {
 public:
  /// A successor that has not got everything after this long is given up.
  static constexpr std::chrono::seconds kPatience{30};

  struct Owner {
    std::function<std::vector<ListeningSocket>()> sockets;
    /// Lets go of what one process alone can have, then calls back.
    std::function<void(std::function<void()> released)> release;
    /// The successor failed after release().
    std::function<void()> take_back;
    /// The successor serves.
    std::function<void()> hand_over;
  };

  HandoverServer(boost::asio::any_io_executor executor, runtime::TimerQueue& timers, Owner owner, Logger log);
  ~HandoverServer();
  HandoverServer(const HandoverServer&) = delete;
  HandoverServer& operator=(const HandoverServer&) = delete;

  /// Binds a socket, mode 0600, that nobody finds yet. Throws boost::system::system_error naming the path.
  void open(const std::string& path);
  /// Moves it to its path, also where a predecessor's is, and accepts.
  void start();
  /// A successor has asked and is neither done nor given up.
  [[nodiscard]] bool is_busy() const noexcept;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace hcpnet
