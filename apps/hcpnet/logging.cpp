// SPDX-License-Identifier: Apache-2.0
#include "logging.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <nlohmann/json.hpp>

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

}  // namespace

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
