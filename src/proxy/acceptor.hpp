// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <hcpnet/proxy/engine.hpp>
#include <memory>

#include "proxy/socket.hpp"
#include "proxy/sockets.hpp"
#include "proxy/worker.hpp"

namespace hcpnet::proxy {

/// One listening socket of one worker. Where descriptors or memory are missing it pauses for accept_backoff:
/// connections then wait in the kernel's queue, and the loop does not spin. None is accepted that could not be served:
/// near the limit each brings the descriptor for its backend along.
class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(std::shared_ptr<Worker> worker, Listener listener);

  /// Binds `address`. Throws boost::system::system_error that names it.
  void open(const Endpoint& address, PortSharing sharing);
  /// Will serve a socket that listens already. It stays as it is, because another process may serve it until then, up
  /// to set_listener() and apply_settings(). Throws as open() does.
  void adopt(FileDescriptor socket);
  void accept();
  /// Those whose connection the kernel has completed: closing the socket would reset them.
  void take_waiting();
  void close();
  /// What is accepted from now on follows these rules. Precondition: the same address and kind.
  void set_listener(const Listener& listener);
  /// What is accepted from now on has the options that the worker has now.
  void apply_settings() noexcept { set_listening_options(acceptor_.native_handle(), worker_->tcp); }
  [[nodiscard]] const Listener& listener() const noexcept { return *listener_; }
  [[nodiscard]] const Endpoint& bound() const noexcept { return bound_; }
  [[nodiscard]] int descriptor() { return acceptor_.native_handle(); }

 private:
  void accept_waiting();
  /// Accepts the one that waits longest. What accept() said if it gave none: would_block where nobody waits; and
  /// no_descriptors where one is missing.
  [[nodiscard]] error_code accept_one();
  void begin_session(Socket client, const Endpoint& peer, FileDescriptor spare);
  void note_lack(const error_code& cause);
  void back_off(const error_code& cause);

  std::shared_ptr<Worker> worker_;
  std::shared_ptr<const Listener> listener_;
  std::shared_ptr<ListenerState> state_;
  Endpoint bound_;
  tcp::acceptor acceptor_;
};

}  // namespace hcpnet::proxy
