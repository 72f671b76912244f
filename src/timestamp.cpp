// SPDX-License-Identifier: Apache-2.0
#include "timestamp.hpp"

#include <charconv>
#include <ctime>

namespace hcpnet {
namespace {

/// `length` digits at `at`. nullopt: something else is there.
std::optional<unsigned> digits(std::string_view text, std::size_t at, std::size_t length) {
  unsigned value = 0;
  const char* const first = text.data() + at;
  const auto [end, error] = std::from_chars(first, first + length, value);
  if (error != std::errc() || end != first + length) return std::nullopt;
  return value;
}

}  // namespace

std::string timestamp(std::chrono::sys_seconds time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::optional<std::chrono::sys_seconds> make_time(int year, unsigned month, unsigned day, unsigned hour,
                                                  unsigned minute, unsigned second) {
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

std::optional<std::chrono::sys_seconds> parse_timestamp(std::string_view text) {
  static constexpr std::string_view kForm = "0000-00-00T00:00:00Z";
  if (text.size() != kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < kForm.size(); ++i)
    if (kForm[i] != '0' && text[i] != kForm[i]) return std::nullopt;
  const auto year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  return make_time(static_cast<int>(*year), *month, *day, *hour, *minute, *second);
}

}  // namespace hcpnet
