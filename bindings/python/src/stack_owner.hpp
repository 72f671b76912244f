// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>
#include <sys/types.h>

#include <atomic>
#include <hcpnet/stack.hpp>
#include <memory>
#include <mutex>
#include <optional>

#include "interpreter_end.hpp"

namespace hcpnet::python {

/// A Python callable that the thread of a stack calls. Whatever it raises goes to sys.unraisablehook; nothing leaves
/// it. Everything but construction of an empty one needs the GIL or takes it.
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
  /// What it returns for these arguments; nullopt when it raises, returns something else, or is not called any more.
  template <class Answer, class... Values>
  std::optional<Answer> ask(const Values&... values) noexcept {
    if (is_closed_ || is_interpreter_ending()) return {};
    const pybind11::gil_scoped_acquire gil;
    const Inside inside(owner_);
    std::optional<Answer> answer;
    call([&](const pybind11::object& function) { answer = function(values...).template cast<Answer>(); });
    return answer;
  }
  /// Lets go of the function; later calls do nothing. Needs the GIL.
  void close() {
    is_closed_ = true;
    function_ = pybind11::object();
  }
  /// Whether this thread is inside a callback of `owner`.
  static bool is_inside(const void* owner) noexcept { return current_owner == owner; }

 private:
  struct Inside {
    explicit Inside(const void* owner) noexcept { current_owner = owner; }
    ~Inside() { current_owner = nullptr; }

   private:
    InsideCallback inside_;
  };
  void call(const std::function<void(const pybind11::object& function)>& with) noexcept;

  static thread_local const void* current_owner;
  pybind11::object function_;
  const void* owner_;
  std::atomic<bool> is_closed_ = false;
};

/// A Stack as Python needs it: every wait is without the GIL, and no order of calls, threads, garbage collection, fork
/// or interpreter exit makes it hang.
class StackOwner {
 public:
  /// What of Python a stack calls; each may be None.
  struct Functions {
    pybind11::object on_event, log, access_log, resolve;
  };
  StackOwner(StackOptions options, Functions functions);
  ~StackOwner();
  StackOwner(const StackOwner&) = delete;
  StackOwner& operator=(const StackOwner&) = delete;

  void start();
  void stop();

  /// Runs `work` on the stack without the GIL, one call at a time: a call must not meet the end of the thread that
  /// would answer it.
  template <class Work>
  auto with(Work work) {
    require_usable();
    const WithoutGil no_gil;
    const std::lock_guard lock(mutex_);
    return work(*stack_);
  }
  /// The same, with the result as a Python object.
  template <class Work>
  pybind11::object answer(Work work) {
    const PythonCall call;
    return pybind11::cast(with(std::move(work)));
  }
  /// Reads files again; other calls are answered meanwhile.
  Result<void, Diagnostics> reload();

 private:
  enum class State : std::uint8_t { idle, started, stopped };

  void require_usable() const;
  void close_callbacks();
  [[nodiscard]] bool is_forked() const;

  const pid_t process_;
  std::shared_ptr<Callback> on_event_, log_, access_log_, resolve_;
  std::unique_ptr<Stack> stack_;
  std::mutex mutex_;           ///< never waited for with the GIL held
  State state_ = State::idle;  ///< under mutex_
};

}  // namespace hcpnet::python
