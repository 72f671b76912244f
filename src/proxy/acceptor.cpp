// SPDX-License-Identifier: Apache-2.0
#include "proxy/acceptor.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/v6_only.hpp>

#include "proxy/session.hpp"

namespace hcpnet::proxy {

Acceptor::Acceptor(std::shared_ptr<Worker> worker, Endpoint configured)
    : worker_(std::move(worker)), configured_(configured), acceptor_(worker_->executor) {}

void Acceptor::open(const Endpoint& address) {
  const tcp::endpoint endpoint = to_asio(address);
  error_code ec;
  acceptor_.open(endpoint.protocol(), ec);
  if (!ec) acceptor_.set_option(asio::socket_base::reuse_address(true), ec);
  if (!ec && address.address.is_v6()) acceptor_.set_option(asio::ip::v6_only(true), ec);
  if (!ec) acceptor_.bind(endpoint, ec);
  if (!ec) acceptor_.listen(asio::socket_base::max_listen_connections, ec);
  if (ec) throw boost::system::system_error(ec, "proxy: cannot listen on " + address.to_string());
  set_tcp_options(acceptor_.native_handle(), worker_->options);
  bound_ = from_asio(acceptor_.local_endpoint());
}

void Acceptor::accept() {
  acceptor_.async_accept(peer_, [self = shared_from_this()](const error_code& ec, tcp::socket client) {
    self->on_accept(ec, std::move(client));
  });
}

void Acceptor::on_accept(const error_code& ec, tcp::socket client) {
  if (!acceptor_.is_open()) return;
  // A connection that was given up while it waited is not a lack of anything.
  if (ec && ec != asio::error::connection_aborted) return back_off(ec);
  if (!ec) begin_session(std::move(client));
  accept();
}

void Acceptor::begin_session(tcp::socket client) {
  const Endpoint peer = from_asio(peer_);
  if (worker_->is_full()) {
    ++worker_->counters.limit_refused;
    worker_->warn_rarely("connection limit reached",
                         {{"listener", configured_.to_string()}, {"client", peer.to_string()}});
    return close_orderly(client);
  }
  ++worker_->counters.accepted;
  ConnectionRecord record;
  record.listener = configured_;
  record.client = peer;
  record.accepted_at = worker_->timers.now();
  std::make_shared<Session>(worker_, std::move(record), std::move(client))->start();
}

void Acceptor::back_off(const error_code& cause) {
  ++worker_->counters.accept_backoffs;
  worker_->warn_rarely("cannot accept connections",
                       {{"listener", configured_.to_string()}, {"cause", cause.message()}});
  worker_->timers.after(worker_->options.accept_backoff, [weak = weak_from_this()] {
    if (const auto self = weak.lock(); self && self->acceptor_.is_open()) self->accept();
  });
}

void Acceptor::close() {
  error_code ignored;
  acceptor_.close(ignored);
}

}  // namespace hcpnet::proxy
