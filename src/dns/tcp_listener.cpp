// SPDX-License-Identifier: Apache-2.0
#include "dns/tcp_listener.hpp"

#include <boost/asio/ip/v6_only.hpp>

#include "dns/endpoints.hpp"
#include "runtime/close_on_exec.hpp"
#include "runtime/close_shared.hpp"

namespace hcpnet::dns {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr int kBacklog = 256;
/// Until accepting is tried again when the process has run out of descriptors.
constexpr std::chrono::milliseconds kAcceptPause{100};

}  // namespace

TcpListener::TcpListener(asio::any_io_executor executor, const Endpoint& at, TcpSessions& sessions)
    : acceptor_(executor), sessions_(sessions) {
  acceptor_.open(at.address.is_v4() ? tcp::v4() : tcp::v6());
  close_on_exec(acceptor_);
  if (!at.address.is_v4()) acceptor_.set_option(asio::ip::v6_only(true));
  acceptor_.set_option(tcp::acceptor::reuse_address(true));
  acceptor_.bind({to_asio(at.address), at.port});
  acceptor_.listen(kBacklog);
}

TcpListener::TcpListener(asio::any_io_executor executor, FileDescriptor socket, bool is_v4, TcpSessions& sessions)
    : acceptor_(executor), sessions_(sessions) {
  acceptor_.assign(is_v4 ? tcp::v4() : tcp::v6(), socket.get());
  static_cast<void>(socket.release());
}

void TcpListener::close() noexcept {
  sessions_.timers->cancel(pause_);
  if (acceptor_.is_open()) close_shared(acceptor_);
}

void TcpListener::accept() {
  acceptor_.async_accept([self = shared_from_this()](error_code ec, tcp::socket socket) {
    if (self->acceptor_.is_open()) self->on_accept(ec, std::move(socket));
  });
}

void TcpListener::on_accept(error_code ec, tcp::socket socket) {
  if (!ec) {
    close_on_exec(socket);
    sessions_.add(std::move(socket));
    return accept();
  }
  if (ec == asio::error::connection_aborted) return accept();  // the client was quicker
  pause_ = sessions_.timers->after(kAcceptPause, [weak = weak_from_this()] {
    if (const auto self = weak.lock(); self && self->acceptor_.is_open()) self->accept();
  });
}

}  // namespace hcpnet::dns
