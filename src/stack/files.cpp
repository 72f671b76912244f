// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <hcpnet/stack/files.hpp>
#include <iterator>
#include <thread>
#include <utility>

namespace hcpnet {
namespace {

Diagnostic unreadable(const std::string& path, const std::string& why) {
  Diagnostic d;
  d.file = path.empty() ? "\"\"" : path;
  d.code = "unreadable-file";
  d.message = "can't be read: " + why;
  return d;
}

/// Reads at most `max` bytes. Returns 0 or an errno.
int read_all(int descriptor, std::size_t max, std::string& text) {
  constexpr std::size_t kStep = 64 * 1024;
  while (text.size() < max) {
    const std::size_t before = text.size();
    text.resize(std::min(max, before + kStep));
    const ssize_t count = ::read(descriptor, text.data() + before, text.size() - before);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) return 0;
    if (count < 0 && errno != EINTR) return errno;
  }
  return 0;
}

/// Descriptors that the caller gave, as a shell writes them: <(command) is /dev/fd/63.
bool is_inherited(const std::string& path) {
  return path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

/// A FIFO or a device could make us wait for ever, or never end.
bool is_readable_kind(int descriptor, const std::string& path) {
  struct stat status{};
  return ::fstat(descriptor, &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) || is_inherited(path);
}

/// Opens without waiting for a writer, and goes on waiting for data. -1 with errno.
int open_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor >= 0) ::fcntl(descriptor, F_SETFL, 0);
  return descriptor;
}

/// All that the descriptor has, at most `max` bytes. Returns what is wrong with it, or nothing.
std::string read_descriptor(int descriptor, const std::string& path, std::size_t max, std::string& text) {
  if (path != "-" && !is_readable_kind(descriptor, path)) return "this is no regular file";
  const int error = read_all(descriptor, max, text);
  return error == 0 ? std::string() : std::strerror(error);
}

void read_file(const std::string& path, std::size_t max, std::vector<spec::SourceText>& out, Diagnostics& problems) {
  const bool is_stdin = path == "-";
  const int descriptor = is_stdin ? STDIN_FILENO : open_file(path);
  if (descriptor < 0) return problems.add(unreadable(path, std::strerror(errno)));
  spec::SourceText source{path, {}};
  const std::string wrong = read_descriptor(descriptor, path, max, source.text);
  if (!is_stdin) ::close(descriptor);
  if (wrong.empty()) return out.push_back(std::move(source));
  problems.add(unreadable(path, wrong));
}

bool is_spec_file(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  return !path.filename().string().starts_with('.') &&
         (extension == ".yaml" || extension == ".yml" || extension == ".json");
}

void read_folder(const std::string& path, std::size_t max, std::vector<spec::SourceText>& out, Diagnostics& problems) {
  std::vector<std::string> files;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(path, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    if (is_spec_file(entry->path())) files.push_back(entry->path().string());
  if (error) problems.add(unreadable(path, std::strerror(error.value())));
  if (!error && files.empty()) {
    Diagnostic d = unreadable(path, {});
    d.message = "holds no *.yaml, *.yml or *.json file";
    problems.add(std::move(d));
  }
  std::ranges::sort(files);
  for (const std::string& file : files) read_file(file, max, out, problems);
}

}  // namespace

bool is_read_once(const std::string& path) {
  return path == "-" || path == "/dev/stdin" || path.starts_with("/dev/fd/");
}

namespace {

/// `before`: texts of what can be read once only; null at the first time.
Result<std::vector<spec::SourceText>, Diagnostics> read_again(const std::vector<std::string>& paths,
                                                              const spec::LoadLimits& limits,
                                                              const std::vector<spec::SourceText>* before) {
  std::vector<spec::SourceText> sources;
  Diagnostics problems;
  for (const std::string& path : paths) {
    if (before != nullptr && is_read_once(path)) {
      const auto known = std::ranges::find(*before, path, &spec::SourceText::name);
      if (known != before->end()) sources.push_back(*known);
      continue;
    }
    std::error_code ignored;
    if (path != "-" && std::filesystem::is_directory(path, ignored))
      read_folder(path, limits.max_file_bytes + 1, sources, problems);
    else
      read_file(path, limits.max_file_bytes + 1, sources, problems);
    // A pipe that is empty by now, as zsh writes <(command).
    if (before != nullptr && is_inherited(path) && !sources.empty() && sources.back().text.empty())
      if (const auto known = std::ranges::find(*before, path, &spec::SourceText::name); known != before->end())
        sources.back().text = known->text;
  }
  if (problems.has_errors()) return problems;
  return sources;
}

}  // namespace

Result<std::vector<spec::SourceText>, Diagnostics> read_sources(const std::vector<std::string>& paths,
                                                                const spec::LoadLimits& limits) {
  return read_again(paths, limits, nullptr);
}

SourceFiles read_source_files(const std::vector<std::string>& specs, const std::vector<std::string>& observed,
                              const std::vector<std::string>& endpoints, Diagnostics& problems,
                              const SourceFiles* before) {
  SourceFiles files;
  const auto count =
      std::ranges::count(specs, "-") + std::ranges::count(observed, "-") + std::ranges::count(endpoints, "-");
  if (count > 1) {
    Diagnostic d;
    d.file = "-";
    d.code = "stdin-twice";
    d.message = "standard input can be read once only, and it is given " + std::to_string(count) + " times";
    problems.add(std::move(d));
    return files;
  }
  const auto read = [&](const std::vector<std::string>& paths, const spec::LoadLimits& limits,
                        std::vector<spec::SourceText> SourceFiles::* const kind) {
    auto texts = read_again(paths, limits, before == nullptr ? nullptr : &(before->*kind));
    if (texts.has_error())
      problems.append(texts.error());
    else
      files.*kind = std::move(*texts);
  };
  read(specs, {}, &SourceFiles::specs);
  read(observed, spec::kObservedLimits, &SourceFiles::observed);
  read(endpoints, spec::kObservedLimits, &SourceFiles::endpoints);
  files.are_on_disk = true;
  return files;
}

namespace {

/// A file that somebody is writing is as good as any other up to the end of a line. One that was written so lately, or
/// that changes while it is read, is read once more so much later; all files of a set wait so often at most.
constexpr std::chrono::milliseconds kRecordFileRest{100};
constexpr int kMaxRecordFileRests = 10;

std::chrono::nanoseconds written_at(const struct stat& status) {
  return std::chrono::seconds(status.st_mtim.tv_sec) + std::chrono::nanoseconds(status.st_mtim.tv_nsec);
}

/// A time of writing in the future says nothing: another host's clock made it.
bool is_at_rest(const struct stat& before, const struct stat& after) {
  if (before.st_size != after.st_size || written_at(before) != written_at(after)) return false;
  const auto age = std::chrono::system_clock::now().time_since_epoch() - written_at(after);
  return age < std::chrono::nanoseconds(0) || age >= kRecordFileRest;
}

/// False when it was not at rest; `record` has then what was there.
bool read_record_file_once(spec::RecordText& record, std::size_t max) {
  record.text.clear();
  const int descriptor = open_file(record.path);
  struct stat before{}, after{};
  if (descriptor < 0 || ::fstat(descriptor, &before) != 0)
    record.trouble = std::strerror(errno);
  else if (!S_ISREG(before.st_mode))
    record.trouble = "this is no regular file";
  else if (const int error = read_all(descriptor, max, record.text))
    record.trouble = std::strerror(error);
  else if (::fstat(descriptor, &after) != 0)
    record.trouble = std::strerror(errno);
  if (descriptor >= 0) ::close(descriptor);
  return !record.trouble.empty() || is_at_rest(before, after);
}

/// What the files of a set have left.
struct RecordFileBudget {
  std::size_t room = spec::kMaxRecordFilesBytes;
  int rests = kMaxRecordFileRests;
};

spec::RecordText read_record_file(const std::string& path, RecordFileBudget& left) {
  spec::RecordText record{path, {}, {}, false};
  const std::size_t max = std::min(spec::kZoneFileLimits.max_file_bytes, left.room) + 1;
  bool is_whole = read_record_file_once(record, max);
  for (; left.rests > 0 && !is_whole; --left.rests) {
    std::this_thread::sleep_for(kRecordFileRest);
    is_whole = read_record_file_once(record, max);
  }
  if (!is_whole) record.trouble = "it does not stop changing";
  if (record.trouble.empty() && record.text.size() > left.room) {
    record.is_too_large = true;
    record.trouble = "the zone files and hosts files together have more than " +
                     std::to_string(spec::kMaxRecordFilesBytes) + " bytes";
  }
  if (!record.trouble.empty()) record.text.clear();
  left.room -= record.text.size();
  return record;
}

std::vector<spec::RecordText> records_for(const spec::SpecSet& set, const SourceFiles& files) {
  std::vector<spec::RecordText> records = files.records;
  if (!files.are_on_disk) return records;
  std::vector<std::string> paths = spec::record_file_paths(set);
  std::erase_if(paths, [&](const std::string& path) {
    return std::ranges::find(records, path, &spec::RecordText::path) != records.end();
  });
  std::ranges::move(read_record_files(paths), std::back_inserter(records));
  return records;
}

}  // namespace

std::vector<spec::RecordText> read_record_files(const std::vector<std::string>& paths) {
  std::vector<spec::RecordText> records;
  RecordFileBudget left;
  for (const std::string& path : paths) records.push_back(read_record_file(path, left));
  return records;
}

Result<CheckedFiles, Diagnostics> check_files(const SourceFiles& files, const spec::LoadLimits& limits,
                                              spec::KindSet kinds, std::vector<spec::RecordText>* records) {
  CheckedFiles checked;
  Diagnostics warnings;
  auto observed = spec::load_observed(files.observed, files.endpoints, warnings);
  const spec::SpecSet specs = spec::load(files.specs, limits, kinds);
  std::vector<spec::RecordText> texts = records_for(specs, files);
  auto set = spec::validate(specs, texts);
  if (records != nullptr) *records = std::move(texts);
  if (observed.has_error() || set.has_error()) {  // all problems at once, also across the two
    Diagnostics problems = set.has_error() ? set.error() : Diagnostics{};
    if (observed.has_error()) problems.append(observed.error());
    problems.append(std::move(warnings));
    return problems;
  }
  checked.set = std::move(*set);
  checked.observed = std::move(*observed);
  spec::apply_observed(checked.set, checked.observed);
  checked.warnings = checked.set.warnings;
  checked.warnings.append(std::move(warnings));
  return checked;
}

}  // namespace hcpnet
