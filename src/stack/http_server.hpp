// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <functional>
#include <hcpnet/net.hpp>
#include <map>
#include <memory>
#include <string>

namespace hcpnet {

struct HttpRequest {
  std::string method;                        ///< "GET", "POST"
  std::string path;                          ///< "/routes", without the query
  std::map<std::string, std::string> query;  ///< decoded; a key given twice keeps its first value
};
struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
};

/// A small HTTP/1.1 server for people and machines on trusted sockets: one request at a time per connection, bounded
/// everywhere. All calls on the executor's thread, or before it runs.
class HttpServer {
 public:
  using Handler = std::function<HttpResponse(const HttpRequest&)>;
  static constexpr std::size_t kMaxConnections = 64;  ///< more are closed at once
  static constexpr std::size_t kMaxHeaderBytes = 8 * 1024;
  static constexpr std::size_t kMaxBodyBytes = 64 * 1024;
  static constexpr std::chrono::seconds kTimeout{
      10};  ///< for one request to arrive, one answer to leave, one idle wait

  HttpServer(boost::asio::any_io_executor executor, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Binds a unix socket with mode 0600. A socket that a dead process left is replaced; one that answers is an error.
  /// Throws boost::system::system_error naming the path.
  void listen(const std::string& path);
  /// Throws boost::system::system_error naming the address. Returns the address with the port that the system gave.
  Endpoint listen(const Endpoint& address);
  /// Accepts from now on.
  void start();
  /// Closes everything at once and removes the unix socket.
  void stop();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace hcpnet
