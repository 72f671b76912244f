// SPDX-License-Identifier: Apache-2.0
#include "callback.hpp"

#include <pybind11/stl.h>

#include <boost/system/errc.hpp>
#include <variant>
#include <vector>

#include "casters.hpp"

namespace py = pybind11;

namespace hcpnet::python {

thread_local const Callback::Inside* Callback::innermost = nullptr;

bool Callback::is_inside(const void* owner) noexcept {
  for (const Inside* at = innermost; at != nullptr; at = at->outer)
    if (at->owner == owner) return true;
  return false;
}

void Callback::call(const std::function<void(const py::object& function)>& with) noexcept {
  const py::object function = function_;  // its own reference: close() may come while the call runs
  if (!function) return;
  try {
    with(function);
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable(function);
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    PyErr_WriteUnraisable(function.ptr());
  }
}

proxy::Resolve resolver_of(std::shared_ptr<Callback> callback) {
  if (!callback) return {};
  return
      [function = std::move(callback)](const std::string& host, std::uint16_t port, const proxy::Resolved& resolved) {
        const auto answer = function->ask<std::variant<proxy::Resolution, std::vector<Endpoint>>>(
            "a sequence of Endpoint, or a Resolution,", host, port);
        if (!answer) return resolved(boost::system::errc::make_error_code(boost::system::errc::host_unreachable));
        resolved(std::visit([](const auto& is) { return proxy::Resolution(is); }, *answer));
      };
}

}  // namespace hcpnet::python
