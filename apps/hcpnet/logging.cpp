// SPDX-License-Identifier: Apache-2.0
#include "logging.hpp"

#include <fcntl.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <hcpnet/inherited_sockets.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace hcpnet::app {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      break;
  }
  return spdlog::level::err;
}

bool needs_quotes(const std::string& value) {
  return value.empty() || value.find_first_of(" =\"") != std::string::npos;
}

std::string text_line(const LogRecord& record) {
  std::string line = record.component + ": " + record.message;
  for (const auto& [key, value] : record.fields) {
    const std::string& text = value;
    line += ' ' + key + '=' +
            (needs_quotes(text) ? nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)
                                : text);
  }
  return line;
}

/// The middle of the object; the pattern puts time and level in front.
std::string json_line(const LogRecord& record) {
  nlohmann::json body = {{"component", record.component}, {"message", record.message}};
  for (const auto& [key, value] : record.fields) {
    const std::string& text = value;
    body.emplace(key, value.is_number ? nlohmann::json::parse(text) : nlohmann::json(text));
  }
  return body.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).substr(1);
}

/// A file that lines are appended to. Whoever rotates logs moves it away, and may put an empty one in its place; the
/// next line after a second goes to what is there then, or to a new one. Lines that can't be written, because the disk
/// is full, are lost; that is logged, once until they can be again. So is that what is there now can't be opened.
class AppendedFile {
 public:
  AppendedFile(std::string path, Logger log) : path_(std::move(path)), log_(std::move(log)) {
    if (path_ != "-" && !open())
      throw std::runtime_error("access log: cannot write to " + path_ + ": " + std::strerror(errno));
  }

  void write(std::string line) {
    if (path_ != "-" && std::chrono::steady_clock::now() >= next_look_) look();
    line += '\n';
    if (is_torn_) line.insert(0, 1, '\n');
    const int error = put(line);
    if ((error != 0) == std::exchange(is_failing_, error != 0)) return;
    if (error != 0)
      log_.error("lines of the access log are lost", {{"file", path_}, {"reason", std::strerror(error)}});
    else
      log_.info("the access log is written again", {{"file", path_}});
  }

 private:
  /// Where there is nothing to write to, what was written to until now goes on being it.
  bool open() {
    // At once: a FIFO that nobody reads would hold the whole process up until somebody does.
    FileDescriptor opened(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644));
    if (!opened.is_open() || ::fcntl(opened.get(), F_SETFL, O_APPEND) != 0) return false;
    file_ = std::move(opened);
    return true;
  }
  void look() {
    next_look_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    struct stat there{}, ours{};
    const bool is_ours = ::stat(path_.c_str(), &there) == 0 && ::fstat(file_.get(), &ours) == 0 &&
                         there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
    const bool is_good = is_ours || open();
    const int error = errno;
    if (std::exchange(is_replaced_, !is_good) || is_good) return;
    log_.error("the access log goes on in the file that was there before",
               {{"file", path_}, {"reason", std::strerror(error)}});
  }
  /// 0 or an errno. After a line of which only a part went the next one begins a line of its own.
  [[nodiscard]] int put(std::string_view line) {
    const int descriptor = path_ == "-" ? STDOUT_FILENO : file_.get();
    ssize_t count = -1;
    do count = ::write(descriptor, line.data(), line.size());
    while (count < 0 && errno == EINTR);
    if (count < 0) return errno;
    is_torn_ = static_cast<std::size_t>(count) != line.size();
    return is_torn_ ? ENOSPC : 0;
  }

  std::string path_;
  Logger log_;
  FileDescriptor file_;
  std::chrono::steady_clock::time_point next_look_{};
  bool is_failing_ = false, is_torn_ = false;
  bool is_replaced_ = false;  ///< what is there now can't be written to
};

}  // namespace

std::function<void(const std::string& line)> make_access_log(const std::string& path, const LogSink& log) {
  return [file = std::make_shared<AppendedFile>(path, Logger(log, "proxy"))](const std::string& line) {
    file->write(line);
  };
}

LogSink make_log_sink(bool as_json, LogLevel least) {
  const auto logger = std::make_shared<spdlog::logger>("hcpnet", std::make_shared<spdlog::sinks::stderr_sink_st>());
  logger->set_level(to_spdlog(least));
  logger->flush_on(spdlog::level::trace);
  logger->set_pattern(as_json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v)" : "%Y-%m-%dT%H:%M:%S.%eZ %l %v",
                      spdlog::pattern_time_type::utc);
  return [logger, as_json](const LogRecord& record) {
    logger->log(to_spdlog(record.level), "{}", as_json ? json_line(record) : text_line(record));
  };
}

}  // namespace hcpnet::app
