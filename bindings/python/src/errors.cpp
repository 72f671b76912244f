// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include <boost/system/system_error.hpp>
#include <exception>
#include <hcpnet/text/patch.hpp>
#include <hcpnet/tls/error.hpp>
#include <string>
#include <string_view>

#include "runtime/error_text.hpp"
#include "text.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

// Kept for the life of the process: an exception may be on its way while modules are torn down.
PyObject* error_class = nullptr;
PyObject* wire_error_class = nullptr;
PyObject* spec_error_class = nullptr;
PyObject* patch_error_class = nullptr;

PyObject* make_class(py::module_& m, const char* name, const char* doc, const py::tuple& bases,
                     const py::dict& attributes) {
  PyObject* made =
      PyErr_NewExceptionWithDoc(("hcpnet." + std::string(name)).c_str(), doc, bases.ptr(), attributes.ptr());
  if (made == nullptr) throw py::error_already_set();
  m.attr(name) = py::reinterpret_borrow<py::object>(made);
  return made;
}

void raise(PyObject* type, const py::str& message, const char* attribute, const py::object& value) {
  const py::object error = py::reinterpret_borrow<py::object>(type)(message);
  error.attr(attribute) = value;
  PyErr_SetObject(type, error.ptr());
}

/// The enumerator's name: what the documentation calls the reason, and what a program compares with.
std::string wire_code(const boost::system::error_code& code) {
  if (code.category() == tls::error_category()) {
    switch (static_cast<tls::Errc>(code.value())) {
      case tls::Errc::need_more:
        return "need_more";
      case tls::Errc::not_tls:
        return "not_tls";
      case tls::Errc::malformed:
        return "malformed";
      case tls::Errc::too_large:
        return "too_large";
    }
  }
  return code.message();
}

bool is_system(const boost::system::error_code& code) {
  return code.category() == boost::system::system_category() || code.category() == boost::system::generic_category();
}

void raise_patch_error(const text::PatchError& reason) {
  const py::object error = py::reinterpret_borrow<py::object>(patch_error_class)(printed_text(reason.to_string()));
  error.attr("operation") = reason.operation ? py::object(py::int_(*reason.operation)) : py::object(py::none());
  error.attr("op") = printed_text(reason.op);
  error.attr("pointer") = printed_text(reason.pointer);
  error.attr("reason") = printed_text(reason.reason);
  PyErr_SetObject(patch_error_class, error.ptr());
}

void raise_system_error(const boost::system::system_error& error) {
  const boost::system::error_code& code = error.code();
  const py::str message = printed_text(runtime::error_text(error));
  if (is_system(code))  // OSError(errno, text) chooses PermissionError, FileNotFoundError and so on by itself
    PyErr_SetObject(PyExc_OSError, py::make_tuple(code.value(), message).ptr());
  else if (std::string_view(code.category().name()).starts_with("hcpnet."))
    raise(wire_error_class, message, "code", py::str(wire_code(code)));
  else
    PyErr_SetObject(error_class, message.ptr());
}

void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const SpecError& error) {
    raise(spec_error_class, printed_text(error.what()), "diagnostics", to_list(error.diagnostics()));
  } catch (const text::PatchFailure& failure) {
    raise_patch_error(failure.error());
  } catch (const boost::system::system_error& error) {
    raise_system_error(error);
  } catch (const UseError& error) {
    PyErr_SetObject(error_class, printed_text(error.what()).ptr());
  }
}

}  // namespace

py::list to_list(const Diagnostics& diagnostics) {
  py::list list;
  for (const Diagnostic& diagnostic : diagnostics) list.append(py::cast(diagnostic));
  return list;
}

void bind_errors(py::module_& m) {
  const py::handle exception(PyExc_Exception);
  const py::handle value_error(PyExc_ValueError);
  error_class = make_class(m, "Error", "Base of the errors of hcpnet. Errors of the operating system are OSError.",
                           py::make_tuple(exception), {});
  wire_error_class =
      make_class(m, "WireError", "Bytes from outside that cannot be read. ``code`` is the reason, from a closed set.",
                 py::make_tuple(py::handle(error_class), value_error), py::dict(py::arg("code") = ""));
  spec_error_class =
      make_class(m, "SpecError", "Specs with problems. ``diagnostics`` holds every one of them, warnings too.",
                 py::make_tuple(py::handle(error_class), value_error), py::dict(py::arg("diagnostics") = py::list()));
  patch_error_class = make_class(
      m, "PatchError", "A patch that was not applied. ``operation`` counts from 0.",
      py::make_tuple(py::handle(error_class), value_error),
      py::dict(py::arg("operation") = py::none(), py::arg("op") = "", py::arg("pointer") = "", py::arg("reason") = ""));
  py::register_exception_translator(&translate);
}

}  // namespace hcpnet::python
