// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/backend_state.hpp"
#include "proxy/close_reason.hpp"
#include "proxy/socket.hpp"
#include "proxy/worker.hpp"

namespace hcpnet::proxy {

/// Connects to the first endpoint of a list that answers.
///
///   dialling --refused, unreachable, connect_timeout--> dialling the next one, or failed
///   dialling --connect_race_delay, and the list has both families--> dialling the next one as well
///   dialling --connected--> connected, the others given up
///
/// Held by an owner, who is told once, unless he cancels.
class Dialer {
 public:
  /// How a connection to the backend came about, or why it did not.
  struct Outcome {
    std::optional<Socket> socket;             ///< none: no endpoint answered
    std::shared_ptr<EndpointState> endpoint;  ///< connected, or the last that was tried; null: there was none
    CloseReason failure = CloseReason::connect_failed;
  };
  using Done = void (*)(void* owner, Outcome outcome);
  struct Request {
    const Backend& backend;
    BackendState& state;
    std::vector<IpAddress> from;  ///< our own address, one of a family
    BackendState::Candidates candidates;
  };

  Dialer(Worker& worker, void* owner, Done done) : worker_(worker), owner_(owner), done_(done) {}
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

  /// `keep` owns this dialer. Backend and state live as long as that.
  void start(const std::shared_ptr<void>& keep, Request request);
  void cancel();

 private:
  struct Attempt final : SocketUser {
    Attempt(Dialer& owner, Socket connecting, std::shared_ptr<EndpointState> to)
        : dialer(owner), socket(std::move(connecting)), endpoint(std::move(to)) {}
    void on_ready(Socket&) override;
    Dialer& dialer;
    Socket socket;
    std::shared_ptr<EndpointState> endpoint;
    runtime::TimerQueue::Id deadline;
  };
  using Attempts = std::vector<std::unique_ptr<Attempt>>;

  void dial_next();
  void dial(const std::shared_ptr<EndpointState>& endpoint);
  /// A socket that is connecting.
  [[nodiscard]] Result<Socket> open(const Endpoint& to) const;
  void arm_race();
  void on_connected(Attempt& attempt);
  void on_timeout(Attempt& attempt);
  void give_up(Attempt& attempt, CloseReason reason, std::string_view cause);
  void note_failure(const std::shared_ptr<EndpointState>& endpoint, CloseReason reason, std::string_view cause);
  /// Of a system call: it may be no fault of the endpoint.
  void note_error(const std::shared_ptr<EndpointState>& endpoint, const error_code& ec);
  void count_failure(const std::shared_ptr<EndpointState>& endpoint, CloseReason reason, std::string_view cause);
  void finish(Outcome outcome);
  [[nodiscard]] std::weak_ptr<Dialer> weak_self() const;

  Worker& worker_;
  void* owner_;
  Done done_;
  std::weak_ptr<void> keep_;
  const Backend* backend_ = nullptr;
  BackendState* state_ = nullptr;
  std::vector<IpAddress> from_;
  BackendState::Candidates candidates_;
  std::size_t next_ = 0;
  Attempts attempts_;  ///< under way
  runtime::TimerQueue::Id race_;
  bool is_race_ = false;
  std::shared_ptr<EndpointState> last_;
  CloseReason last_failure_ = CloseReason::connect_failed;
};

}  // namespace hcpnet::proxy
