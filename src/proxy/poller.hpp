// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <hcpnet/result.hpp>
#include <memory>
#include <vector>

namespace hcpnet::proxy {

class Socket;

/// Events of the sockets of one worker: an epoll set of their own, which the executor's event loop watches as a whole.
///
/// Asio arms a socket anew for each wait, with a system call, and needs three more to connect one. Here a socket is
/// registered once, edge-triggered, for as long as it is open. The loop has work while sockets are registered, so that
/// an embedder's run() ends with the last connection. One thread.
class Poller {
 public:
  /// Names a registered socket, and nothing once that is closed: an event of a copy of it, in a process that was forked
  /// from this one, finds nobody.
  struct Key {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;  ///< odd while the slot is taken
  };

  explicit Poller(const boost::asio::any_io_executor& executor);
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

 private:
  friend class Socket;
  struct Slot {
    Socket* socket = nullptr;
    std::uint32_t generation = 0;
  };

  [[nodiscard]] Result<Key> add(Socket& socket);
  void grow();
  void move(const Key& key, Socket& to) noexcept { slots_[key.slot].socket = &to; }
  void remove(const Key& key) noexcept;
  void rest() noexcept;
  void tell_again(const Key& key);
  void post_turn();
  [[nodiscard]] bool has_sockets() const noexcept { return free_slots_.size() < slots_.size(); }
  [[nodiscard]] Socket* find(const Key& key) const noexcept;
  void arm();
  void turn();
  void put_off(std::size_t next);

  boost::asio::posix::stream_descriptor epoll_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<Key> again_;  ///< told in the next turn
  std::vector<Key> told_;   ///< in this one
  bool is_armed_ = false;
  bool is_posted_ = false;
  std::shared_ptr<Poller*> self_;  ///< emptied by the destructor; late wake-ups find null
};

}  // namespace hcpnet::proxy
