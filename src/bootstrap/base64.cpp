// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/base64.hpp"
#include <openssl/evp.h>

#include <cstdint>

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
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  std::size_t digits = 0, padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos || padding > 0) return std::nullopt;
    group = group << 6 | static_cast<std::uint32_t>(digit);
    if (++digits % 4 != 0) continue;
    bytes +=
        {static_cast<char>(group >> 16 & 0xFF), static_cast<char>(group >> 8 & 0xFF), static_cast<char>(group & 0xFF)};
    group = 0;
  }
  if (padding > 2 || (digits + padding) % 4 != 0) return std::nullopt;
  if (padding == 1) bytes += {static_cast<char>(group >> 10 & 0xFF), static_cast<char>(group >> 2 & 0xFF)};
  if (padding == 2) bytes += static_cast<char>(group >> 4 & 0xFF);
  return bytes;
}

}  // namespace hcpnet::bootstrap
