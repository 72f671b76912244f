// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <hcpnet/pki/certificate.hpp>
#include <string_view>

/// Whatever is read can be written and read again, and is the same then.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hcpnet::pki;
  const std::string_view pem(reinterpret_cast<const char*>(data), size);
  const PemLimits limits{.max_bytes = 64 * 1024, .max_certificates = 4};
  if (const auto certificates = parse_certificates(pem, limits)) {
    if (certificates->size() > limits.max_certificates) std::abort();
    for (const Certificate& certificate : *certificates) {
      static_cast<void>(certificate.is_self_signed());
      const auto again = parse_certificates(certificate.to_pem());
      if (!again || again->front().info().serial != certificate.info().serial) std::abort();
    }
  }
  if (const auto key = parse_private_key(pem, limits)) {
    const auto again = parse_private_key(key->to_pem().reveal());
    if (!again || again->algorithm() != key->algorithm()) std::abort();
  }
  return 0;
}
