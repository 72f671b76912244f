// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/proxy/error.hpp>
#include <hcpnet/proxy/route_table.hpp>
#include <hcpnet/result.hpp>
#include <optional>
#include <vector>

/// The PROXY protocol (haproxy.org, proxy-protocol.txt): a header in front of a connection that says who the client is.
namespace hcpnet::proxy {

/// Of version 1: its longest line. Of version 2: no more than this is read of its attributes, which are skipped.
inline constexpr std::size_t kMaxProxyHeaderV1Bytes = 107;
inline constexpr std::size_t kMaxProxyHeaderBytes = 2048;

struct ProxyHeader {
  struct Addresses {
    Endpoint source;
    Endpoint destination;
    friend bool operator==(const Addresses&, const Addresses&) = default;
  };
  /// Absent: the sender speaks for itself (LOCAL), or does not say (UNKNOWN, other families): the connection's own
  /// addresses hold.
  std::optional<Addresses> addresses;
  std::size_t consumed_bytes = 0;  ///< what follows belongs to the connection
};

/// Reads a header of either version. `received` holds every byte so far. Errors: any Errc; other_protocol at the first
/// byte that neither version can have. No allocation. Thread-safe.
[[nodiscard]] Result<ProxyHeader> parse_proxy_header(ByteView received) noexcept;

/// A header for a TCP connection; nothing with ProxyHeaderVersion::none. Where the families differ the IPv4 address is
/// written as an IPv4-mapped IPv6 one.
[[nodiscard]] std::vector<std::uint8_t> encode_proxy_header(ProxyHeaderVersion version,
                                                            const ProxyHeader::Addresses& addresses);

/// A header for a connection that the sender makes for itself, such as a health check: LOCAL, in version 1 UNKNOWN.
[[nodiscard]] std::vector<std::uint8_t> encode_own_proxy_header(ProxyHeaderVersion version);

}  // namespace hcpnet::proxy
