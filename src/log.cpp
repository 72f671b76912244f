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

std::string printable(std::string_view text, std::size_t max_bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string safe;
  for (const char c : text.substr(0, max_bytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '\\')
      safe += c;
    else
      safe += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  if (text.size() > max_bytes) safe += "...";
  return safe;
}

}  // namespace hcpnet
