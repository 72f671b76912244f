// SPDX-License-Identifier: Apache-2.0
#include "dns/tcp_session.hpp"

#include <boost/asio/write.hpp>

#include "dns/endpoints.hpp"

namespace hcpnet::dns {

namespace asio = boost::asio;
using asio::ip::tcp;

void TcpSessions::add(tcp::socket socket) {
  if (open.size() >= max_connections) {
    handler.on_tcp_limit();
    if (open.empty()) return;
    const auto oldest = open.front();
    oldest->close();
  }
  open.push_back(std::make_shared<TcpSession>(std::move(socket), *this));
  const auto session = open.back();  // start() may already close it
  session->start(std::prev(open.end()));
}

void TcpSessions::close_all() {
  while (!open.empty()) {
    const auto session = open.front();
    session->close();
  }
}

TcpSession::TcpSession(tcp::socket socket, TcpSessions& sessions) : socket_(std::move(socket)), sessions_(sessions) {}

void TcpSession::start(TcpSessions::List::iterator place) {
  place_ = place;
  error_code ec;
  const tcp::endpoint client = socket_.remote_endpoint(ec);
  if (ec) return close();
  client_ = from_asio(client.address());
  socket_.set_option(tcp::no_delay(true),
                     ec);  // replies are whole: waiting to join them gains nothing, and failing to set it costs little
  last_activity_ = sessions_.timers->now();
  arm_idle_timer();
  read();
}

void TcpSession::close() noexcept {
  if (is_closed_) return;
  is_closed_ = true;
  sessions_.timers->cancel(idle_timer_);
  error_code ignored;
  socket_.close(ignored);
  sessions_.open.erase(place_);  // whoever calls holds another reference
}

void TcpSession::read() {
  is_reading_ = true;
  socket_.async_read_some(asio::buffer(incoming_), [self = shared_from_this()](error_code ec, std::size_t bytes) {
    if (!self->is_closed_) self->on_read(ec, bytes);
  });
}

void TcpSession::on_read(error_code ec, std::size_t bytes) {
  is_reading_ = false;
  if (ec == asio::error::eof)
    has_ended_ = true;
  else if (ec)
    return close();
  received_.insert(received_.end(), incoming_.begin(), incoming_.begin() + static_cast<std::ptrdiff_t>(bytes));
  go_on();
}

// stream = *( length u16, that many bytes )   (RFC 1035 section 4.2.2)
bool TcpSession::handle_queries() {
  std::size_t done = 0;
  while (!transfer_ && waiting_ < kMaxWaiting && unsent_.size() < kMaxUnsentBytes) {
    ByteReader reader(ByteView(received_).subspan(done));
    const ByteView query = reader.bytes(reader.u16());
    if (!reader.ok()) break;
    done += 2 + query.size();
    note_activity();
    if (!handle_query(query)) {
      close();
      return false;
    }
  }
  received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(done));
  return true;
}

bool TcpSession::handle_query(ByteView query) {
  const auto begin = std::chrono::steady_clock::now();
  const auto handled = sessions_.handler.handle(query, client_, Transport::tcp, sessions_.scratch);
  if (handled.bytes > 0) sessions_.handler.on_replies(1, std::chrono::steady_clock::now() - begin);
  if (handled.must_transfer) {
    transfer_ = sessions_.handler.begin_transfer(query, client_);
    return transfer_ != nullptr;
  }
  if (handled.bytes > 0) reply(ByteView(sessions_.scratch).first(handled.bytes));
  if (handled.bytes > 0 || !handled.must_forward) return handled.bytes > 0;  // junk ends a connection
  ++waiting_;
  const std::size_t now =
      sessions_.handler.forward(query, Transport::tcp, sessions_.scratch, [weak = weak_from_this()](ByteView bytes) {
        const auto self = weak.lock();
        if (!self || self->is_closed_) return;
        --self->waiting_;
        self->reply(bytes);
        self->go_on();
      });
  if (now > 0) {
    --waiting_;
    reply(ByteView(sessions_.scratch).first(now));
  }
  return true;
}

bool TcpSession::go_on_with_transfer() {
  while (transfer_ && unsent_.size() < kMaxUnsentBytes) {
    const std::size_t size = transfer_->next(sessions_.scratch);
    if (size == 0) {
      transfer_.reset();
      return true;
    }
    reply(ByteView(sessions_.scratch).first(size));
  }
  return false;
}

void TcpSession::reply(ByteView bytes) {
  unsent_.push_back(static_cast<std::uint8_t>(bytes.size() >> 8));
  unsent_.push_back(static_cast<std::uint8_t>(bytes.size()));
  unsent_.insert(unsent_.end(), bytes.begin(), bytes.end());
}

void TcpSession::write() {
  sending_.swap(unsent_);
  asio::async_write(socket_, asio::buffer(sending_), [self = shared_from_this()](error_code ec, std::size_t) {
    if (self->is_closed_) return;
    if (ec) return self->close();
    self->sending_.clear();
    self->note_activity();
    self->go_on();
  });
}

/// Whatever is possible now: handle, send, read on, or end.
void TcpSession::go_on() {
  const auto self = shared_from_this();  // close() may drop the last other reference
  do {
    if (!handle_queries()) return;
  } while (go_on_with_transfer());
  if (!unsent_.empty() && sending_.empty()) write();
  const bool is_idle = !transfer_ && waiting_ == 0 && unsent_.empty() && sending_.empty();
  if (has_ended_ && is_idle) return close();
  const bool is_full = transfer_ || waiting_ >= kMaxWaiting || unsent_.size() >= kMaxUnsentBytes;
  if (!has_ended_ && !is_full && !is_reading_) read();
}

void TcpSession::note_activity() {
  last_activity_ = sessions_.timers->now();
  sessions_.open.splice(sessions_.open.end(), sessions_.open, place_);
}

void TcpSession::arm_idle_timer() {  // re-armed only when it fires
  idle_timer_ = sessions_.timers->at(last_activity_ + sessions_.idle_timeout, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->is_closed_) return;
    if (self->sessions_.timers->now() < self->last_activity_ + self->sessions_.idle_timeout)
      return self->arm_idle_timer();
    self->sessions_.handler.on_tcp_timeout();
    self->close();
  });
}

}  // namespace hcpnet::dns
