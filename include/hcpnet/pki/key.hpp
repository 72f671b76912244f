// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <hcpnet/pki/error.hpp>
#include <hcpnet/result.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

/// Keys and certificates on OpenSSL. Values never change once made, so copies share them and may be used by any thread.
namespace hcpnet::pki {

struct PemLimits {
  std::size_t max_bytes = 1024 * 1024;
  std::size_t max_certificates = 1024;  ///< of one bundle
};

/// Text that must not be seen: it has no way to a stream, and is wiped when it goes.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  Secret(const Secret&) = default;
  Secret& operator=(const Secret& other);
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  ~Secret() { wipe(); }

  /// For writing it to the file, or sending it to the peer, that it is meant for; never to a log or a message.
  [[nodiscard]] const std::string& reveal() const noexcept { return text_; }
  friend bool operator==(const Secret&, const Secret&) = default;

 private:
  void wipe() noexcept;
  std::string text_;
};

enum class KeyAlgorithm : std::uint8_t { rsa_2048, rsa_3072, rsa_4096, ecdsa_p256, ecdsa_p384, ecdsa_p521 };
inline constexpr std::array kKeyAlgorithmNames{"RSA2048", "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521"};
[[nodiscard]] std::string_view to_string(KeyAlgorithm algorithm) noexcept;
[[nodiscard]] std::optional<KeyAlgorithm> parse_key_algorithm(std::string_view text) noexcept;

class PrivateKey {
 public:
  /// Throws boost::system::system_error (Errc::failed). RSA takes a tenth of a second and more, ECDSA none.
  [[nodiscard]] static PrivateKey generate(KeyAlgorithm algorithm);

  [[nodiscard]] KeyAlgorithm algorithm() const noexcept { return algorithm_; }
  /// PKCS #8, not encrypted (RFC 5958).
  [[nodiscard]] Secret to_pem() const;
  /// SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7).
  [[nodiscard]] std::string public_pem() const;
  [[nodiscard]] evp_pkey_st* handle() const noexcept { return key_.get(); }

 private:
  friend Result<PrivateKey> parse_private_key(std::string_view pem, const PemLimits& limits);
  PrivateKey(std::shared_ptr<evp_pkey_st> key, KeyAlgorithm algorithm) : key_(std::move(key)), algorithm_(algorithm) {}
  std::shared_ptr<evp_pkey_st> key_;
  KeyAlgorithm algorithm_;
};

/// Reads the one key in `pem`: "PRIVATE KEY", "RSA PRIVATE KEY" or "EC PRIVATE KEY"; text and blocks of other kinds
/// around it are passed over. Never asks for a passphrase. Errors: any Errc. Thread-safe.
[[nodiscard]] Result<PrivateKey> parse_private_key(std::string_view pem, const PemLimits& limits = {});

}  // namespace hcpnet::pki
