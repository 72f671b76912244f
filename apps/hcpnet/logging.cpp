// SPDX-License-Identifier: Apache-2.0
#include "logging.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

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
  for (const auto& [key, value] : record.fields)
    line += ' ' + key + '=' +
            (needs_quotes(value) ? nlohmann::json(value).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)
                                 : value);
  return line;
}

/// The middle of the object; the pattern puts time and level in front.
std::string json_line(const LogRecord& record) {
  nlohmann::json body = {{"component", record.component}, {"message", record.message}};
  for (const auto& [key, value] : record.fields) body.emplace(key, value);
  return body.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).substr(1);
}

/// A file that lines are appended to. Whoever rotates logs moves it away; the next line after a second goes to a new
/// one.
class AppendedFile {
 public:
  explicit AppendedFile(std::string path) : path_(std::move(path)) { open(); }

  void write(const std::string& line) {
    if (path_ != "-" && std::chrono::steady_clock::now() >= next_look_) look();
    *out_ << line << '\n' << std::flush;
  }

 private:
  void open() {
    if (path_ == "-") {
      out_ = &std::cout;
      return;
    }
    file_.close();
    file_.clear();
    file_.open(path_, std::ios::app);
    if (!file_) throw std::runtime_error("access log: cannot write to " + path_);
    out_ = &file_;
  }
  void look() {
    next_look_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    std::error_code ignored;
    if (!std::filesystem::exists(path_, ignored)) open();
  }

  std::string path_;
  std::ofstream file_;
  std::ostream* out_ = nullptr;
  std::chrono::steady_clock::time_point next_look_{};
};

}  // namespace

std::function<void(const std::string& line)> make_access_log(const std::string& path) {
  return [file = std::make_shared<AppendedFile>(path)](const std::string& line) {
    try {
      file->write(line);
    } catch (const std::exception&) {  // a disk that is full or gone ends no tunnel
    }
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
