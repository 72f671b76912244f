// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hcpnet {

enum class LogLevel : std::uint8_t { debug, info, warning, error };
[[nodiscard]] std::string_view to_string(LogLevel level) noexcept;

/// What a field of a record says: a text, or the digits of a number, which a sink may write as one.
struct LogValue : std::string {
  LogValue() = default;
  LogValue(const char* text) : std::string(text) {}
  LogValue(std::string text) : std::string(std::move(text)) {}
  template <std::integral Number>
    requires(!std::same_as<Number, bool> && !std::same_as<Number, char>)
  LogValue(Number number) : std::string(std::to_string(number)), is_number(true) {}

  bool is_number = false;
};

/// One thing that happened. Never holds a secret or a whole packet.
struct LogRecord {
  LogLevel level = LogLevel::info;
  std::string component;  ///< "stack", "dhcp", "dns", "proxy", "admin"
  std::string message;    ///< a fixed sentence: "lease bound"; what varies is in the fields
  std::vector<std::pair<std::string, LogValue>> fields;
};

/// Where records go. Called on the engine's thread: must not block and must not throw. An empty sink drops everything.
using LogSink = std::function<void(const LogRecord&)>;

/// What an engine holds: a sink and its own name.
class Logger {
 public:
  using Fields = std::vector<std::pair<std::string, LogValue>>;
  Logger() = default;
  Logger(LogSink sink, std::string component) : sink_(std::move(sink)), component_(std::move(component)) {}

  /// False when every record would be dropped: then making one can be spared.
  [[nodiscard]] bool is_enabled() const noexcept { return static_cast<bool>(sink_); }
  [[nodiscard]] const LogSink& sink() const noexcept { return sink_; }
  [[nodiscard]] const std::string& component() const noexcept { return component_; }
  void debug(std::string_view message, Fields fields = {}) const { write(LogLevel::debug, message, std::move(fields)); }
  void info(std::string_view message, Fields fields = {}) const { write(LogLevel::info, message, std::move(fields)); }
  void warning(std::string_view message, Fields fields = {}) const {
    write(LogLevel::warning, message, std::move(fields));
  }
  void error(std::string_view message, Fields fields = {}) const { write(LogLevel::error, message, std::move(fields)); }

 private:
  void write(LogLevel level, std::string_view message, Fields fields) const;

  LogSink sink_;
  std::string component_;
};

/// Bytes from outside made safe for a log line: printable ASCII stays, everything else becomes \xHH; cut after
/// `max_bytes`.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 256);

}  // namespace hcpnet
