// SPDX-License-Identifier: Apache-2.0
#include "proxy/dialer.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "proxy/sockets.hpp"

namespace hcpnet::proxy {
namespace {

error_code last_error() noexcept {
  return {errno, boost::system::system_category()};
}

/// No descriptor, memory, local port or watch of epoll is left: the endpoint may be as well as ever.
bool is_lack_of_ours(const error_code& ec) noexcept {
  const int lacks[] = {EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL, ENOSPC};
  return std::ranges::find(lacks, ec.value()) != std::end(lacks);
}

}  // namespace

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
  if (attempts_.empty()) return finish({std::nullopt, std::move(last_), last_failure_});
  if (is_race_ && next_ < candidates_.size()) arm_race();
}

void Dialer::dial(const std::shared_ptr<EndpointState>& endpoint) {
  last_ = endpoint;
  if (worker_.is_own_address(endpoint->address)) {
    ++worker_.counters.loops_refused;
    return note_failure(endpoint, CloseReason::loop, "it is this proxy itself, or another one of this process");
  }
  Result<Socket> socket = open(endpoint->address);
  if (!socket) return note_error(endpoint, socket.error());
  auto attempt = std::make_unique<Attempt>(*this, std::move(*socket), endpoint);
  if (const error_code ec = attempt->socket.watch(*attempt)) return note_error(endpoint, ec);
  Attempt& pending = *attempts_.emplace_back(std::move(attempt));
  pending.deadline = worker_.timers.after(backend_->connect_timeout, [weak = weak_self(), &pending] {
    if (const auto self = weak.lock()) self->on_timeout(pending);
  });
}

Result<Socket> Dialer::open(const Endpoint& to) const {
  const tcp::endpoint address = to_asio(to);
  FileDescriptor socket(::socket(address.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!socket.is_open()) return last_error();
  if (socket.get() >= worker_.first_reserved_descriptor) return error_code(EMFILE, boost::system::system_category());
  if (const error_code ec = bind_to_own_address(socket.get(), from_, to)) return ec;
  if (::connect(socket.get(), address.data(), static_cast<socklen_t>(address.size())) != 0 && errno != EINPROGRESS)
    return last_error();
  return Socket(worker_.poller, std::move(socket));
}

void Dialer::arm_race() {
  worker_.timers.cancel(race_);
  race_ = worker_.timers.after(worker_.options.connect_race_delay, [weak = weak_self()] {
    const auto self = weak.lock();
    if (self && !self->attempts_.empty()) self->dial_next();
  });
}

void Dialer::Attempt::on_ready(Socket&) {
  const auto keep = dialer.keep_.lock();
  if (socket.is_writable()) dialer.on_connected(*this);
}

void Dialer::on_connected(Attempt& attempt) {
  // A connect that failed breaks the socket; the kernel is asked why, and only then.
  if (attempt.socket.is_disturbed()) {
    const error_code ec(attempt.socket.take_error(), boost::system::system_category());
    if (ec) return give_up(attempt, CloseReason::connect_failed, ec.message());
  }
  attempt.endpoint->on_success();
  finish({std::move(attempt.socket), std::move(attempt.endpoint), {}});
}

void Dialer::on_timeout(Attempt& attempt) {
  ++worker_.counters.connect_timeouts;
  ++state_->connect_timeouts;
  give_up(attempt, CloseReason::connect_timeout, "no answer in time");
}

void Dialer::give_up(Attempt& attempt, CloseReason reason, std::string_view cause) {
  const std::shared_ptr<EndpointState> endpoint = attempt.endpoint;
  worker_.timers.cancel(attempt.deadline);
  std::erase_if(attempts_, [&](const auto& one) { return one.get() == &attempt; });
  note_failure(endpoint, reason, cause);
  if (attempts_.empty() || (is_race_ && next_ < candidates_.size())) dial_next();
}

void Dialer::note_failure(const std::shared_ptr<EndpointState>& endpoint, CloseReason reason, std::string_view cause) {
  if (endpoint->on_failure(backend_->ejection, worker_.timers.now())) ++state_->ejections;
  count_failure(endpoint, reason, cause);
}

void Dialer::note_error(const std::shared_ptr<EndpointState>& endpoint, const error_code& ec) {
  if (!is_lack_of_ours(ec)) return note_failure(endpoint, CloseReason::connect_failed, ec.message());
  ++endpoint->failures;
  count_failure(endpoint, CloseReason::connect_failed, ec.message());
}

void Dialer::count_failure(const std::shared_ptr<EndpointState>& endpoint, CloseReason reason, std::string_view cause) {
  ++worker_.counters.endpoint_failures;
  last_failure_ = reason;
  last_ = endpoint;
  if (!worker_.options.log.is_enabled()) return;
  worker_.options.log.debug("endpoint failed", {{"backend", backend_->name},
                                                {"endpoint", endpoint->address.to_string()},
                                                {"reason", std::string(to_string(reason))},
                                                {"cause", std::string(cause)}});
}

void Dialer::cancel() {
  worker_.timers.cancel(race_);
  for (const auto& attempt : attempts_) worker_.timers.cancel(attempt->deadline);
  attempts_.clear();
}

void Dialer::finish(Outcome outcome) {
  cancel();
  done_(owner_, std::move(outcome));
}

}  // namespace hcpnet::proxy
