// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <hcpnet/proxy/access_log.hpp>
#include <optional>

namespace hcpnet::proxy {

/// Probes of a silent connection, on both sides of a tunnel (RFC 9293 section 3.8.4): the only limit of a tunnel whose
/// peer vanished, unless its backend has an idle_timeout.
struct TcpKeepalive {
  std::chrono::seconds idle{60};      ///< silence before the first probe; Linux takes 1 to 32,767
  std::chrono::seconds interval{15};  ///< between probes; the same
  int probes = 4;                     ///< unanswered, after which the connection is lost; Linux takes 1 to 127
};

/// Kernel memory of one socket of a tunnel, bookkeeping of the kernel's included. A receiver that stops costs, for the
/// direction that it stops, what its sender's socket may hold received, what its own may hold unsent, and a buffer or
/// pipe of ours between them (docs/proxy.md). 0: as much as the kernel sees fit, up to net.ipv4.tcp_rmem and tcp_wmem.
/// Absent: kDefaultSocketBufferBytes where the kernel allows it in full (net.core.rmem_max, wmem_max), otherwise 0; a
/// bound that is given and not allowed in full is as large as is allowed. A socket towards a backend is bounded when
/// its tunnel has carried 64 KiB one way; until then it is as small as the kernel makes it.
struct SocketBuffers {
  std::optional<std::size_t> receive_bytes;
  std::optional<std::size_t> send_bytes;
  friend bool operator==(const SocketBuffers&, const SocketBuffers&) = default;
};
inline constexpr std::size_t kLeastSocketBufferBytes = 256 * 1024;
inline constexpr std::size_t kDefaultSocketBufferBytes = 2560 * 1024;

inline constexpr std::size_t kLargestSocketBufferBytes = 1024 * 1024 * 1024;

/// SO_RCVBUF or SO_SNDBUF that keeps a socket within `bytes`; fewer than the least, or more than the largest, count as
/// these. The kernel takes it twice, and looks only before it adds a segment: that much is kept free.
[[nodiscard]] constexpr int socket_buffer_option(std::size_t bytes) noexcept {
  constexpr std::size_t kSegmentBytes = 128 * 1024;
  return static_cast<int>((std::clamp(bytes, kLeastSocketBufferBytes, kLargestSocketBufferBytes) - kSegmentBytes) / 2);
}

/// What of an engine may change while it runs (Engine::configure). Each limit has a counter in EngineStats for the
/// times it was hit.
struct EngineSettings {
  std::chrono::milliseconds inspect_timeout{5'000};  ///< from accept to a complete ClientHello
  std::size_t max_hello_bytes = 16 * 1024;           ///< at most tls::kLargestHelloBytes
  std::size_t max_connections = 10'000;              ///< accepted and not yet closed, all listeners
  std::size_t max_connections_per_source = 0;        ///< of one client address; 0: no limit
  std::size_t max_connect_attempts =
      3;  ///< endpoints tried for one connection, each with the backend's connect_timeout
  /// Where a backend has addresses of both families: how long one is tried alone before the next is tried beside it
  /// (RFC 8305 section 5).
  std::chrono::milliseconds connect_race_delay{250};
  std::chrono::milliseconds drain_timeout{5'000};  ///< how long Engine::stop() lets tunnels finish
  /// How long a tunnel lasts whose route is gone from the table.
  std::chrono::milliseconds removed_route_timeout{600'000};
  std::chrono::milliseconds accept_backoff{100};  ///< pause after accept() failed, for want of descriptors for example
  /// The last descriptors that the process may have (RLIMIT_NOFILE), at most a quarter of them: connections leave these
  /// to everything else, so that a flood of clients silences neither DHCP nor DNS nor the admin pages beside the proxy.
  std::size_t reserved_descriptors = 256;
  std::chrono::milliseconds udp_idle_timeout{60'000};  ///< after which a UDP client's socket is closed
  TcpKeepalive keepalive = {};
  SocketBuffers buffers = {};
  AccessLogFormat access_log_format = {};  ///< of the lines of EngineOptions::access_log
};

}  // namespace hcpnet::proxy
