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

}  // namespace hcpnet::python
