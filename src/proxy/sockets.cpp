// SPDX-License-Identifier: Apache-2.0
#include "proxy/sockets.hpp"

#include <linux/socket.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <hcpnet/inherited_sockets.hpp>

namespace hcpnet::proxy {
namespace {

asio::ip::address to_asio(const IpAddress& address) {
  if (address.is_v4()) return asio::ip::address_v4(address.v4().value());
  return asio::ip::address_v6(address.v6().bytes());
}

void set_option(int socket, int level, int name, int value) noexcept {
  static_cast<void>(::setsockopt(socket, level, name, &value, sizeof value));
}

/// How much of `wanted` bytes the kernel allows for a socket's buffer: SO_RCVBUF or SO_SNDBUF. 0 where no socket can be
/// made to find out.
std::size_t granted_buffer_bytes(int option, std::size_t wanted) {
  const FileDescriptor probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!probe.is_open()) return 0;
  const int value = socket_buffer_option(wanted);
  set_option(probe.get(), SOL_SOCKET, option, value);
  int doubled = 0;
  socklen_t size = sizeof doubled;
  if (::getsockopt(probe.get(), SOL_SOCKET, option, &doubled, &size) != 0 || doubled / 2 >= value) return wanted;
  return wanted - 2 * static_cast<std::size_t>(value - doubled / 2);
}

/// The bound of one buffer of a socket; `asked` as in SocketBuffers.
std::size_t buffer_bound(int option, const std::optional<std::size_t>& asked) {
  const std::size_t wanted = asked.value_or(kDefaultSocketBufferBytes);
  if (wanted == 0) return 0;
  const std::size_t granted = granted_buffer_bytes(option, wanted);
  if (!asked) return granted == wanted ? wanted : 0;
  return granted == 0 ? wanted : granted;
}

}  // namespace

tcp::endpoint to_asio(const Endpoint& endpoint) {
  return {to_asio(endpoint.address), endpoint.port};
}

Endpoint from_asio(const tcp::endpoint& endpoint) {
  const asio::ip::address address = endpoint.address();
  if (address.is_v4()) return {Ipv4(address.to_v4().to_uint()), endpoint.port()};
  const asio::ip::address_v6 v6 = address.to_v6();
  if (v6.is_v4_mapped()) return {Ipv4(asio::ip::make_address_v4(asio::ip::v4_mapped, v6).to_uint()), endpoint.port()};
  return {Ipv6(v6.to_bytes()), endpoint.port()};
}

TcpOptions make_tcp_options(const EngineSettings& settings) {
  return {settings.keepalive, buffer_bound(SO_RCVBUF, settings.buffers.receive_bytes),
          buffer_bound(SO_SNDBUF, settings.buffers.send_bytes)};
}

void bound_buffers(int socket, const TcpOptions& options) noexcept {
  if (options.receive_buffer_bytes > 0) {
    set_option(socket, SOL_SOCKET, SO_RCVBUF, socket_buffer_option(options.receive_buffer_bytes));
    // Otherwise the window stays as large as it was: the kernel moves it only with buffers that it sizes itself.
    set_option(socket, IPPROTO_TCP, TCP_WINDOW_CLAMP, static_cast<int>(options.receive_buffer_bytes));
  }
  if (options.send_buffer_bytes > 0)
    set_option(socket, SOL_SOCKET, SO_SNDBUF, socket_buffer_option(options.send_buffer_bytes));
}

void set_listening_options(int socket, const TcpOptions& options) noexcept {
  set_no_delay(socket);
  set_keepalive(socket, options.keepalive);
  if (options.receive_buffer_bytes > 0)
    set_option(socket, SOL_SOCKET, SO_RCVBUF, socket_buffer_option(options.receive_buffer_bytes));
  if (options.send_buffer_bytes > 0)
    set_option(socket, SOL_SOCKET, SO_SNDBUF, socket_buffer_option(options.send_buffer_bytes));
  // Where no bound is wanted any more, the kernel may choose again (Linux 5.14; before that it takes a new socket).
#ifdef SO_BUF_LOCK
  set_option(socket, SOL_SOCKET, SO_BUF_LOCK,
             (options.receive_buffer_bytes > 0 ? SOCK_RCVBUF_LOCK : 0) |
                 (options.send_buffer_bytes > 0 ? SOCK_SNDBUF_LOCK : 0));
#endif
}

void set_no_delay(int socket) noexcept {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
}

void set_keepalive(int socket, const TcpKeepalive& keepalive) noexcept {
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(keepalive.idle.count()));
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(keepalive.interval.count()));
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, keepalive.probes);
}

error_code share_port(int socket) noexcept {
  const int enabled = 1;
  if (::setsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &enabled, sizeof enabled) == 0) return {};
  return {errno, boost::system::system_category()};
}

error_code bind_to_interface(int socket, const std::string& interface) noexcept {
  if (interface.empty()) return {};
  const auto size = static_cast<socklen_t>(interface.size());
  if (::setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, interface.data(), size) == 0) return {};
  return {errno, boost::system::system_category()};
}

std::string interface_of(int socket) noexcept {
  std::array<char, IF_NAMESIZE> bound{};
  auto size = static_cast<socklen_t>(bound.size());
  static_cast<void>(::getsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, bound.data(), &size));
  return bound.data();
}

error_code rebind_to_interface(int socket, const std::string& interface) noexcept {
  if (interface == interface_of(socket)) return {};
  if (!interface.empty()) return bind_to_interface(socket, interface);
  if (::setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, "", 0) == 0) return {};
  return {errno, boost::system::system_category()};
}

error_code bind_to_own_address(int socket, const std::vector<IpAddress>& own, const Endpoint& to) {
  const auto found = std::ranges::find(own, to.address.is_v4(), &IpAddress::is_v4);
  if (found == own.end()) return {};
  // The port is chosen at connect, so that the number of connections to one backend is the limit, not that of all.
  set_option(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
  const tcp::endpoint from(to_asio(*found), 0);
  if (::bind(socket, from.data(), static_cast<socklen_t>(from.size())) == 0) return {};
  return {errno, boost::system::system_category()};
}

bool is_local_address(const IpAddress& address) {
  // Only an address of this host can be bound.
  const tcp::endpoint endpoint(to_asio(address), 0);
  const FileDescriptor probe(::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  return probe.is_open() && ::bind(probe.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0;
}

}  // namespace hcpnet::proxy
