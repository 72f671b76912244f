// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "spec/format.hpp"

namespace hcpnet::spec {
namespace {

// DHCP's lease time has 32 bits, and all of them set means forever (RFC 2131 section 3.3).
constexpr std::uint64_t kMaxLeaseSeconds = 0xFFFFFFFE;
constexpr std::uint64_t kNanosPerSecond = 1'000'000'000;
constexpr std::uint64_t kMaxNanos = kMaxLeaseSeconds * kNanosPerSecond;

struct Unit {
  std::string_view name;
  std::uint64_t nanos;
};
// "ms" before "m": the longer name is tried first.
constexpr std::array kUnits{Unit{"ns", 1},
                            Unit{"us", 1'000},
                            Unit{"\xC2\xB5s", 1'000},  // micro sign
                            Unit{"\xCE\xBCs", 1'000},  // Greek mu
                            Unit{"ms", 1'000'000},
                            Unit{"s", kNanosPerSecond},
                            Unit{"m", 60 * kNanosPerSecond},
                            Unit{"h", 3600 * kNanosPerSecond}};

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

// Saturates above every limit of ours, so that nothing wraps.
std::uint64_t take_digits(std::string_view& text) {
  constexpr std::uint64_t kTooMuch = kMaxNanos * 2;
  std::uint64_t value = 0;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    value = value >= kTooMuch / 10 ? kTooMuch : value * 10 + static_cast<std::uint64_t>(text.front() - '0');
  }
  return value;
}

// [0-9]+ ( "." [0-9]* )? or "." [0-9]+, then a unit
std::optional<std::uint64_t> take_part(std::string_view& text) {
  const std::size_t before = text.size();
  const std::uint64_t whole = take_digits(text);
  const bool has_whole = text.size() != before;
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
    text.remove_prefix(fraction.size());
  }
  if (!has_whole && fraction.empty()) return {};
  const auto unit = std::ranges::find_if(kUnits, [&](const Unit& u) { return text.starts_with(u.name); });
  if (unit == kUnits.end()) return {};
  text.remove_prefix(unit->name.size());

  if (whole > kMaxNanos / unit->nanos) return kMaxNanos + 1;
  std::uint64_t nanos = whole * unit->nanos;
  std::uint64_t digit_worth = unit->nanos;
  for (const char c : fraction) {
    const std::uint64_t digit = static_cast<std::uint64_t>(c - '0');
    if (digit_worth % 10 != 0 && digit != 0)
      return {};  // finer than a nanosecond: no whole number of seconds can come of it
    digit_worth /= 10;
    nanos += digit * digit_worth;
  }
  return nanos;
}

}  // namespace

std::optional<std::chrono::seconds> parse_lease_time(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);  // Go takes it; a minus is never a lease
  std::uint64_t nanos = 0;
  do {
    const auto part = take_part(text);
    if (!part) return {};
    nanos += std::min(*part, kMaxNanos + 1);
    if (nanos > kMaxNanos) return {};
  } while (!text.empty());
  if (nanos < kNanosPerSecond || nanos % kNanosPerSecond != 0) return {};
  return std::chrono::seconds(nanos / kNanosPerSecond);
}

std::optional<std::chrono::seconds> parse_simple_duration(std::string_view text) {
  const std::size_t before = text.size();
  const std::uint64_t number = take_digits(text);
  if (text.size() == before || text.size() != 1) return {};
  const std::uint64_t unit = text == "s" ? 1 : text == "m" ? 60 : text == "h" ? 3600 : 0;
  if (unit == 0 || number > kMaxLeaseSeconds / unit) return {};
  return std::chrono::seconds(number * unit);
}

}  // namespace hcpnet::spec
