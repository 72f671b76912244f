// SPDX-License-Identifier: Apache-2.0
#include "support/openssl.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include <stdexcept>

namespace hcpnet::test {
namespace {

void require(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string("OpenSSL: ") + what);
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  require(extension != nullptr, "certificate extension");
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

void set_alpn(SSL* ssl, const std::vector<std::string>& protocols) {
  std::string wire;
  for (const std::string& protocol : protocols) wire += static_cast<char>(protocol.size()) + protocol;
  if (!wire.empty())
    SSL_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>(wire.data()), static_cast<unsigned>(wire.size()));
}

SslPtr make_client(SSL_CTX* context, const HelloSpec& spec) {
  SslPtr ssl(SSL_new(context));
  if (spec.version != 0) {
    SSL_set_min_proto_version(ssl.get(), spec.version);
    SSL_set_max_proto_version(ssl.get(), spec.version);
  }
  if (!spec.server_name.empty()) SSL_set_tlsext_host_name(ssl.get(), spec.server_name.c_str());
  if (spec.session != nullptr) SSL_set_session(ssl.get(), spec.session);
  set_alpn(ssl.get(), spec.alpn);
  SSL_set_bio(ssl.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_connect_state(ssl.get());
  return ssl;
}

std::vector<std::uint8_t> drain(BIO* bio) {
  std::vector<std::uint8_t> bytes(BIO_ctrl_pending(bio));
  if (!bytes.empty()) BIO_read(bio, bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

void move_bytes(SSL* from, SSL* to) {
  const std::vector<std::uint8_t> bytes = drain(SSL_get_wbio(from));
  if (!bytes.empty()) BIO_write(SSL_get_rbio(to), bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace

Identity make_identity(const std::string& dns_name, const Identity* issuer) {
  static long serial = 1;
  Identity identity;
  identity.key.reset(EVP_EC_gen("P-256"));
  identity.certificate.reset(X509_new());
  X509* certificate = identity.certificate.get();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 24 * 3600);
  X509_set_pubkey(certificate, identity.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(dns_name.c_str()), -1, -1, 0);
  X509* signer = issuer != nullptr ? issuer->certificate.get() : certificate;
  X509_set_issuer_name(certificate, X509_get_subject_name(signer));
  add_extension(certificate, signer, NID_basic_constraints, issuer != nullptr ? "CA:FALSE" : "critical,CA:TRUE");
  if (issuer != nullptr) add_extension(certificate, signer, NID_subject_alt_name, "DNS:" + dns_name);
  require(X509_sign(certificate, issuer != nullptr ? issuer->key.get() : identity.key.get(), EVP_sha256()) > 0,
          "signature");
  return identity;
}

SslContextPtr make_server_context(const Identity& identity) {
  SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  require(SSL_CTX_use_certificate(context.get(), identity.certificate.get()) == 1, "certificate");
  require(SSL_CTX_use_PrivateKey(context.get(), identity.key.get()) == 1, "key");
  return context;
}

SslContextPtr make_client_context(const Identity& authority) {
  SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), authority.certificate.get());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  return context;
}

std::vector<std::uint8_t> openssl_client_hello(const HelloSpec& spec) {
  const SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  const SslPtr ssl = make_client(context.get(), spec);
  SSL_do_handshake(ssl.get());
  return drain(SSL_get_wbio(ssl.get()));
}

std::optional<SeenByServer> seen_by_openssl(ByteView hello) {
  static const Identity identity = make_identity("server.test");
  SeenByServer seen;
  const SslContextPtr context = make_server_context(identity);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
  SSL_CTX_set_tlsext_servername_arg(context.get(), &seen);
  SSL_CTX_set_tlsext_servername_callback(
      context.get(), +[](SSL* ssl, int*, void* arg) {
        if (const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name))
          static_cast<SeenByServer*>(arg)->server_name = name;
        return SSL_TLSEXT_ERR_OK;
      });
  const auto on_alpn =
      +[](SSL*, const unsigned char**, unsigned char*, const unsigned char* in, unsigned size, void* arg) {
        for (unsigned i = 0; i < size; i += 1u + in[i]) {
          static_cast<SeenByServer*>(arg)->alpn.emplace_back(reinterpret_cast<const char*>(in + i + 1), in[i]);
        }
        return SSL_TLSEXT_ERR_NOACK;
      };
  SSL_CTX_set_alpn_select_cb(context.get(), on_alpn, &seen);
  const SslPtr ssl(SSL_new(context.get()));
  SSL_set_bio(ssl.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  BIO_write(SSL_get_rbio(ssl.get()), hello.data(), static_cast<int>(hello.size()));
  SSL_set_accept_state(ssl.get());
  const int result = SSL_do_handshake(ssl.get());
  const bool is_waiting = SSL_get_error(ssl.get(), result) == SSL_ERROR_WANT_READ;
  const bool has_answered = BIO_ctrl_pending(SSL_get_wbio(ssl.get())) > 0;
  ERR_clear_error();
  if (!is_waiting || !has_answered) return std::nullopt;
  return seen;
}

SessionPtr make_session(const std::string& server_name, int version) {
  static const Identity identity = make_identity("server.test");
  const SslContextPtr server_context = make_server_context(identity);
  const SslContextPtr client_context(SSL_CTX_new(TLS_client_method()));
  const SslPtr client = make_client(client_context.get(), {.server_name = server_name, .version = version});
  const SslPtr server(SSL_new(server_context.get()));
  SSL_set_bio(server.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_accept_state(server.get());
  for (int round = 0; round < 6; ++round) {
    SSL_do_handshake(client.get());
    move_bytes(client.get(), server.get());
    SSL_do_handshake(server.get());
    move_bytes(server.get(), client.get());
  }
  char byte = 0;  // TLS 1.3 tickets follow the handshake
  SSL_read(client.get(), &byte, 1);
  ERR_clear_error();
  return SessionPtr(SSL_get1_session(client.get()));
}

}  // namespace hcpnet::test
