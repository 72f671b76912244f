// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <hcpnet/result.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/timer_queue.hpp"

namespace hcpnet::runtime {

/// Whom to speak to. Files are PEM, and read when the connection is made; empty: none.
struct HttpPeer {
  bool is_encrypted = false;
  std::string host;  ///< a name, or an address
  std::uint16_t port = 0;
  std::string ca_file = {};  ///< empty: whom the system trusts
  std::string certificate_file = {}, key_file = {};
  std::string server_name = {};  ///< in the certificate; empty: the host
};

struct HttpConnectionLimits {
  std::chrono::milliseconds timeout{2000};         ///< of a request, with what it takes to connect
  std::size_t max_reply_bytes = 16 * 1024 * 1024;  ///< of a body
  std::size_t max_line_bytes = 16 * 1024 * 1024;   ///< of a stream
};

struct HttpReply {
  std::string problem;  ///< not empty: there was no answer, and why
  unsigned status = 0;
  std::string body;
};

/// A client's connection by HTTP/1.1 (RFC 9112), in the clear or by TLS: POST requests of JSON, one at a time; kept
/// alive, and made anew when it is found closed. With that, what etcd's gateway needs, and no more: no redirects, no
/// compression.
///
/// All calls on the executor's thread. close() before what `timers` belongs to goes.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(boost::asio::any_io_executor executor, TimerQueue& timers, HttpPeer peer,
                 HttpConnectionLimits limits = {});

  using Done = std::function<void(HttpReply)>;
  /// `authorization`: a header's value; empty: none. `done` is called once, unless close() comes first. After a problem
  /// nobody knows whether the request was carried out. Precondition: no other one is under way.
  void post(std::string_view path, std::string_view authorization, std::string_view body, Done done);
  /// The same for an answer without an end: `line` is called for each line of it, `ended` when there is no more, with
  /// the reason. The limit of time is that of the first line.
  void stream(std::string_view path, std::string_view authorization, std::string_view body,
              std::function<void(std::string_view)> line, std::function<void(std::string)> ended);
  /// Nobody is called back any more, not even for what is under way.
  void close();

 private:
  using Tcp = boost::asio::ip::tcp;
  using Parser = boost::beast::http::response_parser<boost::beast::http::buffer_body>;

  /// What an operation under way refers to: it stays until the operation has told so, also when the connection is given
  /// up.
  struct Channel {
    explicit Channel(const boost::asio::any_io_executor& executor) : socket(executor) {}
    std::optional<boost::asio::ssl::context> context;
    Tcp::socket socket;
    std::optional<boost::asio::ssl::stream<Tcp::socket&>> tls;  // of socket
    std::string request;
    std::array<char, 16 * 1024> buffer{};
    std::size_t begin = 0, end = 0;  ///< of what has been read and not been parsed
    bool has_served = false;         ///< an answer came by it; it may have been closed since
  };

  void begin(std::string_view path, std::string_view authorization, std::string_view body);
  void connect();
  void prepare_tls(Channel& channel) const;
  void on_connected();
  void write();
  void read();
  void on_read(std::size_t count);
  [[nodiscard]] bool take_body(error_code& error);
  void take_lines();
  void finish();
  void on_broken(const std::string& problem);
  void fail(const std::string& problem);
  void disconnect();
  template <class Call>
  void with_stream(Call call) {
    if (channel_->tls)
      call(*channel_->tls);
    else
      call(channel_->socket);
  }
  /// A handler that does nothing once the request it belongs to is over.
  template <class Then>
  auto guarded(const char* what, Then then) {
    return [self = shared_from_this(), channel = channel_, number = number_, what, then](const error_code& error,
                                                                                         auto&&... values) {
      if (number != self->number_ || channel != self->channel_) return;
      if (error) return self->on_broken(std::string(what) + ": " + error.message());
      then(*self, values...);
    };
  }

  boost::asio::any_io_executor executor_;
  TimerQueue& timers_;
  HttpPeer peer_;
  HttpConnectionLimits limits_;
  Tcp::resolver resolver_;
  std::shared_ptr<Channel> channel_;  ///< none: not connected
  std::uint64_t number_ = 0;          ///< of the request
  std::optional<TimerQueue::Id> deadline_;
  std::string request_;
  std::optional<Parser> parser_;
  std::string body_;  ///< of the answer; of a stream what is no whole line yet
  Done done_;
  std::function<void(std::string_view)> line_;
  std::function<void(std::string)> ended_;
};

}  // namespace hcpnet::runtime
