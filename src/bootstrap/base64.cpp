// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/base64.hpp"
#include <openssl/evp.h>
#include <algorithm>

namespace hcpnet::bootstrap {

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and the zero that OpenSSL writes behind it
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  // OpenSSL passes over blanks at both ends, and counts padding as bytes.
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
  const std::size_t padding = text.size() - digits;
  if (text.size() % 4 != 0 || padding > 2 || text.substr(digits) != std::string_view("==").substr(0, padding))
    return {};
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return {};
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace hcpnet::bootstrap
