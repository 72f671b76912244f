// SPDX-License-Identifier: Apache-2.0
// Stands in for libFuzzer where that isn't linked: runs the target once on each file of the given folders and files.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

void run(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw fs::filesystem_error("cannot read", file, std::make_error_code(std::errc::io_error));
  const std::vector<char> text{std::istreambuf_iterator<char>(stream), {}};
  // A copy without spare capacity, so that AddressSanitizer sees a read past the end.
  const std::vector<std::uint8_t> input(text.begin(), text.end());
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

std::size_t run_all(const fs::path& where) {
  if (!fs::is_directory(where)) {
    run(where);
    return 1;
  }
  std::size_t count = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(where)) {
    if (!entry.is_regular_file()) continue;
    run(entry.path());
    ++count;
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) try {
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) count += run_all(argv[i]);
  std::printf("%zu inputs\n", count);
  return count > 0 ? 0 : 1;  // an empty corpus proves nothing
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
