// SPDX-License-Identifier: Apache-2.0
#include "admin_client.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cctype>
#include <string_view>
#include <utility>

namespace hcpnet::app {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Protocol = asio::local::stream_protocol;

constexpr std::chrono::seconds kTimeout{10}, kChangeTimeout{300};
constexpr std::uint64_t kMaxAnswerBytes = 256ull * 1024 * 1024;  // a million leases

/// Runs one asynchronous step to its end, so that the stream's timeout applies.
template <class Start>
beast::error_code step(asio::io_context& io, beast::basic_stream<Protocol>& stream, Start start,
                       std::chrono::seconds timeout = kTimeout) {
  beast::error_code result;
  stream.expires_after(timeout);
  start([&](beast::error_code ec, auto...) { result = ec; });
  io.restart();
  io.run();
  return result;
}

}  // namespace

std::string AdminAnswer::error() const {
  if (body.is_object() && body.contains("error") && body.at("error").is_string())
    return body.at("error").get<std::string>();
  return "the running process answered with HTTP status " + std::to_string(status);
}

std::string unexpected_answer(const std::string& socket) {
  return "what answers on " + socket + " is no hcpnet, or another version: its answer has another form";
}

AdminAnswer ask_admin(const std::string& socket, const std::string& method, const std::string& target,
                      std::string csv) {
  const auto failed = [&](const beast::error_code& ec) {
    return AdminAnswer{0, {{"error", "no running process answers on " + socket + ": " + ec.message()}}, {}};
  };
  asio::io_context io;
  beast::basic_stream<Protocol> stream(io);
  if (socket.size() >= sizeof(sockaddr_un::sun_path)) return failed(asio::error::name_too_long);
  if (const auto ec = step(io, stream, [&](auto done) { stream.async_connect(Protocol::endpoint(socket), done); }))
    return failed(ec);

  http::request<http::string_body> request(http::string_to_verb(method), target, 11, std::move(csv));
  request.set(http::field::host, "hcpnet");
  if (!request.body().empty()) request.set(http::field::content_type, "text/csv; charset=utf-8");
  request.keep_alive(false);
  request.prepare_payload();
  if (const auto ec = step(io, stream, [&](auto done) { http::async_write(stream, request, done); })) return failed(ec);

  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMaxAnswerBytes);
  const auto read = [&](auto done) { http::async_read(stream, buffer, parser, done); };
  if (const auto ec = step(io, stream, read, method == "GET" ? kTimeout : kChangeTimeout)) return failed(ec);
  const auto type_field = parser.get()[http::field::content_type];
  const std::string_view type(type_field.data(), type_field.size());
  if (type.starts_with("text/")) return {parser.get().result_int(), {}, std::move(parser.get().body())};
  return {parser.get().result_int(), nlohmann::json::parse(parser.get().body(), nullptr, false), {}};
}

std::string percent_encoded(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '.' || c == '-' || c == '_')
      out += c;
    else
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return out;
}

}  // namespace hcpnet::app
