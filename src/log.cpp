// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/log.hpp>

namespace hcpnet {

std::string_view to_string(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "unknown";
}

void Logger::write(LogLevel level, std::string_view message, Fields fields) const {
  if (sink_) sink_(LogRecord{level, component_, std::string(message), std::move(fields)});
}

}  // namespace hcpnet
