// SPDX-License-Identifier: Apache-2.0
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <hcpnet/pki/key.hpp>
#include <utility>

#include "pki/openssl.hpp"

namespace hcpnet::pki {
namespace {

struct Curve {
  KeyAlgorithm algorithm;
  std::string_view name;
};
constexpr std::array kCurves{Curve{KeyAlgorithm::ecdsa_p256, "prime256v1"},
                             Curve{KeyAlgorithm::ecdsa_p384, "secp384r1"},
                             Curve{KeyAlgorithm::ecdsa_p521, "secp521r1"}};
struct Modulus {
  KeyAlgorithm algorithm;
  int bits;
};
constexpr std::array kModuli{Modulus{KeyAlgorithm::rsa_2048, 2048}, Modulus{KeyAlgorithm::rsa_3072, 3072},
                             Modulus{KeyAlgorithm::rsa_4096, 4096}};

std::shared_ptr<EVP_PKEY> shared(EVP_PKEY* key) {
  return {require(key), [](EVP_PKEY* k) { EVP_PKEY_free(k); }};
}

bool is_key_block(std::string_view name) {
  return name == "PRIVATE KEY" || name == "RSA PRIVATE KEY" || name == "EC PRIVATE KEY" ||
         name == "ENCRYPTED PRIVATE KEY";
}

/// A key of the block's kind, and nothing behind it.
OwnedKey decode(const PemBlock& block) {
  const unsigned char* position = block.bytes.get();
  OwnedKey key;
  if (block.name == "PRIVATE KEY")
    key.reset(d2i_AutoPrivateKey(nullptr, &position, block.size()));
  else
    key.reset(
        d2i_PrivateKey(block.name.starts_with("RSA") ? EVP_PKEY_RSA : EVP_PKEY_EC, nullptr, &position, block.size()));
  if (position != block.bytes.get() + block.size()) key.reset();
  ERR_clear_error();
  return key;
}

}  // namespace

Secret::Secret(Secret&& other) noexcept {
  text_.swap(other.text_);
}
Secret& Secret::operator=(const Secret& other) {
  if (this == &other) return *this;
  wipe();
  text_ = other.text_;
  return *this;
}
Secret& Secret::operator=(Secret&& other) noexcept {
  if (this == &other) return *this;
  wipe();
  text_.swap(other.text_);
  return *this;
}
void Secret::wipe() noexcept {
  OPENSSL_cleanse(text_.data(), text_.size());
  text_.clear();
}

std::string_view to_string(KeyAlgorithm algorithm) noexcept {
  return kKeyAlgorithmNames.at(static_cast<std::size_t>(algorithm));
}
std::optional<KeyAlgorithm> parse_key_algorithm(std::string_view text) noexcept {
  const auto* const found = std::ranges::find(kKeyAlgorithmNames, text);
  if (found == kKeyAlgorithmNames.end()) return std::nullopt;
  return static_cast<KeyAlgorithm>(found - kKeyAlgorithmNames.begin());
}

std::optional<KeyAlgorithm> algorithm_of(const EVP_PKEY* key) {
  if (EVP_PKEY_is_a(key, "RSA") == 1) {
    const auto* const found = std::ranges::find(kModuli, EVP_PKEY_get_bits(key), &Modulus::bits);
    return found == kModuli.end() ? std::nullopt : std::optional(found->algorithm);
  }
  std::array<char, 64> name{};
  std::size_t size = 0;
  if (EVP_PKEY_is_a(key, "EC") != 1 || EVP_PKEY_get_group_name(key, name.data(), name.size(), &size) != 1)
    return std::nullopt;
  const auto* const found = std::ranges::find(kCurves, std::string_view(name.data(), size), &Curve::name);
  return found == kCurves.end() ? std::nullopt : std::optional(found->algorithm);
}

PemStep next_block(BIO* bio, PemBlock& block) {
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* bytes = nullptr;
  long size = 0;
  if (PEM_read_bio(bio, &name, &header, &bytes, &size) != 1) {
    const bool is_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    return is_end ? PemStep::end : PemStep::malformed;
  }
  block.bytes = {bytes, ClearFree{static_cast<std::size_t>(size)}};
  block.name = name;
  block.is_encrypted = std::string_view(header).find("ENCRYPTED") != std::string_view::npos;
  OPENSSL_free(name);
  OPENSSL_free(header);
  return PemStep::block;
}

PrivateKey PrivateKey::generate(KeyAlgorithm algorithm) {
  const auto* const modulus = std::ranges::find(kModuli, algorithm, &Modulus::algorithm);
  if (modulus != kModuli.end()) return {shared(EVP_RSA_gen(static_cast<unsigned>(modulus->bits))), algorithm};
  const auto* const curve = std::ranges::find(kCurves, algorithm, &Curve::algorithm);
  return {shared(EVP_EC_gen(curve->name.data())), algorithm};
}

Secret PrivateKey::to_pem() const {
  const OwnedBio bio(require(BIO_new(BIO_s_secmem())));
  require(PEM_write_bio_PKCS8PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return Secret(text_of(bio.get()));
}

std::string PrivateKey::public_pem() const {
  const OwnedBio bio(require(BIO_new(BIO_s_mem())));
  require(PEM_write_bio_PUBKEY(bio.get(), key_.get()) == 1);
  return text_of(bio.get());
}

Result<PrivateKey> parse_private_key(std::string_view pem, const PemLimits& limits) {
  if (pem.size() > limits.max_bytes) return Errc::too_large;
  const OwnedBio bio = reader(pem);
  std::optional<PrivateKey> found;
  for (PemBlock block;;) {
    const PemStep step = next_block(bio.get(), block);
    if (step == PemStep::malformed) return Errc::malformed;
    if (step == PemStep::end) break;
    if (!is_key_block(block.name)) continue;
    if (block.is_encrypted || block.name.starts_with("ENCRYPTED")) return Errc::encrypted;
    OwnedKey key = decode(block);
    if (!key || found) return Errc::malformed;  // two keys: which one is meant is anybody's guess
    const auto algorithm = algorithm_of(key.get());
    if (!algorithm) return Errc::unsupported_key;
    found = PrivateKey(shared(key.release()), *algorithm);
  }
  if (!found) return Errc::not_pem;
  return *found;
}

}  // namespace hcpnet::pki
