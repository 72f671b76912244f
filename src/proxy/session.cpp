// SPDX-License-Identifier: Apache-2.0
#include "proxy/session.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <utility>

#include "proxy/relay.hpp"

namespace hcpnet::proxy {

Session::Session(std::shared_ptr<Worker> worker, ConnectionRecord record, tcp::socket client)
    : Connection(std::move(worker), std::move(record)),
      client_(std::move(client)),
      backend_socket_(worker_->executor),
      reader_(tls::ClientHelloLimits{.max_bytes = worker_->options.max_hello_bytes}) {}

void Session::start() {
  error_code ignored;
  client_.non_blocking(true, ignored);
  set_deadline(worker().options.inspect_timeout, &Session::on_inspect_timeout);
  read_hello();
}

void Session::set_deadline(std::chrono::milliseconds after, void (Session::*on_deadline)()) {
  worker().timers.cancel(deadline_);
  deadline_ = worker().timers.after(after, [weak = weak_from_this(), on_deadline] {
    const auto session = std::static_pointer_cast<Session>(weak.lock());
    if (session && !session->is_closed_) (session.get()->*on_deadline)();
  });
}

void Session::read_hello() {
  error_code ec;
  {
    const BufferPool::Buffer buffer = worker().buffers.borrow();
    const std::size_t room = std::min(worker().options.max_hello_bytes, tls::kLargestHelloBytes) - received_.size();
    const std::size_t count = client_.read_some(asio::buffer(buffer.bytes().data(), room), ec);
    received_.insert(received_.end(), buffer.bytes().begin(),
                     buffer.bytes().begin() + static_cast<std::ptrdiff_t>(count));
  }
  if (ec == asio::error::would_block) return wait_for_hello();
  if (!ec) return on_received();
  ++worker().counters.closed_before_hello;
  close(CloseReason::hello_incomplete);
}

void Session::wait_for_hello() {
  client_.async_wait(tcp::socket::wait_read, [self = self()](const error_code& ec) {
    if (!ec && !self->is_closed_) self->read_hello();
  });
}

void Session::on_received() {
  Result<tls::ClientHello> hello = reader_.read(received_);
  if (hello) {
    record_.server_name = std::move(hello->server_name);
    return choose(greeting_of(record_.server_name));
  }
  const error_code ec = hello.error();
  if (ec == tls::Errc::need_more) return wait_for_hello();
  if (ec == tls::Errc::not_tls) return choose(Greeting::not_tls);
  if (ec == tls::Errc::too_large) {
    ++worker().counters.hello_too_large;
    return close(CloseReason::hello_too_large);
  }
  ++worker().counters.hello_malformed;
  close(CloseReason::hello_malformed);
}

void Session::on_inspect_timeout() {
  ++worker().counters.inspect_timeouts;
  close(CloseReason::inspect_timeout);
}

void Session::choose(Greeting greeting) {
  table_ = worker().table();
  const Decision decision = table_->find(record_.listener, greeting, record_.server_name.value_or(""),
                                         record_.client.address, worker().source_clusters);
  record_.rule = decision.rule;
  ++worker().decisions[static_cast<std::size_t>(decision.rule)];
  if (decision.backend == nullptr) return close(reason_for(greeting, decision.rule));
  backend_ = decision.backend;
  record_.backend = backend_->name;
  EngineStats::PerBackend& counts = worker().counters.backends[backend_->name];
  ++counts.total;
  ++counts.active;
  find_endpoints();
}

void Session::find_endpoints() {
  if (!backend_->endpoints.empty()) {
    set_candidates(backend_->endpoints);
    return connect_next();
  }
  set_deadline(backend_->connect_timeout, &Session::on_resolve_timeout);
  worker().names->resolve(backend_->host, backend_->port,
                          [self = self()](const Result<std::vector<Endpoint>>& endpoints) {
                            if (!self->is_closed_) self->on_resolved(endpoints);
                          });
}

void Session::on_resolved(const Result<std::vector<Endpoint>>& endpoints) {
  keep_alive_.reset();
  if (!endpoints) return fail_backend(CloseReason::resolve_failed);
  set_candidates(*endpoints);
  connect_next();
}

void Session::on_resolve_timeout() {
  fail_backend(CloseReason::resolve_failed);
}

/// In rotation, so that all endpoints share the work.
void Session::set_candidates(const std::vector<Endpoint>& endpoints) {
  const std::size_t count = std::min(endpoints.size(), worker().options.max_connect_attempts);
  const std::uint64_t first = worker().counters.backends[record_.backend].total;
  candidates_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) candidates_.push_back(endpoints[(first + i) % endpoints.size()]);
}

void Session::connect_next() {
  if (attempt_ == candidates_.size()) return fail_backend(last_failure_);
  const Endpoint& endpoint = candidates_[attempt_++];
  record_.endpoint = endpoint;
  if (worker().is_own_address(endpoint)) {
    ++worker().counters.loops_refused;
    return on_endpoint_failure(CloseReason::loop, "it is this proxy itself");
  }
  connect(endpoint);
}

void Session::connect(const Endpoint& endpoint) {
  const tcp::endpoint address = to_asio(endpoint);
  error_code ec;
  backend_socket_.open(address.protocol(), ec);
  if (ec) return on_endpoint_failure(CloseReason::connect_failed, ec.message());
  set_deadline(backend_->connect_timeout, &Session::on_connect_timeout);
  backend_socket_.async_connect(address, [self = self(), attempt = attempt_](const error_code& result) {
    // A late answer of an endpoint that was given up, or of a closed session, is nobody's business.
    if (!self->is_closed_ && self->attempt_ == attempt) self->on_connected(result);
  });
}

void Session::on_connected(const error_code& ec) {
  if (!ec) return become_relay();
  on_endpoint_failure(CloseReason::connect_failed, ec.message());
}

void Session::on_connect_timeout() {
  ++worker().counters.connect_timeouts;
  on_endpoint_failure(CloseReason::connect_timeout, "no answer in time");
}

void Session::on_endpoint_failure(CloseReason reason, std::string_view cause) {
  ++worker().counters.endpoint_failures;
  last_failure_ = reason;
  close_orderly(backend_socket_);
  if (worker().options.log.is_enabled()) {
    worker().options.log.debug("endpoint failed", {{"backend", record_.backend},
                                                   {"endpoint", record_.endpoint->to_string()},
                                                   {"reason", std::string(to_string(reason))},
                                                   {"cause", std::string(cause)}});
  }
  connect_next();
}

void Session::fail_backend(CloseReason reason) {
  ++worker().counters.connect_failures;
  ++worker().counters.backends[record_.backend].connect_failures;
  close(reason);
}

void Session::become_relay() {
  is_closed_ = true;
  const auto keep = shared_from_this();
  worker().timers.cancel(deadline_);
  error_code ignored;
  backend_socket_.non_blocking(true, ignored);
  set_tcp_options(backend_socket_.native_handle(), worker().options);
  const auto relay = std::make_shared<Relay>(worker_, std::move(record_), std::move(client_),
                                             std::move(backend_socket_), backend_->idle_timeout);
  hand_over();
  relay->start(received_);
}

void Session::close(CloseReason reason) {
  if (std::exchange(is_closed_, true)) return;
  const auto keep = shared_from_this();
  keep_alive_.reset();
  worker().timers.cancel(deadline_);
  close_orderly(client_);
  close_orderly(backend_socket_);
  finish(reason);
}

}  // namespace hcpnet::proxy
