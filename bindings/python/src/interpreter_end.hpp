// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>

/// When the interpreter ends, CPython ends every other thread that asks for the GIL where it stands, and from C++ code
/// that takes the whole process with it. So threads that come back to Python then are held for ever instead; the
/// process ends without them.
namespace hcpnet::python {

/// A stretch of C++ code that runs Python code, or returns to it. Made and ended with the GIL held; the end of the
/// interpreter waits for it.
class PythonCall {
 public:
  /// Once the interpreter ends it returns only on the thread that ends it; inside a callback it throws UseError.
  PythonCall();
  ~PythonCall();
  PythonCall(const PythonCall&) = delete;
  PythonCall& operator=(const PythonCall&) = delete;

 private:
  int exceptions_;  ///< in flight before it
};

/// A callback runs on this thread.
class InsideCallback {
 public:
  InsideCallback() noexcept;
  ~InsideCallback();
  InsideCallback(const InsideCallback&) = delete;
  InsideCallback& operator=(const InsideCallback&) = delete;
};

/// A stretch without the GIL. Its end does not return once the interpreter ends, but on the thread that ends it.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

/// Whether the interpreter ends: then no callback is made any more.
[[nodiscard]] bool is_interpreter_ending();

/// Stacks and engines are about to be stopped because the interpreter ends. A call that fails on another thread from
/// now on, unless inside a callback, is held: nobody is left to whom the traceback of a daemon thread would say
/// anything, and to print it while the interpreter ends is fatal in CPython. Needs the GIL.
void expect_interpreter_end();

/// From now on no thread but this one gets into Python code through us; waits for those that are there, a few seconds
/// at most: who comes later is held. Needs the GIL.
void begin_interpreter_end();

}  // namespace hcpnet::python
