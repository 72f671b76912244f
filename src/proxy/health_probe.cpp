// SPDX-License-Identifier: Apache-2.0
#include "proxy/health_probe.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <hcpnet/proxy/proxy_header.hpp>
#include <utility>

#include "runtime/close_on_exec.hpp"
#include "tls/client_hello_writer.hpp"

namespace hcpnet::proxy {
namespace {

constexpr std::uint8_t kHandshakeRecord = 22;
constexpr std::uint8_t kServerHello = 2;

}  // namespace

HealthProbe::HealthProbe(std::shared_ptr<Worker> worker, const Backend& backend, std::vector<IpAddress> dial_from,
                         Done done)
    : worker_(std::move(worker)),
      check_(*backend.health_check),
      header_(backend.proxy_header),
      dial_from_(std::move(dial_from)),
      done_(std::move(done)),
      socket_(worker_->executor) {}

void HealthProbe::start(const Endpoint& endpoint) {
  const tcp::endpoint to = to_asio(endpoint);
  error_code lack;
  socket_.open(to.protocol(), lack);
  if (!lack) close_on_exec(socket_);
  if (!lack && socket_.native_handle() >= worker_->first_reserved_descriptor) lack = asio::error::no_descriptors;
  if (!lack) lack = bind_to_own_address(socket_.native_handle(), dial_from_, endpoint);
  if (lack) {
    asio::post(worker_->executor, [self = shared_from_this()] { self->finish(std::nullopt); });
    return;
  }
  deadline_ = worker_->timers.after(check_.timeout, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->finish(false);
  });
  socket_.async_connect(to, [self = shared_from_this()](const error_code& ec) {
    if (ec) return self->finish(false);
    self->on_connected();
  });
}

void HealthProbe::on_connected() {
  if (check_.kind == HealthCheck::Kind::tcp || !done_) return finish(true);
  std::array<std::uint8_t, 64> random;
  for (std::uint8_t& byte : random) byte = static_cast<std::uint8_t>(worker_->random() >> 8);
  hello_ = encode_own_proxy_header(header_);
  const auto hello = tls::make_client_hello(check_.server_name, random);
  hello_.insert(hello_.end(), hello.begin(), hello.end());
  asio::async_write(socket_, asio::buffer(hello_), [self = shared_from_this()](const error_code& ec, std::size_t) {
    if (ec) return self->finish(false);
    self->read();
  });
}

void HealthProbe::read() {
  asio::async_read(socket_, asio::buffer(answer_), [self = shared_from_this()](const error_code& ec, std::size_t) {
    self->finish(!ec && self->answer_[0] == kHandshakeRecord && self->answer_[5] == kServerHello);
  });
}

void HealthProbe::cancel() {
  done_ = nullptr;
  finish(false);
}

void HealthProbe::finish(std::optional<bool> is_good) {
  worker_->timers.cancel(deadline_);
  // With RST: nothing of this connection is worth waiting for, and no port stays in TIME-WAIT.
  error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
  if (const Done done = std::exchange(done_, nullptr)) done(is_good);
}

}  // namespace hcpnet::proxy
