// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/log.hpp>
#include <string>

namespace hcpnet::app {

/// A sink that writes one line per record to standard error: text for people ("time level component: message
/// key=value") or JSON.
[[nodiscard]] LogSink make_log_sink(bool as_json, LogLevel least);

}  // namespace hcpnet::app
