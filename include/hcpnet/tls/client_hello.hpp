// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/tls/error.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::tls {

/// No limit may be set above this: a hello that spans records is put together on the stack.
inline constexpr std::size_t kLargestHelloBytes = 32 * 1024;

struct ClientHelloLimits {
  std::size_t max_bytes = 16 * 1024;    ///< record headers included; values above kLargestHelloBytes count as that
  std::size_t max_alpn_protocols = 64;  ///< known clients offer two or three
};

/// What a server name is. Only a dns_name is routed by name.
enum class HostKind : std::uint8_t {
  dns_name,    ///< labels of letters, digits, '-', '_' or '*' (which means nothing here), 63 bytes each and 253 in all;
               ///< no final dot
  ip_address,  ///< an address in text, an IPv6 one also in brackets; RFC 6066 section 3 forbids it, clients send it: as
               ///< if no name was sent
  unusable,    ///< anything else: empty, NUL or control bytes, raw UTF-8, an empty label, a last label of digits only
};
[[nodiscard]] HostKind classify_host(std::string_view name);

/// What routing needs from a ClientHello. Owns its strings, so the receive buffer may be reused.
struct ClientHello {
  std::optional<std::string>
      server_name;  ///< bytes as sent; nullopt when the extension is absent (not the same as empty)
  HostKind host_kind = HostKind::unusable;
  std::vector<std::string> alpn;   ///< in the client's order
  std::size_t consumed_bytes = 0;  ///< up to the end of the message, record headers included; more bytes may follow
};

/// Reads the ClientHello at the start of a TLS connection while its bytes arrive.
///
/// `read` takes every byte received so far, which must begin with those of the call before, and keeps its place among
/// them: the work over all calls is linear in the bytes, however they trickle in. It holds no copy of them. A hello may
/// span TLS records. Errors: any Errc; need_more until the last byte of the message, and never once `max_bytes` are
/// there. No allocation on failure; throws only std::bad_alloc. One thread per reader. Specification: RFC 8446
/// sections 4.1.2 and 5.1, RFC 6066 section 3, RFC 7301.
class ClientHelloReader {
 public:
  explicit ClientHelloReader(const ClientHelloLimits& limits = {}) noexcept;
  [[nodiscard]] Result<ClientHello> read(ByteView received);

 private:
  struct Fragment;
  [[nodiscard]] Result<Fragment> current_fragment(ByteView received) const noexcept;
  [[nodiscard]] error_code inspect_header(const Fragment& fragment) noexcept;
  [[nodiscard]] std::size_t message_bytes() const noexcept;
  [[nodiscard]] Result<ClientHello> finish(ByteView received) const;

  ClientHelloLimits limits_;
  std::size_t record_ = 0;              ///< where the current record's header begins
  std::size_t gathered_ = 0;            ///< message bytes in the records before it
  std::array<std::uint8_t, 4> head_{};  ///< type and length of the handshake message; may itself be split over records
  std::size_t head_bytes_ = 0;          ///< how many of these are known
};

/// The same for bytes that are there all at once. Thread-safe.
[[nodiscard]] Result<ClientHello> parse_client_hello(ByteView received, const ClientHelloLimits& limits = {});

}  // namespace hcpnet::tls
