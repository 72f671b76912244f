// SPDX-License-Identifier: Apache-2.0
#include "proxy/dialer.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <utility>

namespace hcpnet::proxy {

void Dialer::start(const std::shared_ptr<void>& keep, Request request) {
  keep_ = keep;
  backend_ = &request.backend;
  state_ = &request.state;
  from_ = std::move(request.from);
  candidates_ = std::move(request.candidates);
  is_race_ = std::ranges::any_of(candidates_, [&](const auto& candidate) {
    return candidate->address.address.is_v4() != candidates_.front()->address.address.is_v4();
  });
  dial_next();
}

/// A pointer to this that keeps the owner alive while it is locked.
std::weak_ptr<Dialer> Dialer::weak_self() const {
  return std::shared_ptr<Dialer>(keep_.lock(), const_cast<Dialer*>(this));
}

void Dialer::dial_next() {
  const std::size_t under_way = attempts_.size();
  while (next_ < candidates_.size() && attempts_.size() == under_way) dial(candidates_[next_++]);
  if (attempts_.empty()) return finish({tcp::socket(worker_.executor), std::move(last_), last_failure_, false});
  if (is_race_ && next_ < candidates_.size()) arm_race();
}

void Dialer::dial(const std::shared_ptr<EndpointState>& endpoint) {
  last_ = endpoint;
  if (worker_.is_own_address(endpoint->address)) {
    ++worker_.counters.loops_refused;
    return note_failure(endpoint, CloseReason::loop, "it is this proxy itself, or another one of this process");
  }
  const tcp::endpoint address = to_asio(endpoint->address);
  tcp::socket socket(worker_.executor);
  if (const error_code ec = open(socket, address))
    return note_failure(endpoint, CloseReason::connect_failed, ec.message());
  const std::uint64_t number = ++last_number_;
  Attempt& attempt =
      *attempts_.emplace_back(std::make_unique<Attempt>(Attempt{number, std::move(socket), endpoint, {}}));
  attempt.deadline = worker_.timers.after(backend_->connect_timeout, [weak = weak_self(), number] {
    if (const auto self = weak.lock()) self->on_timeout(number);
  });
  attempt.socket.async_connect(
      address, [self = weak_self().lock(), number](const error_code& ec) { self->on_connected(number, ec); });
}

error_code Dialer::open(tcp::socket& socket, const tcp::endpoint& to) const {
  error_code ec;
  socket.open(to.protocol(), ec);
  const auto own = std::ranges::find(from_, to.address().is_v4(), &IpAddress::is_v4);
  if (ec || own == from_.end()) return ec;
  // The port is chosen at connect, so that the number of connections to one backend is the limit, not that of all.
  const int enabled = 1;
  static_cast<void>(
      ::setsockopt(socket.native_handle(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &enabled, sizeof enabled));
  socket.bind(to_asio(Endpoint{*own, 0}), ec);
  return ec;
}

void Dialer::arm_race() {
  worker_.timers.cancel(race_);
  race_ = worker_.timers.after(worker_.options.connect_race_delay, [weak = weak_self()] {
    const auto self = weak.lock();
    if (self && !self->attempts_.empty()) self->dial_next();
  });
}

Dialer::Attempts::iterator Dialer::find(std::uint64_t attempt) {
  return std::ranges::find(attempts_, attempt, [](const auto& a) { return a->number; });
}

void Dialer::on_connected(std::uint64_t attempt, const error_code& ec) {
  const auto found = find(attempt);
  if (found == attempts_.end()) return;  // given up meanwhile
  if (ec) return give_up(found, CloseReason::connect_failed, ec.message());
  (*found)->endpoint->on_success();
  Outcome outcome{std::move((*found)->socket), std::move((*found)->endpoint), {}, true};
  finish(std::move(outcome));
}

void Dialer::on_timeout(std::uint64_t attempt) {
  const auto found = find(attempt);
  if (found == attempts_.end()) return;
  ++worker_.counters.connect_timeouts;
  ++state_->connect_timeouts;
  give_up(found, CloseReason::connect_timeout, "no answer in time");
}

void Dialer::give_up(Attempts::iterator attempt, CloseReason reason, std::string_view cause) {
  const std::shared_ptr<EndpointState> endpoint = (*attempt)->endpoint;
  worker_.timers.cancel((*attempt)->deadline);
  // What is pending in the socket still refers to it: it ends first, with an error that nobody minds.
  close_orderly((*attempt)->socket);
  attempts_.erase(attempt);
  note_failure(endpoint, reason, cause);
  if (attempts_.empty() || (is_race_ && next_ < candidates_.size())) dial_next();
}

void Dialer::note_failure(const std::shared_ptr<EndpointState>& endpoint, CloseReason reason, std::string_view cause) {
  ++worker_.counters.endpoint_failures;
  last_failure_ = reason;
  last_ = endpoint;
  if (endpoint->on_failure(backend_->ejection, worker_.timers.now())) ++state_->ejections;
  if (!worker_.options.log.is_enabled()) return;
  worker_.options.log.debug("endpoint failed", {{"backend", backend_->name},
                                                {"endpoint", endpoint->address.to_string()},
                                                {"reason", std::string(to_string(reason))},
                                                {"cause", std::string(cause)}});
}

void Dialer::cancel() {
  worker_.timers.cancel(race_);
  for (const auto& attempt : attempts_) {
    worker_.timers.cancel(attempt->deadline);
    close_orderly(attempt->socket);
  }
  attempts_.clear();
}

void Dialer::finish(Outcome outcome) {
  cancel();
  done_(owner_, std::move(outcome));
}

}  // namespace hcpnet::proxy
