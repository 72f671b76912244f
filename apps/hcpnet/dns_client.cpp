// SPDX-License-Identifier: Apache-2.0
#include "dns_client.hpp"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>

namespace hcpnet::app {
namespace {

namespace asio = boost::asio;

asio::ip::address to_asio(const IpAddress& address) {
  return asio::ip::make_address(address.to_string());
}

/// Runs what was started until it is done; a step that takes too long is an error.
void run(asio::io_context& io, std::chrono::milliseconds timeout, const error_code& result) {
  io.restart();
  io.run_for(timeout);
  if (!io.stopped()) throw boost::system::system_error(asio::error::timed_out, "no reply");
  if (result) throw boost::system::system_error(result, "no reply");
}

std::optional<dns::Message> as_reply(ByteView bytes, const dns::Message& query) {
  auto message = dns::parse_message(bytes);
  if (!message || message->id != query.id || (message->flags & dns::flag::kResponse) == 0) return std::nullopt;
  // A server that could not read the question does not repeat it.
  if (!message->questions.empty() && message->questions != query.questions) return std::nullopt;
  return std::move(*message);
}

template <class Socket>
void bind_to(Socket& socket, const std::optional<IpAddress>& source) {
  if (!source) return;
  error_code error;
  socket.bind({to_asio(*source), 0}, error);
  if (error) throw boost::system::system_error(error, "--from " + source->to_string());
}

dns::Message malformed() {
  throw boost::system::system_error(dns::make_error_code(dns::Errc::malformed), "the reply");
}

dns::Message over_udp(asio::io_context& io, const Endpoint& server, const std::optional<IpAddress>& source,
                      const dns::Message& query, std::chrono::milliseconds timeout) {
  const asio::ip::udp::endpoint to(to_asio(server.address), server.port);
  asio::ip::udp::socket socket(io, to.protocol());
  bind_to(socket, source);
  socket.connect(to);  // the kernel then drops what others send
  const auto bytes = dns::encode_message(query).value();
  std::array<std::uint8_t, dns::kMaxMessageBytes> buffer;
  error_code result;
  std::size_t size = 0;
  socket.async_receive(asio::buffer(buffer), [&](const error_code& error, std::size_t received) {
    result = error;
    size = received;
  });
  socket.send(asio::buffer(bytes));
  io.run_for(timeout / 2);
  if (!io.stopped()) socket.send(asio::buffer(bytes));  // a datagram may get lost
  run(io, timeout / 2, result);
  const auto reply = as_reply(ByteView(buffer).first(size), query);
  return reply ? *reply : malformed();
}

// RFC 1035 section 4.2.2: each message follows its length, two bytes.
dns::Message over_tcp(asio::io_context& io, const Endpoint& server, const std::optional<IpAddress>& source,
                      const dns::Message& query, std::chrono::milliseconds timeout) {
  const asio::ip::tcp::endpoint to(to_asio(server.address), server.port);
  asio::ip::tcp::socket socket(io, to.protocol());
  bind_to(socket, source);
  error_code result;
  socket.async_connect(to, [&](const error_code& error) { result = error; });
  run(io, timeout, result);
  const auto bytes = dns::encode_message(query).value();
  std::array<std::uint8_t, 2> length{static_cast<std::uint8_t>(bytes.size() >> 8),
                                     static_cast<std::uint8_t>(bytes.size())};
  asio::write(socket, std::array<asio::const_buffer, 2>{asio::buffer(length), asio::buffer(bytes)});
  const auto take = [&](const error_code& error, std::size_t) { result = error; };
  asio::async_read(socket, asio::buffer(length), take);
  run(io, timeout, result);
  std::vector<std::uint8_t> answer(ByteReader(length).u16());
  asio::async_read(socket, asio::buffer(answer), take);
  run(io, timeout, result);
  const auto reply = as_reply(answer, query);
  return reply ? *reply : malformed();
}

}  // namespace

dns::Message ask_dns(const Endpoint& server, const std::optional<IpAddress>& source, const dns::Message& query,
                     std::chrono::milliseconds timeout) {
  asio::io_context io;
  const dns::Message reply = over_udp(io, server, source, query, timeout);
  return (reply.flags & dns::flag::kTruncated) == 0 ? reply : over_tcp(io, server, source, query, timeout);
}

}  // namespace hcpnet::app
