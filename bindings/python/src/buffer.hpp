// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>

#include <cstdint>
#include <span>

namespace hcpnet::python {

/// The bytes of a bytes-like object, held (a bytearray cannot be resized meanwhile) until the end of the scope. Needs
/// the GIL throughout. Throws what Python says: TypeError for other objects, BufferError for memory that is not one
/// contiguous block.
class Buffer {
 public:
  explicit Buffer(pybind11::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw pybind11::error_already_set();
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] std::span<const std::uint8_t> bytes() const {
    return {static_cast<const std::uint8_t*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

}  // namespace hcpnet::python
