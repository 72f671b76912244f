// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/system/error_code.hpp>
#include <type_traits>

namespace hcpnet::pki {

enum class Errc {
  not_pem = 1,      ///< there is no PEM block of the kind that is wanted
  malformed,        ///< a block of that kind which can't be read, or is followed by what does not belong to it
  too_large,        ///< more than PemLimits::max_bytes
  too_many,         ///< more than PemLimits::max_certificates
  encrypted,        ///< a key behind a passphrase
  unsupported_key,  ///< neither RSA of 2048, 3072 or 4096 bits nor ECDSA on P-256, P-384 or P-521
  failed,           ///< OpenSSL could not do it: no memory, no entropy
};
[[nodiscard]] const boost::system::error_category& error_category() noexcept;
[[nodiscard]] boost::system::error_code make_error_code(Errc code) noexcept;

}  // namespace hcpnet::pki

template <>
struct boost::system::is_error_code_enum<hcpnet::pki::Errc> : std::true_type {};
