// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <openssl/ssl.h>

#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Real TLS for tests: certificates made on the spot, real ClientHellos, and what a real server reads from them.
namespace hcpnet::test {

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};
using CertificatePtr = std::unique_ptr<X509, Freer<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, Freer<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, Freer<SSL_free>>;

struct Identity {
  CertificatePtr certificate;
  KeyPtr key;
};
/// A certificate authority, or with `issuer` a server certificate for `dns_name`, signed by it.
[[nodiscard]] Identity make_identity(const std::string& dns_name, const Identity* issuer = nullptr);
[[nodiscard]] SslContextPtr make_server_context(const Identity& identity);
/// Trusts `authority` alone and verifies.
[[nodiscard]] SslContextPtr make_client_context(const Identity& authority);

struct HelloSpec {
  std::string server_name = {};  ///< empty: no extension
  std::vector<std::string> alpn = {};
  int version = 0;                 ///< both bounds; 0: OpenSSL's defaults
  SSL_SESSION* session = nullptr;  ///< to resume
};
/// The first flight of a real client.
[[nodiscard]] std::vector<std::uint8_t> openssl_client_hello(const HelloSpec& spec);

/// What OpenSSL's server callbacks see of a ClientHello; nullopt when it refuses it.
struct SeenByServer {
  std::optional<std::string> server_name;
  std::vector<std::string> alpn;
};
[[nodiscard]] std::optional<SeenByServer> seen_by_openssl(ByteView hello);

/// Completes a handshake in memory and returns a session that the client can resume.
using SessionPtr = std::unique_ptr<SSL_SESSION, Freer<SSL_SESSION_free>>;
[[nodiscard]] SessionPtr make_session(const std::string& server_name, int version);

}  // namespace hcpnet::test
