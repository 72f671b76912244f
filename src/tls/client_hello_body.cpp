// SPDX-License-Identifier: Apache-2.0
#include "tls/client_hello_body.hpp"

namespace hcpnet::tls {
namespace {

constexpr std::uint16_t kServerName = 0;  // RFC 6066 section 1.1
constexpr std::uint16_t kAlpn = 16;       // RFC 7301 section 3.1
constexpr std::uint8_t kHostName = 0;     // RFC 6066 section 3

/// The two extensions that matter, in place. Nothing is allocated before the whole hello has proved well-formed.
struct Extensions {
  std::optional<ByteView> server_name;
  std::optional<ByteView> alpn;
};

/// struct { ExtensionType extension_type; opaque extension_data<0..2^16-1>; } Extension; each type at most once (RFC
/// 8446 section 4.2). Repeats are refused where they could make us and the server see different names; all others are
/// the server's affair.
Result<Extensions> find_extensions(ByteReader list) noexcept {
  Extensions found;
  while (list.remaining() > 0) {
    const std::uint16_t type = list.u16();
    const ByteView data = list.bytes(list.u16());
    if (!list.ok()) return Errc::malformed;
    if (type != kServerName && type != kAlpn) continue;
    std::optional<ByteView>& place = type == kServerName ? found.server_name : found.alpn;
    if (place) return Errc::malformed;
    place = data;
  }
  if (!list.ok()) return Errc::malformed;
  return found;
}

/// struct { NameType name_type; opaque HostName<1..2^16-1>; } ServerName; ServerName server_name_list<1..2^16-1> (RFC
/// 6066 section 3). One entry of type host_name, as OpenSSL and BoringSSL have it: no other type was ever defined, and
/// none may appear twice.
Result<ByteView> parse_server_name(ByteView extension) noexcept {
  ByteReader data(extension);
  ByteReader list = data.sub(data.u16());
  const std::uint8_t type = list.u8();
  const ByteView host = list.bytes(list.u16());
  // at_end() is false after any short read: truncation, lying lengths and trailing bytes in one test.
  if (!data.at_end() || !list.at_end() || type != kHostName || host.empty()) return Errc::malformed;
  return host;
}

/// opaque ProtocolName<1..2^8-1>; ProtocolName protocol_name_list<2..2^16-1> (RFC 7301 section 3.1). Calls `each` with
/// every name.
template <class Each>
error_code read_alpn(ByteView extension, Each&& each) {
  ByteReader data(extension);
  ByteReader list = data.sub(data.u16());
  if (!data.at_end() || list.remaining() == 0) return Errc::malformed;
  while (list.remaining() > 0) {
    const ByteView name = list.bytes(list.u8());
    if (name.empty()) return Errc::malformed;
    each(name);
  }
  return list.ok() ? error_code() : make_error_code(Errc::malformed);
}

/// ProtocolVersion legacy_version; Random random; opaque legacy_session_id<0..32>; CipherSuite
/// cipher_suites<2..2^16-2>; opaque legacy_compression_methods<1..2^8-1>; Extension extensions<8..2^16-1>  (RFC 8446
/// section 4.1.2; before TLS 1.3 there may be none)
Result<ByteReader> extension_list(ByteView body) noexcept {
  ByteReader hello(body);
  hello.skip(2 + 32);
  const ByteView session_id = hello.bytes(hello.u8());
  const ByteView cipher_suites = hello.bytes(hello.u16());
  const ByteView compression_methods = hello.bytes(hello.u8());
  if (!hello.ok() || session_id.size() > 32) return Errc::malformed;
  if (cipher_suites.size() < 2 || cipher_suites.size() % 2 != 0 || compression_methods.empty()) return Errc::malformed;
  if (hello.at_end()) return ByteReader({});
  const ByteReader extensions = hello.sub(hello.u16());
  if (!hello.at_end()) return Errc::malformed;
  return extensions;
}

}  // namespace

Result<ClientHello> parse_client_hello_body(ByteView body, const ClientHelloLimits& limits) {
  const Result<ByteReader> list = extension_list(body);
  if (!list) return list.error();
  const Result<Extensions> extensions = find_extensions(*list);
  if (!extensions) return extensions.error();

  ByteView host;
  if (extensions->server_name) {
    const Result<ByteView> name = parse_server_name(*extensions->server_name);
    if (!name) return name.error();
    host = *name;
  }
  if (extensions->alpn) {
    std::size_t count = 0;
    if (const error_code ec = read_alpn(*extensions->alpn, [&](ByteView) { ++count; })) return ec;
    if (count > limits.max_alpn_protocols) return Errc::too_large;
  }

  ClientHello hello;
  if (extensions->server_name) {
    hello.server_name.emplace(as_text(host));
    hello.host_kind = classify_host(*hello.server_name);
  }
  if (extensions->alpn) {
    static_cast<void>(read_alpn(*extensions->alpn, [&](ByteView name) { hello.alpn.emplace_back(as_text(name)); }));
  }
  return hello;
}

}  // namespace hcpnet::tls
