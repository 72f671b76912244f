// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/inherited_sockets.hpp>
#include <hcpnet/proxy/proxy_header.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/connection.hpp"
#include "proxy/dialer.hpp"
#include "proxy/inspector.hpp"
#include "proxy/socket.hpp"

namespace hcpnet::proxy {

/// An accepted connection up to the moment at which its backend answers.
///
///   expecting_header --PROXY header of a trusted peer--> inspecting
///   inspecting --ClientHello or request, or proof that none comes--> chosen --endpoints known--> connecting
///   connecting --connected--> handed over to a Relay
///   any --refused by a limit, a rule, a deadline; RST or error of the client--> closed
///
/// A listener of ListenerKind::tcp inspects nothing. Deadlines: inspect_timeout from accept on until it is chosen; the
/// backend's connect_timeout for the look-up of its name, and again for each endpoint. While it connects nothing is
/// read of the client. A FIN ends nothing then: who has sent all that he has may still want the answer.
class Session final : public Connection, public SocketUser {
 public:
  /// `spare`: kept open so that there is a descriptor for the backend; may be none.
  Session(std::shared_ptr<Worker> worker, ConnectionRecord record, std::shared_ptr<const Listener> listener,
          Socket client, FileDescriptor spare);
  void start();
  void close(CloseReason reason) override;
  void on_ready(Socket&) override;

 private:
  [[nodiscard]] std::shared_ptr<Session> self() { return std::static_pointer_cast<Session>(shared_from_this()); }
  void set_deadline(std::chrono::milliseconds after, void (Session::*on_deadline)());

  void read_greeting();
  void wait_for_greeting();
  void on_received();
  [[nodiscard]] bool take_proxy_header();
  [[nodiscard]] bool admit_client();
  void inspect();
  void on_inspect_timeout();
  void choose(Greeting greeting);
  void on_client_broken();

  void find_endpoints();
  void on_resolved(const Result<Resolution>& answer);
  void on_resolve_timeout();
  void dial(std::span<const Endpoint> endpoints);
  void on_dialled(Dialer::Outcome outcome);
  void fail_backend(CloseReason reason);
  [[nodiscard]] bool send_proxy_header(Socket& backend);
  void become_relay(Socket backend);

  std::shared_ptr<const Listener> listener_;
  Socket client_;
  FileDescriptor spare_;
  const std::size_t max_greeting_bytes_;
  Inspector inspector_;
  std::vector<std::uint8_t> received_;
  bool expects_header_ = false;
  std::optional<Endpoint> destination_;  ///< as the header of a trusted proxy says
  runtime::TimerQueue::Id deadline_{};
  std::shared_ptr<const RouteTable> table_;  ///< owns backend_
  const Backend* backend_ = nullptr;
  std::uint64_t turn_ = 0;  ///< the number of this connection among the backend's
  Dialer dialer_;
  bool is_closed_ = false;
};

}  // namespace hcpnet::proxy
