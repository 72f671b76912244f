// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <hcpnet/dns/renderer.hpp>
#include <string>

/// Programs beside the tests.
namespace hcpnet::test {

struct Finished {
  int status = -1;
  std::string output;  ///< both streams
};

inline Finished run(const std::string& command) {
  Finished done;
  FILE* output = popen(("export PATH=\"$PATH:/usr/sbin:/sbin\"; " + command + " 2>&1").c_str(), "r");
  if (output == nullptr) return done;
  std::array<char, 4096> chunk;
  while (std::fgets(chunk.data(), static_cast<int>(chunk.size()), output) != nullptr) done.output += chunk.data();
  const int status = pclose(output);
  done.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return done;
}

inline bool is_missing(const std::string& program) {
  return run("command -v " + program).status != 0;
}

/// A path that nobody else uses.
inline std::filesystem::path temporary_path(const std::string& purpose) {
  static std::atomic<unsigned> next{0};
  return std::filesystem::temp_directory_path() /
         ("hcpnet-" + purpose + '-' + std::to_string(getpid()) + '-' + std::to_string(next++));
}

inline void write_files(const std::filesystem::path& folder, const dns::Rendered& rendered) {
  for (const dns::RenderedFile& file : rendered.files) {
    std::filesystem::create_directories((folder / file.name).parent_path());
    std::ofstream(folder / file.name, std::ios::binary) << file.text;
  }
}

}  // namespace hcpnet::test
