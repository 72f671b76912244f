// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>

#include <chrono>

namespace hcpnet::python {

/// A datetime.datetime with its timezone.
inline pybind11::object utc(std::chrono::sys_seconds time) {
  const pybind11::module_ datetime = pybind11::module_::import("datetime");
  return datetime.attr("datetime")
      .attr("fromtimestamp")(time.time_since_epoch().count(), datetime.attr("timezone").attr("utc"));
}

/// The other way. A datetime without a timezone is local time, which it knows itself. Throws ValueError for one that
/// the system's clock does not hold.
inline std::chrono::system_clock::time_point from_datetime(const pybind11::object& datetime) {
  constexpr double kMostSeconds = 9.2e9;  // in nanoseconds all that 63 bits hold
  const double seconds = datetime.attr("timestamp")().cast<double>();
  if (!(seconds > -kMostSeconds && seconds < kMostSeconds))
    throw pybind11::value_error("a time of the years 1679 to 2260 is needed");
  using Clock = std::chrono::system_clock;
  return Clock::time_point(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
}

/// None is the system's clock.
inline std::chrono::system_clock::time_point time_or_now(const pybind11::object& now) {
  return now.is_none() ? std::chrono::system_clock::now() : from_datetime(now);
}

}  // namespace hcpnet::python
