// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/dns/renderer.hpp>

#include "dns/transfer.hpp"

namespace hcpnet::dns {

std::uint32_t next_serial(std::uint32_t previous, std::optional<std::uint32_t> day) noexcept {
  // The last day that fits is in the year 4294.
  if (day && *day <= 0xffffffff / 100) {
    if (const std::uint32_t first_of_day = *day * 100; first_of_day != 0 && is_later_serial(first_of_day, previous))
      return first_of_day;
  }
  return previous + 1 != 0 ? previous + 1 : 1;
}

std::uint32_t serial_day(std::chrono::system_clock::time_point time) noexcept {
  const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(time)};
  return static_cast<std::uint32_t>(static_cast<int>(day.year())) * 10'000 + static_cast<unsigned>(day.month()) * 100 +
         static_cast<unsigned>(day.day());
}

}  // namespace hcpnet::dns
