// SPDX-License-Identifier: Apache-2.0
#include <pybind11/native_enum.h>

#include <hcpnet/diagnostic.hpp>

#include "bind.hpp"
#include "text.hpp"

namespace py = pybind11;

namespace hcpnet::python {

void bind_diagnostic(py::module_& m) {
  py::native_enum<Severity>(m, "Severity", "enum.Enum", "How bad a finding is.")
      .value("info", Severity::info)
      .value("warning", Severity::warning)
      .value("error", Severity::error)
      .finalize();

  const auto text = [](std::string Diagnostic::* member) {
    return py::cpp_function([member](const Diagnostic& d) { return printed_text(d.*member); });
  };
  py::class_<Diagnostic>(m, "Diagnostic", "One finding about what a user wrote, complete enough to mend it.")
      .def_readonly("severity", &Diagnostic::severity,
                    "Severity: an error stops the work; an info is the lint's alone.")
      .def_property_readonly("file", text(&Diagnostic::file), "str: as the user named it; \"-\" is standard input.")
      .def_readonly("line", &Diagnostic::line, "int: from 1 over the whole file; 0 when unknown.")
      .def_readonly("column", &Diagnostic::column, "int: from 1, in characters; 0 when unknown.")
      .def_property_readonly("path", text(&Diagnostic::path),
                             "str: JSON pointer (RFC 6901) from the root of the document.")
      .def_property_readonly("code", text(&Diagnostic::code),
                             "str: the kind of problem, stable, such as \"unknown-field\".")
      .def_property_readonly("message", text(&Diagnostic::message), "str: what is wrong, one sentence.")
      .def_property_readonly("found", text(&Diagnostic::found), "str: the offending text; may be empty.")
      .def_property_readonly("expected", text(&Diagnostic::expected), "str: what would have been right; may be empty.")
      .def("__str__", [](const Diagnostic& d) { return printed_text(d.to_string()); })
      .def("__repr__",
           [](const Diagnostic& d) { return py::str("<Diagnostic {!r}>").format(printed_text(d.to_string())); });
}

}  // namespace hcpnet::python
