// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace hcpnet::test {

/// The bytes of a file; the test fails when it cannot be read.
inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// A file of tests/cpp/data.
inline std::filesystem::path data_path(const std::string& name) {
  return std::filesystem::path(HCPNET_TEST_DATA) / name;
}

/// The names of the files in a folder that begin with `prefix`, sorted.
inline std::vector<std::string> file_names(const std::filesystem::path& folder, const std::string& prefix = {}) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (const std::string name = entry.path().filename(); entry.is_regular_file() && name.starts_with(prefix))
      names.push_back(name);
  std::ranges::sort(names);
  return names;
}

}  // namespace hcpnet::test
