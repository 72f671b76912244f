// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <hcpnet/pki/file_set.hpp>
#include <set>
#include <utility>

namespace hcpnet::pki {
namespace {

namespace fs = std::filesystem;

Diagnostic problem(std::string_view code, const std::string& path, const char* what, int error) {
  Diagnostic d;
  d.file = path;
  d.code = std::string(code);
  d.message = std::string(what) + std::strerror(error);
  return d;
}

class Descriptor {
 public:
  explicit Descriptor(int value) noexcept : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  [[nodiscard]] int get() const noexcept { return value_; }

 private:
  int value_;
};

/// Returns 0 or an errno. Room for everything is made first: a string that grows leaves copies behind.
int read_all(int descriptor, std::size_t max, std::string& text) {
  text.resize(max);
  std::size_t size = 0;
  while (size < max) {
    const ssize_t count = ::read(descriptor, text.data() + size, max - size);
    if (count == 0) break;
    if (count < 0 && errno != EINTR) return errno;
    size += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  text.resize(size);
  return 0;
}

int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno != EINTR) return errno;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return 0;
}

/// New contents beside the files they are for; what has not taken its place when this ends is removed.
class Replacements {
 public:
  explicit Replacements(Diagnostics& problems) : problems_(problems) {}
  Replacements(const Replacements&) = delete;
  Replacements& operator=(const Replacements&) = delete;
  ~Replacements() {
    for (const auto& [temporary, path] : pending_) ::unlink(temporary.c_str());
    std::error_code ignored;  // a folder that something is in by now stays
    for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) fs::remove(*folder, ignored);
  }

  bool make_folder(const fs::path& folder) {
    std::error_code error;
    if (folder.empty() || fs::is_directory(folder, error)) return true;
    if (!make_folder(folder.parent_path())) return false;
    if (::mkdir(folder.c_str(), 0755) == 0) {
      made_.push_back(folder);
      return true;
    }
    return errno == EEXIST || fail(folder, errno);
  }

  bool prepare(const fs::path& path, const OutputFile& file) {
    std::error_code ignored;  // a folder can't be replaced, which would show when other files have changed already
    if (fs::is_directory(fs::symlink_status(path, ignored))) return fail(path, EISDIR);
    std::string temporary = (path.parent_path() / ('.' + path.filename().string() + ".XXXXXX")).string();
    const Descriptor descriptor(::mkostemp(temporary.data(), O_CLOEXEC));
    if (descriptor.get() < 0) return fail(path, errno);
    pending_.emplace_back(temporary, path.string());
    const int error = write_all(descriptor.get(), file.text.reveal());
    if (error != 0) return fail(path, error);
    if (::fchmod(descriptor.get(), file.mode) != 0 || ::fsync(descriptor.get()) != 0) return fail(path, errno);
    return true;
  }

  bool commit() {
    std::set<std::string> folders;
    for (auto& [temporary, path] : pending_) {
      if (::rename(temporary.c_str(), path.c_str()) != 0) return fail(path, errno);
      temporary.clear();
      folders.insert(fs::path(path).parent_path().string());
    }
    pending_.clear();
    made_.clear();
    for (const std::string& folder : folders) {  // the names are data too
      const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (descriptor.get() < 0 || ::fsync(descriptor.get()) != 0) return fail(folder, errno);
    }
    return true;
  }

 private:
  bool fail(const fs::path& path, int error) {
    problems_.add(problem("unwritable-file", path.string(), "can't be written: ", error));
    return false;
  }
  Diagnostics& problems_;
  std::vector<std::pair<std::string, std::string>> pending_;
  std::vector<fs::path> made_;
};

/// True when the file has this content; its mode is set right then.
bool is_current(const fs::path& path, const OutputFile& file) {
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat status{};
  if (descriptor.get() < 0 || ::fstat(descriptor.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (status.st_size != static_cast<off_t>(file.text.reveal().size())) return false;
  std::string text;
  const bool is_same = read_all(descriptor.get(), file.text.reveal().size(), text) == 0 && text == file.text.reveal();
  const Secret wiped(std::move(text));
  return is_same && ((status.st_mode & 07777) == file.mode || ::fchmod(descriptor.get(), file.mode) == 0);
}

}  // namespace

Result<Written, Diagnostics> write_files(const std::string& folder, const std::vector<OutputFile>& files) {
  Diagnostics problems;
  Written written;
  Replacements replacements(problems);
  const fs::path root = fs::path(folder).lexically_normal();
  bool is_good = replacements.make_folder(root);
  for (const OutputFile& file : files) {
    if (!is_good) break;
    const fs::path path = root / file.name;
    if (is_current(path, file)) {
      ++written.unchanged;
    } else {
      is_good = replacements.make_folder(path.parent_path()) && replacements.prepare(path, file);
      written.changed.push_back(file.name);
    }
  }
  if (!is_good || !replacements.commit()) return problems;
  return written;
}

std::optional<Secret> read_file(const std::string& path, std::size_t max_bytes, Diagnostics& problems) {
  // Not blocking: a pipe of that name would make this wait for ever.
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (descriptor.get() < 0 && errno == ENOENT) return std::nullopt;
  struct stat status{};
  int error = descriptor.get() < 0 || ::fstat(descriptor.get(), &status) != 0 ? errno : 0;
  if (error == 0 && S_ISDIR(status.st_mode)) error = EISDIR;
  if (error == 0 && !S_ISREG(status.st_mode)) error = EINVAL;
  std::string text;
  const auto size = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  if (error == 0) error = read_all(descriptor.get(), std::min(size, max_bytes) + 1, text);
  Secret secret(std::move(text));
  if (error == 0) return secret;
  problems.add(problem("unreadable-file", path, "can't be read: ", error));
  return std::nullopt;
}

}  // namespace hcpnet::pki
