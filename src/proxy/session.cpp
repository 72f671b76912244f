// SPDX-License-Identifier: Apache-2.0
#include "proxy/session.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "proxy/access.hpp"
#include "proxy/admission.hpp"
#include "proxy/relay.hpp"
#include "proxy/sockets.hpp"

namespace hcpnet::proxy {
Session::Session(std::shared_ptr<Worker> worker, ConnectionRecord record, std::shared_ptr<const Listener> listener,
                 Socket client, FileDescriptor spare)
    : Connection(std::move(worker), std::move(record)),
      listener_(std::move(listener)),
      client_(std::move(client)),
      spare_(std::move(spare)),
      max_greeting_bytes_(std::min(worker_->options.max_hello_bytes, tls::kLargestHelloBytes)),
      inspector_(listener_->kind, max_greeting_bytes_),
      dialer_(*worker_, this, [](void* session, Dialer::Outcome outcome) {
        static_cast<Session*>(session)->on_dialled(std::move(outcome));
      }) {}

void Session::start() {
  const auto keep = shared_from_this();
  keep_alive();
  expects_header_ = contains(listener_->trusted_proxies, record_.client.address);
  if (!expects_header_ && !admit_client()) return;
  set_deadline(worker().options.inspect_timeout, &Session::on_inspect_timeout);
  if (!expects_header_ && inspector_.is_blind()) return choose(Greeting::not_tls);
  read_greeting();
}

void Session::set_deadline(std::chrono::milliseconds after, void (Session::*on_deadline)()) {
  worker().timers.cancel(deadline_);
  deadline_ = worker().timers.after(after, [weak = weak_from_this(), on_deadline] {
    const auto session = std::static_pointer_cast<Session>(weak.lock());
    if (session && !session->is_closed_) (session.get()->*on_deadline)();
  });
}

void Session::read_greeting() {
  Socket::Transfer read;
  {
    const BufferPool::Buffer buffer = worker().buffers.borrow();
    // A header and a greeting of the largest size: inspect() ends what has no room left.
    const std::size_t most = max_greeting_bytes_ + kMaxProxyHeaderBytes;
    read = client_.read(buffer.bytes().first(most - received_.size()));
    received_.insert(received_.end(), buffer.bytes().begin(),
                     buffer.bytes().begin() + static_cast<std::ptrdiff_t>(read.count));
  }
  if (read.would_block()) return wait_for_greeting();
  if (read.count > 0) return on_received();
  ++worker().counters.closed_before_hello;
  close(CloseReason::hello_incomplete);
}

/// Watched only now, or once the backend is chosen: a hello that came with the connection is read before the kernel is
/// asked for anything.
void Session::wait_for_greeting() {
  if (client_.watch(*this)) return close(CloseReason::client_lost);
  if (client_.is_readable()) client_.tell_again_later();
}

void Session::on_ready(Socket&) {
  const auto keep = shared_from_this();
  if (is_closed_) return;
  if (backend_ != nullptr) {
    if (client_.is_disturbed()) on_client_broken();
  } else if (client_.is_readable()) {
    read_greeting();
  }
}

/// Nobody waits for the backend any more: a slot, and an attempt to connect, are free for somebody else.
void Session::on_client_broken() {
  const int error = client_.take_error();
  if (error != 0 && !is_reset(error)) return close(CloseReason::client_lost);
  ++worker().counters.downstream_resets;
  close(CloseReason::client_reset);
}

void Session::on_received() {
  if (expects_header_ && !take_proxy_header()) return;
  if (received_.empty() && !inspector_.is_blind()) return wait_for_greeting();
  inspect();
}

/// False when there is nothing to inspect yet, or never.
bool Session::take_proxy_header() {
  const Result<ProxyHeader> header = parse_proxy_header(received_);
  if (header.has_error() && header.error() == Errc::need_more) {
    wait_for_greeting();
    return false;
  }
  if (!header) {
    ++worker().counters.proxy_header_refused;
    close(CloseReason::proxy_header);
    return false;
  }
  expects_header_ = false;
  received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(header->consumed_bytes));
  if (header->addresses) {
    record_.client = header->addresses->source;
    destination_ = header->addresses->destination;
  }
  return admit_client();
}

/// False: the client may not connect here, and it was closed.
bool Session::admit_client() {
  const std::optional<CloseReason> refusal = admit(worker(), *listener_, record_);
  if (refusal) close(*refusal);
  return !refusal;
}

void Session::inspect() {
  Inspector::Finding finding = inspector_.read(received_);
  switch (finding.verdict) {
    case Inspector::Verdict::known:
      record_.server_name = std::move(finding.server_name);
      return choose(finding.greeting);
    case Inspector::Verdict::need_more:
      if (received_.size() < max_greeting_bytes_) return wait_for_greeting();
      [[fallthrough]];
    case Inspector::Verdict::too_large:
      ++worker().counters.hello_too_large;
      return close(CloseReason::hello_too_large);
    case Inspector::Verdict::malformed:
      break;
  }
  ++worker().counters.hello_malformed;
  close(CloseReason::hello_malformed);
}

void Session::on_inspect_timeout() {
  ++worker().counters.inspect_timeouts;
  ++record_.listener->inspect_timeouts;
  close(CloseReason::inspect_timeout);
}

void Session::choose(Greeting greeting) {
  table_ = worker().table();
  backend_ = decide(worker(), *table_, record_, greeting);
  if (backend_ == nullptr) return close(reason_for(greeting, *record_.rule));
  BackendState& state = *record_.backend;
  turn_ = state.total;
  // Counted first and judged then, so that workers cannot pass the limit together.
  if (backend_->max_connections > 0 && state.active > backend_->max_connections) {
    ++worker().counters.backend_limit_refused;
    ++state.limit_refused;
    return close(CloseReason::backend_limit);
  }
  if (client_.watch(*this)) return close(CloseReason::client_lost);
  find_endpoints();
}

void Session::find_endpoints() {
  if (backend_->is_unserved) return fail_backend(CloseReason::no_endpoint);
  if (!backend_->endpoints.empty()) return dial(backend_->endpoints);
  set_deadline(backend_->connect_timeout, &Session::on_resolve_timeout);
  worker().names->resolve(backend_->host, backend_->port, [self = self()](const Result<Resolution>& answer) {
    if (!self->is_closed_) self->on_resolved(answer);
  });
}

void Session::on_resolved(const Result<Resolution>& answer) {
  if (!answer) return fail_backend(CloseReason::resolve_failed);
  dial(answer->endpoints);
}

void Session::on_resolve_timeout() {
  fail_backend(CloseReason::resolve_failed);
}

void Session::dial(std::span<const Endpoint> endpoints) {
  worker().timers.cancel(deadline_);  // each endpoint has its own
  spare_ = FileDescriptor();
  const std::uint64_t random = std::uint64_t{worker().random()} << 32 | worker().random();
  dialer_.start(shared_from_this(),
                {*backend_, *record_.backend, listener_->dial_from,
                 record_.backend->choose(*backend_, endpoints, worker().options.max_connect_attempts,
                                         worker().timers.now(), turn_, random)});
}

void Session::on_dialled(Dialer::Outcome outcome) {
  if (outcome.socket) {
    record_.endpoint = std::move(outcome.endpoint);
    ++record_.endpoint->total;
    ++record_.endpoint->active;
    return become_relay(std::move(*outcome.socket));
  }
  if (outcome.endpoint) record_.tried = outcome.endpoint->address;
  fail_backend(outcome.failure);
}

void Session::fail_backend(CloseReason reason) {
  ++worker().counters.connect_failures;
  ++record_.backend->connect_failures;
  close(reason);
}

/// False: it cannot be sent. The send buffer of a new connection holds far more than a header.
bool Session::send_proxy_header(Socket& backend) {
  if (backend_->proxy_header == ProxyHeaderVersion::none) return true;
  if (!destination_) {
    tcp::endpoint local;
    auto size = static_cast<socklen_t>(local.capacity());
    if (::getsockname(client_.descriptor(), local.data(), &size) != 0) return false;
    local.resize(size);
    destination_ = from_asio(local);
  }
  const auto header = encode_proxy_header(backend_->proxy_header, {record_.client, *destination_});
  return backend.write(header).count == header.size();
}

void Session::become_relay(Socket backend) {
  set_no_delay(backend.descriptor());  // and keepalive once it has lasted for a second
  if (!send_proxy_header(backend)) return fail_backend(CloseReason::connect_failed);
  const auto keep = shared_from_this();
  worker().timers.cancel(deadline_);
  const auto relay = std::make_shared<Relay>(worker_, std::move(record_), std::move(client_), std::move(backend),
                                             backend_->idle_timeout);
  is_closed_ = true;
  relay->doomed_at = doomed_at;
  hand_over();
  relay->start(received_);
}

void Session::close(CloseReason reason) {
  if (std::exchange(is_closed_, true)) return;
  const auto keep = shared_from_this();
  worker().timers.cancel(deadline_);
  dialer_.cancel();
  client_.close();
  spare_ = FileDescriptor();
  finish(reason);
}

}  // namespace hcpnet::proxy
