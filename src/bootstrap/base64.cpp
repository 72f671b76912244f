// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/base64.hpp"
#include <openssl/evp.h>
#include <algorithm>
#include <cstddef>

namespace hcpnet::bootstrap {

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and the zero that OpenSSL writes behind it
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::optional<std::string> parse_base64(std::string_view text) {
  // OpenSSL counts padding as bytes, and minds neither how much of it there is nor where.
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string line(text);
  std::erase_if(line, [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; });
  const std::size_t digits = std::min(line.find_first_not_of(kDigits), line.size());
  const std::size_t padding = line.size() - digits;
  if (line.size() % 4 != 0 || padding > 2 || line.substr(digits) != std::string_view("==").substr(0, padding))
    return {};
  std::string bytes(line.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(line.data()), static_cast<int>(line.size()));
  if (size < 0) return {};
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace hcpnet::bootstrap
