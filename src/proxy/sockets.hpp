// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/proxy/engine.hpp>
#include <hcpnet/result.hpp>
#include <string>
#include <vector>

namespace hcpnet::proxy {

namespace asio = boost::asio;
using asio::ip::tcp;

[[nodiscard]] tcp::endpoint to_asio(const Endpoint& endpoint);
/// An IPv4-mapped IPv6 address becomes the IPv4 address that it stands for.
[[nodiscard]] Endpoint from_asio(const tcp::endpoint& endpoint);

/// What the sockets of tunnels are set to.
struct TcpOptions {
  TcpKeepalive keepalive;
  std::size_t receive_buffer_bytes = 0;  ///< as in SocketBuffers, as far as the kernel allows it; 0: no bound
  std::size_t send_buffer_bytes = 0;
};
/// As the settings say and the kernel allows, which it is asked here.
[[nodiscard]] TcpOptions make_tcp_options(const EngineSettings& settings);

/// TCP_NODELAY. A socket whose peer is gone already refuses it, and what follows; its next read reports that.
void set_no_delay(int socket) noexcept;
void set_keepalive(int socket, const TcpKeepalive& keepalive) noexcept;
/// Bounds the buffers of a connected socket.
void bound_buffers(int socket, const TcpOptions& options) noexcept;
/// All of it, for all that a listening socket accepts from now on, whatever was set before.
void set_listening_options(int socket, const TcpOptions& options) noexcept;

/// Other sockets may be bound to the same address and port, and the kernel shares connections out among them
/// (SO_REUSEPORT).
[[nodiscard]] error_code share_port(int socket) noexcept;
/// The place of a socket among those of the workers that share a port.
enum class PortSharing : std::uint8_t {
  none,
  first,  ///< shares only once it is bound: nobody else, such as another process of ours, may have the port
  further,
};
/// What does not arrive by this network interface is not for this socket (SO_BINDTODEVICE); empty: no matter.
[[nodiscard]] error_code bind_to_interface(int socket, const std::string& interface) noexcept;

/// The same for a socket that may be bound to another one already, or to none.
[[nodiscard]] error_code rebind_to_interface(int socket, const std::string& interface) noexcept;

/// Binds a socket that is to be connected to `to` to the first of our own addresses of its family, if there is one.
[[nodiscard]] error_code bind_to_own_address(int socket, const std::vector<IpAddress>& own, const Endpoint& to);

/// The one that a socket is bound to; empty: none.
[[nodiscard]] std::string interface_of(int socket) noexcept;

/// Some interface of this host has the address.
[[nodiscard]] bool is_local_address(const IpAddress& address);

}  // namespace hcpnet::proxy
