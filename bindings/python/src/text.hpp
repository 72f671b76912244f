// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

namespace hcpnet::python {

/// Bytes of a peer as str, whatever they are: what is not UTF-8 becomes surrogates, so that
/// `.encode(errors="surrogateescape")` has them back, as with file names (PEP 383).
inline pybind11::str peer_text(std::string_view bytes) {
  PyObject* text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
  if (text == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::str>(text);
}

/// What peer_text() was made of. Raises UnicodeEncodeError, a ValueError, for any other surrogate.
inline std::string peer_bytes(const pybind11::str& text) {
  PyObject* bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape");
  if (bytes == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::bytes>(bytes).cast<std::string>();
}

/// A str as UTF-8. Raises UnicodeEncodeError, a ValueError, where it holds half of a surrogate pair; a cast would end
/// in a RuntimeError.
inline std::string utf8_text(const pybind11::str& text) {
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes == nullptr) throw pybind11::error_already_set();
  return {bytes, static_cast<std::size_t>(size)};
}

/// Text for people to read: what is not UTF-8 becomes \xHH.
inline pybind11::str printed_text(std::string_view bytes) {
  PyObject* text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "backslashreplace");
  if (text == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::str>(text);
}

inline pybind11::bytes raw_bytes(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

}  // namespace hcpnet::python
