// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>

#include <atomic>
#include <functional>
#include <hcpnet/proxy/engine.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "interpreter_end.hpp"

namespace hcpnet::python {

/// A Python callable that a thread of ours calls. Whatever it raises goes to sys.unraisablehook; nothing leaves it.
/// Everything but construction of an empty one needs the GIL or takes it.
class Callback {
 public:
  Callback(pybind11::object function, const void* owner) : function_(std::move(function)), owner_(owner) {}

  template <class Value>
  void operator()(const Value& value) noexcept {
    if (is_closed_ || is_interpreter_ending()) return;
    const pybind11::gil_scoped_acquire gil;
    const Inside inside(owner_);
    call([&](const pybind11::object& function) { function(pybind11::cast(value)); });
  }
  /// What it returns for these arguments; nullopt when it raises, returns something else than what is `wanted`, or is
  /// not called any more.
  template <class Answer, class... Values>
  std::optional<Answer> ask(const char* wanted, const Values&... values) noexcept {
    if (is_closed_ || is_interpreter_ending()) return {};
    const pybind11::gil_scoped_acquire gil;
    const Inside inside(owner_);
    std::optional<Answer> answer;
    call([&](const pybind11::object& function) {
      const pybind11::object returned = function(values...);
      try {
        answer = returned.template cast<Answer>();
      } catch (const pybind11::builtin_exception&) {  // names classes of C++, or nothing at all
        PyErr_Format(PyExc_TypeError, "returned a %s: %s is needed", Py_TYPE(returned.ptr())->tp_name, wanted);
        throw pybind11::error_already_set();
      }
    });
    return answer;
  }
  /// Lets go of the function; later calls do nothing. Needs the GIL.
  void close() {
    is_closed_ = true;
    function_ = pybind11::object();
  }
  /// Whether this thread is inside a callback of `owner`.
  static bool is_inside(const void* owner) noexcept;

 private:
  /// One of the callbacks that run on this thread. A callback that starts another engine may be called by that.
  struct Inside {
    explicit Inside(const void* of) noexcept : owner(of), outer(std::exchange(innermost, this)) {}
    ~Inside() { innermost = outer; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    const void* const owner;
    const Inside* const outer;

   private:
    InsideCallback inside_;
  };
  void call(const std::function<void(const pybind11::object& function)>& with) noexcept;

  static thread_local const Inside* innermost;
  pybind11::object function_;
  const void* owner_;
  std::atomic<bool> is_closed_ = false;
};

/// Calls it with each value; empty where there is none.
template <class Value>
std::function<void(const Value&)> sink_of(std::shared_ptr<Callback> callback) {
  if (!callback) return {};
  return [callback = std::move(callback)](const Value& value) { (*callback)(value); };
}

/// Asks it for the endpoints of host names; empty where there is none.
[[nodiscard]] proxy::Resolve resolver_of(std::shared_ptr<Callback> callback);

}  // namespace hcpnet::python
