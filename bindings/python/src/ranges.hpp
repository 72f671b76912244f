// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "spec/fields.hpp"

/// Arguments that may have some values only, those that the fields of the specs may have. Others are a ValueError that
/// names the argument.
namespace hcpnet::python {

/// A whole number.
template <class Number>
Number checked(const char* argument, std::int64_t value, spec::Interval range) {
  if (value < range.first || value > range.last)
    throw pybind11::value_error(std::string(argument) + ": " + std::to_string(value) + " is not from " +
                                std::to_string(range.first) + " to " + std::to_string(range.last));
  return static_cast<Number>(value);
}

/// A time. The longest one is 68 years, with which clocks can still be added up.
inline std::chrono::milliseconds checked(const char* argument, std::chrono::milliseconds value,
                                         std::chrono::milliseconds least = std::chrono::milliseconds(1)) {
  constexpr std::chrono::seconds kLongest(spec::kTimeoutSeconds.last);
  if (value < least || value > kLongest)
    throw pybind11::value_error(std::string(argument) + ": a time of " + std::to_string(least.count()) + " ms to " +
                                std::to_string(kLongest.count()) + " s is needed");
  return value;
}

}  // namespace hcpnet::python
