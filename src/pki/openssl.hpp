// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <boost/system/system_error.hpp>
#include <hcpnet/pki/key.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hcpnet::pki {

template <auto free>
struct Freed {
  template <class T>
  void operator()(T* object) const noexcept {
    free(object);
  }
};
template <class T, auto free>
using Owned = std::unique_ptr<T, Freed<free>>;

using OwnedBio = Owned<BIO, BIO_free_all>;
using OwnedKey = Owned<EVP_PKEY, EVP_PKEY_free>;
using OwnedX509 = Owned<X509, X509_free>;

/// Throws Errc::failed; what OpenSSL says about it is dropped, for it may quote what it read.
[[noreturn]] inline void throw_failed() {
  ERR_clear_error();
  throw boost::system::system_error(make_error_code(Errc::failed));
}
inline void require(bool is_good) {
  if (!is_good) throw_failed();
}
template <class T>
T* require(T* object) {
  if (object == nullptr) throw_failed();
  return object;
}

/// Reads `text` in place, which has to outlive it.
inline OwnedBio reader(std::string_view text) {
  return OwnedBio(require(BIO_new_mem_buf(text.empty() ? "" : text.data(), static_cast<int>(text.size()))));
}
inline std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

struct ClearFree {
  std::size_t size = 0;
  void operator()(unsigned char* bytes) const noexcept { OPENSSL_clear_free(bytes, size); }
};
/// One PEM block. Its bytes may be a key: they are wiped.
struct PemBlock {
  std::string name;
  bool is_encrypted = false;  ///< by the old headers, RFC 1421
  std::unique_ptr<unsigned char, ClearFree> bytes;
  [[nodiscard]] long size() const noexcept { return static_cast<long>(bytes.get_deleter().size); }
};

enum class PemStep { block, end, malformed };
/// The next block of `bio`, whatever its name.
PemStep next_block(BIO* bio, PemBlock& block);

/// What is known of a key, or nullopt for one that is not supported.
std::optional<KeyAlgorithm> algorithm_of(const EVP_PKEY* key);

}  // namespace hcpnet::pki
