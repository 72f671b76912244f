// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <hcpnet/log.hpp>
#include <string>

namespace hcpnet::app {

/// A sink that writes one line per record to standard error: text for people ("time level component: message
/// key=value") or JSON.
[[nodiscard]] LogSink make_log_sink(bool as_json, LogLevel least);

/// Appends each line to the file, "-" being standard output. A file that was moved away is made anew within a second.
/// `log` is told when lines are lost. Throws std::runtime_error that names the file when it cannot be opened.
[[nodiscard]] std::function<void(const std::string& line)> make_access_log(const std::string& path, const LogSink& log);

}  // namespace hcpnet::app
