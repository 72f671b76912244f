// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace hcpnet::test {

/// A file below tests/cpp/data.
inline std::string read_data(const std::string& path) {
  std::ifstream file(HCPNET_TEST_DATA "/" + path, std::ios::binary);
  if (!file) throw std::runtime_error("no test data " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline nlohmann::json read_json(const std::string& path) {
  return nlohmann::json::parse(read_data(path));
}

/// One line of hexadecimal digits.
inline std::vector<std::uint8_t> read_hex(const std::string& path) {
  const std::string text = read_data(path);
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < text.size() && text[i] > ' '; i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

}  // namespace hcpnet::test
