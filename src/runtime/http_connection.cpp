// SPDX-License-Identifier: Apache-2.0
#include "runtime/http_connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/system/system_error.hpp>
#include <utility>

#include "runtime/error_text.hpp"

namespace hcpnet::runtime {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
namespace http = boost::beast::http;

constexpr unsigned kSuccess = 200;
constexpr std::uint64_t kEndless = UINT64_MAX;

bool is_address(const std::string& host) {
  error_code error;
  static_cast<void>(asio::ip::make_address(host, error));
  return !error;
}

/// A peer that is gone without a word is noticed within half a minute, even where nothing is sent.
void notice_silence(asio::ip::tcp::socket& socket) {
  const auto set = [&](int level, int name, int value) {
    static_cast<void>(::setsockopt(socket.native_handle(), level, name, &value, sizeof value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_NODELAY, 1);
}

ssl::context make_context(const HttpPeer& peer) {
  ssl::context context(ssl::context::tls_client);
  context.set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
  if (peer.ca_file.empty())
    context.set_default_verify_paths();
  else
    context.load_verify_file(peer.ca_file);
  if (!peer.certificate_file.empty()) {
    context.use_certificate_chain_file(peer.certificate_file);
    context.use_private_key_file(peer.key_file, ssl::context::pem);
  }
  context.set_verify_mode(ssl::verify_peer);
  return context;
}

}  // namespace

HttpConnection::HttpConnection(asio::any_io_executor executor, TimerQueue& timers, HttpPeer peer,
                               HttpConnectionLimits limits)
    : executor_(std::move(executor)), timers_(timers), peer_(std::move(peer)), limits_(limits), resolver_(executor_) {}

void HttpConnection::post(std::string_view path, std::string_view authorization, std::string_view body, Done done) {
  done_ = std::move(done);
  begin(path, authorization, body);
}

void HttpConnection::stream(std::string_view path, std::string_view authorization, std::string_view body,
                            std::function<void(std::string_view)> line, std::function<void(std::string)> ended) {
  line_ = std::move(line);
  ended_ = std::move(ended);
  begin(path, authorization, body);
}

void HttpConnection::begin(std::string_view path, std::string_view authorization, std::string_view body) {
  ++number_;
  const bool is_v6 = peer_.host.find(':') != std::string::npos;
  request_ = "POST " + std::string(path) + " HTTP/1.1\r\nHost: " + (is_v6 ? '[' + peer_.host + ']' : peer_.host) + ':' +
             std::to_string(peer_.port) +
             "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  if (!authorization.empty()) request_.append("Authorization: ").append(authorization).append("\r\n");
  request_.append("\r\n").append(body);
  body_.clear();
  parser_.emplace();
  parser_->eager(true);
  parser_->body_limit(line_ ? kEndless : std::uint64_t{limits_.max_reply_bytes});
  deadline_ = timers_.after(limits_.timeout, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->deadline_.reset();
    self->fail("no answer in time");
  });
  if (channel_) return write();
  connect();
}

void HttpConnection::connect() {
  disconnect();
  channel_ = std::make_shared<Channel>(executor_);
  if (peer_.is_encrypted) {
    try {
      prepare_tls(*channel_);
    } catch (const boost::system::system_error& error) {
      // Whoever has just asked is not told before his call has returned.
      return asio::post(executor_, [weak = weak_from_this(), number = number_, why = error_text(error)] {
        const auto self = weak.lock();
        if (self && number == self->number_) self->fail("the files for TLS can't be used: " + why);
      });
    }
  }
  resolver_.async_resolve(
      peer_.host, std::to_string(peer_.port),
      guarded("no address", [](HttpConnection& self, const Tcp::resolver::results_type& found) {
        asio::async_connect(
            self.channel_->socket, found,
            self.guarded("no connection", [](HttpConnection& connected, const auto&) { connected.on_connected(); }));
      }));
}

void HttpConnection::prepare_tls(Channel& channel) const {
  channel.context.emplace(make_context(peer_));
  channel.tls.emplace(channel.socket, *channel.context);
  const std::string& name = peer_.server_name.empty() ? peer_.host : peer_.server_name;
  channel.tls->set_verify_callback(ssl::host_name_verification(name));
  // An address is no server name (RFC 6066 section 3).
  if (!is_address(name)) SSL_set_tlsext_host_name(channel.tls->native_handle(), name.c_str());
}

void HttpConnection::on_connected() {
  notice_silence(channel_->socket);
  if (!channel_->tls) return write();
  channel_->tls->async_handshake(ssl::stream_base::client, guarded("TLS", [](HttpConnection& self) { self.write(); }));
}

void HttpConnection::write() {
  channel_->request = request_;
  with_stream([this](auto& layer) {
    asio::async_write(
        layer, asio::buffer(channel_->request),
        this->guarded("the request was not sent", [](HttpConnection& self, std::size_t) { self.read(); }));
  });
}

/// Behind what is left of what has been read before.
void HttpConnection::read() {
  Channel& c = *channel_;
  std::copy(c.buffer.begin() + static_cast<std::ptrdiff_t>(c.begin),
            c.buffer.begin() + static_cast<std::ptrdiff_t>(c.end), c.buffer.begin());
  c.end -= c.begin;
  c.begin = 0;
  if (c.end == c.buffer.size()) return fail("that is no HTTP answer: a line of it is too long");
  with_stream([this, &c](auto& layer) {
    layer.async_read_some(
        asio::buffer(c.buffer.data() + c.end, c.buffer.size() - c.end),
        this->guarded("the answer broke off", [](HttpConnection& self, std::size_t count) { self.on_read(count); }));
  });
}

void HttpConnection::on_read(std::size_t count) {
  channel_->end += count;
  const std::uint64_t number = number_;
  error_code error;
  while (!error && channel_->begin < channel_->end && !parser_->is_done())
    if (!take_body(error)) break;
  if (error && error != http::error::need_more) return fail("that is no HTTP answer: " + error.message());
  if (line_ && parser_->is_header_done() && parser_->get().result_int() == kSuccess) {
    take_lines();
    if (number != number_) return;  // closed
  }
  if (line_ && body_.size() > limits_.max_line_bytes) return fail("a line of the answer is too long");
  if (parser_->is_done()) return finish();
  read();
}

/// Feeds the parser. False: it needs more than there is. What it takes of a body is never more than what it was fed.
bool HttpConnection::take_body(error_code& error) {
  Channel& c = *channel_;
  std::array<char, 16 * 1024> piece;
  static_assert(sizeof piece >= sizeof c.buffer);
  http::buffer_body::value_type& body = parser_->get().body();
  body.data = piece.data();
  body.size = piece.size();
  body.more = true;
  const std::size_t used = parser_->put(asio::const_buffer(c.buffer.data() + c.begin, c.end - c.begin), error);
  c.begin += used;
  body_.append(piece.data(), piece.size() - body.size);
  body.data = nullptr;
  return !error && used > 0;
}

void HttpConnection::take_lines() {
  const std::uint64_t number = number_;
  std::size_t first = 0;
  for (std::size_t end = body_.find('\n'); end != std::string::npos; end = body_.find('\n', first)) {
    if (deadline_) timers_.cancel(*std::exchange(deadline_, {}));
    const std::string line = body_.substr(first, end - first);
    const auto keep = line_;  // the callback may close us
    keep(line);
    if (number != number_) return;
    first = end + 1;
  }
  body_.erase(0, first);
}

void HttpConnection::finish() {
  const unsigned status = parser_->get().result_int();
  if (line_) return fail("the answer has ended, with status " + std::to_string(status) + ": " + body_);
  if (deadline_) timers_.cancel(*std::exchange(deadline_, {}));
  ++number_;
  channel_->has_served = true;
  if (!parser_->keep_alive() || channel_->begin != channel_->end) disconnect();
  HttpReply reply{{}, status, std::exchange(body_, {})};
  if (const Done done = std::exchange(done_, nullptr)) done(std::move(reply));
}

/// A connection that was kept may have been closed while nothing was asked: that is no failure.
void HttpConnection::on_broken(const std::string& problem) {
  const bool is_stale = channel_->has_served && !parser_->got_some() && body_.empty();
  if (is_stale) return connect();
  fail(problem);
}

void HttpConnection::fail(const std::string& problem) {
  if (deadline_) timers_.cancel(*std::exchange(deadline_, {}));
  disconnect();
  ++number_;
  line_ = nullptr;
  const Done done = std::exchange(done_, nullptr);
  if (const auto ended = std::exchange(ended_, nullptr)) return ended(problem);
  if (done) done({problem, 0, {}});
}

void HttpConnection::disconnect() {
  resolver_.cancel();
  if (!channel_) return;
  error_code ignored;
  channel_->socket.close(ignored);
  channel_.reset();
}

void HttpConnection::close() {
  done_ = nullptr;
  ended_ = nullptr;
  fail({});
}

}  // namespace hcpnet::runtime
