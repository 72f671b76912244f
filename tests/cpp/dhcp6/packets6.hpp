// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

// DHCPv6 packets made and taken apart without the code under test.
namespace hcpnet::test {

using Bytes6 = std::vector<std::uint8_t>;

inline Bytes6 from_hex6(std::string_view text) {
  Bytes6 out;
  std::string digits;
  for (const char c : text)
    if (std::isxdigit(static_cast<unsigned char>(c)) != 0) digits += c;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    out.push_back(static_cast<std::uint8_t>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return out;
}

inline Bytes6 read_case6(const std::string& name) {
  std::ifstream file(HCPNET_TEST_DATA "/dhcp6/" + name);
  EXPECT_TRUE(file.good()) << name;
  return from_hex6(std::string(std::istreambuf_iterator<char>(file), {}));
}

inline Bytes6 join6(std::initializer_list<Bytes6> parts) {
  Bytes6 out;
  for (const Bytes6& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

inline Bytes6 option6(unsigned code, const Bytes6& data) {
  return join6({{static_cast<std::uint8_t>(code >> 8), static_cast<std::uint8_t>(code),
                 static_cast<std::uint8_t>(data.size() >> 8), static_cast<std::uint8_t>(data.size())},
                data});
}

/// The data of the first option of this code in a message of `skip` header bytes; empty when there is none.
inline Bytes6 find6(const Bytes6& bytes, unsigned code, std::size_t skip = 4) {
  for (std::size_t at = skip; at + 4 <= bytes.size();) {
    const unsigned found = bytes[at] << 8 | bytes[at + 1];
    const std::size_t size = bytes[at + 2] << 8 | bytes[at + 3];
    if (at + 4 + size > bytes.size()) break;
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at + 4);
    if (found == code) return {begin, begin + static_cast<std::ptrdiff_t>(size)};
    at += 4 + size;
  }
  return {};
}

}  // namespace hcpnet::test
