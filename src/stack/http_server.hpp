// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <hcpnet/net.hpp>
#include <map>
#include <memory>
#include <string>

namespace hcpnet {

struct HttpRequest {
  bool is_over_tcp = false;
  std::string host;          ///< as sent, with its port
  std::string content_type;  ///< of the body, as sent
  bool has_origin = false;   ///< a browser says which page asks
  std::string body;
  std::string method;                        ///< "GET", "POST"
  std::string path;                          ///< "/routes", without the query
  std::map<std::string, std::string> query;  ///< decoded; a key given twice keeps its first value
};
struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
};

/// Takes the answer to one request, once, at any time after it came, on the server's thread.
using HttpReply = std::function<void(HttpResponse)>;

struct HttpLimits {
  /// At one more, the connection that has been silent longest is closed.
  std::size_t max_connections = 64;
  std::size_t max_header_bytes = 8 * 1024;
  std::size_t max_body_bytes = 64 * 1024;
  std::map<std::string, std::size_t> max_body_bytes_of;  ///< by path, instead of the above; not over TCP
  /// For one request to arrive, one answer to leave, one idle wait.
  std::chrono::seconds timeout{10};
};

/// A small HTTP/1.1 server for people and machines on trusted sockets: one request at a time per connection, bounded
/// everywhere. All calls on the executor's thread, or before it runs.
class HttpServer {
 public:
  using Handler = std::function<void(const HttpRequest&, HttpReply)>;

  /// `name` says in errors which server it is: "admin", "observe".
  HttpServer(boost::asio::any_io_executor executor, Handler handler, std::string name, HttpLimits limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Binds a unix socket with mode 0600. A socket that a dead process left is replaced; one that answers, or whose
  /// PATH.lock another process holds, is an error.
  /// Throws boost::system::system_error naming the path.
  void listen(const std::string& path);
  /// Throws boost::system::system_error naming the address. Returns the address with the port that the system gave.
  Endpoint listen(const Endpoint& address);
  /// Accepts from now on.
  void start();
  /// Connections closed because of HttpLimits::max_connections.
  [[nodiscard]] std::uint64_t closed_for_room() const noexcept;
  /// Times that no connection could be accepted, for want of descriptors, and none was for 100 ms.
  [[nodiscard]] std::uint64_t accept_backoffs() const noexcept;
  /// Closes everything at once and removes the unix socket.
  void stop();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace hcpnet
