// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/base64.hpp"
#include <openssl/evp.h>

namespace hcpnet::bootstrap {

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and the zero that OpenSSL writes behind it
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

}  // namespace hcpnet::bootstrap
