// SPDX-License-Identifier: Apache-2.0
#include "stack/http_server.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "runtime/close_on_exec.hpp"
#include "stack/own_socket_file.hpp"

namespace hcpnet {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Protocol = asio::generic::stream_protocol;
using Stream = beast::basic_stream<Protocol>;
using Acceptor = asio::basic_socket_acceptor<Protocol>;

constexpr std::chrono::milliseconds kAcceptBackoff{100};

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::uint8_t byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(&text[i + 1], &text[i] + 3, byte, 16).ptr == &text[i] + 3) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

/// What the connections of one server share.
struct Shared {
  HttpServer::Handler handler;
  HttpLimits limits;
  std::uint64_t heard = 0;  ///< connections and requests so far
};

/// RFC 3986 section 3.4, read as forms are written.
std::map<std::string, std::string> parse_query(std::string_view text) {
  std::map<std::string, std::string> query;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    const std::string_view value = equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1);
    query.emplace(percent_decoded(pair.substr(0, equals)), percent_decoded(value));
  }
  return query;
}

std::string_view target_of(const http::request<http::string_body>& message) {
  return {message.target().data(), message.target().size()};
}

/// Takes the body out of the message.
HttpRequest to_request(http::request<http::string_body>& message, bool is_over_tcp) {
  const std::string_view target = target_of(message);
  const std::size_t mark = target.find('?');
  const auto field = [&](http::field name) { return std::string(message[name]); };
  return {is_over_tcp,
          field(http::field::host),
          field(http::field::content_type),
          message.find(http::field::origin) != message.end(),
          std::move(message.body()),
          message.method() == http::verb::head ? "GET" : std::string(message.method_string()),
          percent_decoded(target.substr(0, mark)),
          mark == std::string_view::npos ? std::map<std::string, std::string>{} : parse_query(target.substr(mark + 1))};
}

bool is_tcp(const Protocol::socket& socket) {
  beast::error_code ec;
  const auto local = socket.local_endpoint(ec);
  return ec || local.protocol().family() != AF_UNIX;
}

//   reading --request--> writing --keep-alive--> reading        (error, timeout, close: any --> closed)
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Protocol::socket socket, std::shared_ptr<Shared> shared)
      : stream_(std::move(socket)),
        shared_(std::move(shared)),
        is_over_tcp_(is_tcp(stream_.socket())),
        heard_(++shared_->heard),
        buffer_(shared_->limits.max_header_bytes + shared_->limits.max_body_bytes) {}

  /// The smaller, the longer ago it connected or finished a request; single bytes don't count.
  [[nodiscard]] std::uint64_t last_heard() const noexcept { return heard_; }

  void read() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(shared_->limits.max_header_bytes));
    parser_->body_limit(boost::none);  // the header tells which one it is
    stream_.expires_after(shared_->limits.timeout);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](beast::error_code ec, std::size_t) { self->on_header(ec); });
  }
  void close() {
    beast::error_code ignored;
    stream_.socket().close(ignored);
  }

 private:
  void on_header(beast::error_code ec) {
    if (ec) return close();
    const std::size_t limit = body_limit();
    if (parser_->content_length().value_or(0) > limit) return close();
    parser_->body_limit(limit);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code error, std::size_t) { self->on_read(error); });
  }
  [[nodiscard]] std::size_t body_limit() const {
    const std::string_view target = target_of(parser_->get());
    const auto found = shared_->limits.max_body_bytes_of.find(percent_decoded(target.substr(0, target.find('?'))));
    const bool is_of_path = !is_over_tcp_ && found != shared_->limits.max_body_bytes_of.end();
    return is_of_path ? found->second : shared_->limits.max_body_bytes;
  }
  void on_read(beast::error_code ec) {
    if (ec) return close();
    heard_ = ++shared_->heard;
    shared_->handler(to_request(parser_->get(), is_over_tcp_),
                     [self = shared_from_this()](HttpResponse answer) { self->write(std::move(answer)); });
  }
  void write(HttpResponse answer) {
    const auto& message = parser_->get();
    response_ = http::response<http::string_body>(static_cast<http::status>(answer.status), message.version());
    response_.set(http::field::content_type, answer.content_type);
    response_.set(http::field::cache_control, "no-store");
    response_.keep_alive(message.keep_alive());
    response_.content_length(answer.body.size());
    // RFC 9110 section 9.3.2: to HEAD the same, without the content.
    if (message.method() != http::verb::head) response_.body() = std::move(answer.body);
    stream_.expires_after(shared_->limits.timeout);
    http::async_write(stream_, response_,
                      [self = shared_from_this()](beast::error_code error, std::size_t) { self->on_write(error); });
  }
  void on_write(beast::error_code ec) {
    if (ec || !response_.keep_alive()) return close();
    read();
  }

  Stream stream_;
  std::shared_ptr<Shared> shared_;
  bool is_over_tcp_;
  std::uint64_t heard_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
};

[[noreturn]] void fail(int error, const std::string& what) {
  throw boost::system::system_error(error, boost::system::system_category(), what);
}

/// A socket file that nobody answers is left over from a process that died; one that answers belongs to a live process.
void remove_stale_socket(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return;
  if (!S_ISSOCK(info.st_mode)) fail(EEXIST, "admin socket " + path + " (a file of another kind is in its place)");
  asio::io_context io;
  asio::local::stream_protocol::socket probe(io);
  boost::system::error_code ec;
  probe.connect(asio::local::stream_protocol::endpoint(path), ec);
  if (!ec) fail(EADDRINUSE, "admin socket " + path + " (another process answers on it)");
  ::unlink(path.c_str());
}

}  // namespace

struct HttpServer::Impl : std::enable_shared_from_this<Impl> {
  Impl(asio::any_io_executor e, Handler h, std::string n, HttpLimits limits)
      : executor(std::move(e)),
        shared(std::make_shared<Shared>(Shared{std::move(h), limits})),
        acceptor(executor),
        retry(executor),
        name(std::move(n)) {}

  void accept() {
    acceptor.async_accept([self = shared_from_this()](boost::system::error_code ec, Protocol::socket socket) {
      if (!self->acceptor.is_open()) return;
      if (ec && ec != asio::error::connection_aborted) return self->back_off();
      if (!ec) self->serve(std::move(socket));
      self->accept();
    });
  }

  /// No descriptors are left: asking again at once would only keep the thread busy that serves the others.
  void back_off() {
    ++accept_backoffs;
    retry.expires_after(kAcceptBackoff);
    retry.async_wait([self = shared_from_this()](boost::system::error_code ec) {
      if (!ec && self->acceptor.is_open()) self->accept();
    });
  }

  void serve(Protocol::socket socket) {
    close_on_exec(socket);
    std::erase_if(sessions, [](const auto& weak) { return weak.expired(); });
    if (sessions.size() >= shared->limits.max_connections) make_room();
    const auto session = std::make_shared<Session>(std::move(socket), shared);
    sessions.push_back(session);
    session->read();
  }

  /// Who sends nothing can't keep others out.
  void make_room() {
    const auto silent = std::ranges::min_element(sessions, {}, [](const auto& weak) {
      const auto session = weak.lock();
      return session ? session->last_heard() : 0;
    });
    if (silent == sessions.end()) return;
    if (const auto session = silent->lock()) session->close();
    sessions.erase(silent);
    ++closed_for_room;
  }

  void open(const Protocol::endpoint& endpoint, const std::string& what) {
    boost::system::error_code ec;
    acceptor.open(endpoint.protocol(), ec);
    if (!ec) close_on_exec(acceptor);
    if (!ec && endpoint.protocol().family() != AF_UNIX) acceptor.set_option(asio::socket_base::reuse_address(true), ec);
    if (!ec) acceptor.bind(endpoint, ec);
    if (ec) throw boost::system::system_error(ec, what);
  }

  void listen(const std::string& what) {
    boost::system::error_code ec;
    acceptor.listen(asio::socket_base::max_listen_connections, ec);
    if (ec) throw boost::system::system_error(ec, what);
  }

  asio::any_io_executor executor;
  std::shared_ptr<Shared> shared;
  Acceptor acceptor;
  asio::steady_timer retry;
  std::string name;
  std::vector<std::weak_ptr<Session>> sessions;
  std::uint64_t closed_for_room = 0, accept_backoffs = 0;
  OwnSocketFile file;
};

HttpServer::HttpServer(asio::any_io_executor executor, Handler handler, std::string name, HttpLimits limits)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(handler), std::move(name), limits)) {}

HttpServer::~HttpServer() {
  stop();
}

void HttpServer::listen(const std::string& path) {
  const std::string what = "admin socket " + path;
  if (path.size() >= sizeof(sockaddr_un::sun_path)) fail(ENAMETOOLONG, what);
  impl_->file.lock(path, what);
  remove_stale_socket(path);
  impl_->open(asio::local::stream_protocol::endpoint(path), what);
  impl_->file.adopt(path);
  if (::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0) fail(errno, what);  // nobody can connect before listen()
  impl_->listen(what);
}

Endpoint HttpServer::listen(const Endpoint& address) {
  const std::string what = impl_->name + ": HTTP on " + address.to_string();
  const auto ip = asio::ip::make_address(address.address.to_string());
  impl_->open(asio::ip::tcp::endpoint(ip, address.port), what);
  impl_->listen(what);
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(impl_->acceptor.native_handle(), reinterpret_cast<sockaddr*>(&storage), &size) != 0)
    fail(errno, what);
  const in_port_t port = storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(storage).sin6_port
                                                       : reinterpret_cast<sockaddr_in&>(storage).sin_port;
  return {address.address, ntohs(port)};
}

void HttpServer::start() {
  impl_->accept();
}

std::uint64_t HttpServer::accept_backoffs() const noexcept {
  return impl_->accept_backoffs;
}

std::uint64_t HttpServer::closed_for_room() const noexcept {
  return impl_->closed_for_room;
}

void HttpServer::stop() {
  boost::system::error_code ignored;
  impl_->acceptor.close(ignored);
  impl_->retry.cancel();
  for (const auto& weak : impl_->sessions)
    if (const auto session = weak.lock()) session->close();
  impl_->file.remove();
}

}  // namespace hcpnet
