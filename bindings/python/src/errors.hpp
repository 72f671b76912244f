// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>

#include <hcpnet/diagnostic.hpp>
#include <stdexcept>

namespace hcpnet::python {

/// Wrong use of an object, told to Python as hcpnet.Error.
struct UseError : std::logic_error {
  using std::logic_error::logic_error;
};

/// The exceptions and the one translator. Precondition: bind_diagnostic() was called.
void bind_errors(pybind11::module_& m);

/// A list of Diagnostic objects.
pybind11::list to_list(const Diagnostics& diagnostics);

}  // namespace hcpnet::python
