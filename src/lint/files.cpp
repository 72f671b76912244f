// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <hcpnet/lint/files.hpp>
#include <hcpnet/pki/file_set.hpp>
#include <utility>

namespace hcpnet::lint {
namespace {

namespace fs = std::filesystem;

class FileReader {
 public:
  FileReader(const Limits& limits, const ReadLimits& read_limits) : limits_(limits), read_limits_(read_limits) {}

  Result<std::vector<File>, Diagnostics> run(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      std::error_code ignored;
      fs::is_directory(path, ignored) ? read_folder(path) : read(path);
    }
    if (problems_.has_errors()) return problems_;
    return std::move(files_);
  }

 private:
  void report(const std::string& path, std::string_view code, std::string message) {
    Diagnostic d;
    d.file = path.empty() ? "\"\"" : path;
    d.code = code;
    d.message = std::move(message);
    problems_.add(std::move(d));
  }

  void read(const std::string& path) {
    const std::size_t before = problems_.error_count();
    auto text = pki::read_file(path, limits_.max_file_bytes, problems_);
    if (text)
      files_.push_back({path, text->reveal()});
    else if (problems_.error_count() == before)
      report(path, "unreadable-file", "can't be read: there is no such file");
  }

  void read_folder(const std::string& folder) {
    std::vector<std::string> paths;
    std::error_code error;
    for (auto entry = fs::recursive_directory_iterator(folder, error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      const bool is_hidden = entry->path().filename().string().starts_with('.');
      if (is_hidden) entry.disable_recursion_pending();
      std::error_code ignored;
      if (is_hidden || entry->is_symlink(ignored) || !entry->is_regular_file(ignored)) continue;
      paths.push_back(entry->path().string());
      if (files_.size() + paths.size() <= read_limits_.max_files) continue;
      return report(folder, "too-many-files", "more than " + std::to_string(read_limits_.max_files) + " files");
    }
    if (error) return report(folder, "unreadable-file", "can't be read: " + error.message());
    std::ranges::sort(paths);
    for (const std::string& path : paths) read(path);
  }

  const Limits& limits_;
  const ReadLimits& read_limits_;
  std::vector<File> files_;
  Diagnostics problems_;
};

}  // namespace

Result<std::vector<File>, Diagnostics> read_files(const std::vector<std::string>& paths, const Limits& limits,
                                                  const ReadLimits& read_limits) {
  return FileReader(limits, read_limits).run(paths);
}

}  // namespace hcpnet::lint
