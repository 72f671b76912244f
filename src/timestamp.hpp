// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace hcpnet {

/// RFC 3339, UTC: "2026-01-31T23:59:59Z". Precondition: a year from 0 to 9999.
[[nodiscard]] std::string timestamp(std::chrono::sys_seconds time);
/// The same form and nothing else. nullopt: no such time.
[[nodiscard]] std::optional<std::chrono::sys_seconds> parse_timestamp(std::string_view text);

/// Date and time of day, each field in its range. nullopt: no such day, or no such time.
[[nodiscard]] std::optional<std::chrono::sys_seconds> make_time(int year, unsigned month, unsigned day, unsigned hour,
                                                                unsigned minute, unsigned second);

}  // namespace hcpnet
