// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/chrono.h>

#include <chrono>
#include <cstdint>

/// Every file that passes a time to or from Python includes this header instead of <pybind11/chrono.h> (one definition
/// rule).
namespace pybind11::detail {

/// Python's timedelta has 2.7 million years, which do not fit in the microseconds in which pybind11 counts them: long
/// ones would become any other.
template <class Duration>
class whole_duration_caster : public duration_caster<Duration> {
 public:
  bool load(handle source, bool convert) {
    if (!source) return false;
    if (!isinstance(source, module_::import("datetime").attr("timedelta")))
      return duration_caster<Duration>::load(source, convert);
    const auto part = [source](const char* which) { return source.attr(which).cast<std::int64_t>(); };
    this->value = std::chrono::floor<Duration>(
        std::chrono::milliseconds(part("days") * 86'400'000 + part("seconds") * 1000 + part("microseconds") / 1000));
    return true;
  }
};

template <>
class type_caster<std::chrono::milliseconds> : public whole_duration_caster<std::chrono::milliseconds> {};
template <>
class type_caster<std::chrono::seconds> : public whole_duration_caster<std::chrono::seconds> {};

}  // namespace pybind11::detail
