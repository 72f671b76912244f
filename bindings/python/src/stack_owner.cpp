// SPDX-License-Identifier: Apache-2.0
#include "stack_owner.hpp"

#include <pybind11/stl.h>
#include <unistd.h>

#include <boost/system/errc.hpp>
#include <set>
#include <thread>
#include <utility>
#include <variant>

#include "casters.hpp"
#include "errors.hpp"
#include "text.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

/// Stacks that exist, guarded by the GIL.
std::set<StackOwner*>& owners() {
  static auto* set = new std::set<StackOwner*>;  // never destroyed: a stack may outlive every static object
  return *set;
}

void stop_all() {
  while (!owners().empty()) {
    StackOwner* owner = *owners().begin();
    owners().erase(owner);
    owner->stop();
  }
}

/// At interpreter exit. Callbacks that run are waited for, and those of the stop itself are made; a stack that another
/// thread has made meanwhile is stopped without.
void end_all() {
  expect_interpreter_end();
  stop_all();
  begin_interpreter_end();
  stop_all();
}

void stop_all_at_exit() {
  static bool registered = false;
  if (std::exchange(registered, true)) return;
  py::module_::import("atexit").attr("register")(py::cpp_function(&end_all));
}

std::shared_ptr<Callback> make_callback(py::object function, const void* owner) {
  if (function.is_none()) return nullptr;
  if (PyCallable_Check(function.ptr()) == 0) throw py::type_error("a callback must be callable or None");
  return std::make_shared<Callback>(std::move(function), owner);
}

proxy::Resolve resolve_with(const std::shared_ptr<Callback>& function) {
  return [function](const std::string& host, std::uint16_t port, const proxy::Resolved& resolved) {
    const auto answer = function->ask<std::variant<proxy::Resolution, std::vector<Endpoint>>>(host, port);
    if (!answer) return resolved(boost::system::errc::make_error_code(boost::system::errc::host_unreachable));
    resolved(std::visit([](const auto& is) { return proxy::Resolution(is); }, *answer));
  };
}

}  // namespace

thread_local const void* Callback::current_owner = nullptr;

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

StackOwner::StackOwner(StackOptions options, Functions functions)
    : process_(::getpid()),
      on_event_(make_callback(std::move(functions.on_event), this)),
      log_(make_callback(std::move(functions.log), this)),
      access_log_(make_callback(std::move(functions.access_log), this)),
      resolve_(make_callback(std::move(functions.resolve), this)) {
  if (on_event_) options.on_event = [callback = on_event_](const StackEvent& event) { (*callback)(event); };
  if (log_) options.log = [callback = log_](const LogRecord& record) { (*callback)(record); };
  if (access_log_) options.access_log = [callback = access_log_](const std::string& line) { (*callback)(line); };
  if (resolve_) options.resolve = resolve_with(resolve_);
  stack_ = std::make_unique<Stack>(std::move(options));
  stop_all_at_exit();
  owners().insert(this);
}

StackOwner::~StackOwner() {
  owners().erase(this);
  close_callbacks();
  if (is_forked()) {
    static_cast<void>(stack_.release());  // its thread exists in the parent only; there is nobody to wait for
  } else if (Callback::is_inside(this)) {
    std::thread([stack = std::move(stack_)] {}).detach();  // a thread cannot wait for its own end
  } else {
    const WithoutGil no_gil;
    stack_.reset();
  }
}

void StackOwner::start() {
  const PythonCall call;
  require_usable();
  const WithoutGil no_gil;
  const std::lock_guard lock(mutex_);
  if (state_ == State::started) throw UseError("the stack runs already");
  if (state_ == State::stopped) throw UseError("a stopped stack does not start again; make a new one");
  stack_->start();
  state_ = State::started;
}

Result<void, Diagnostics> StackOwner::reload() {
  require_usable();
  const WithoutGil no_gil;
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::started) return stack_->reload();
  }
  return stack_->reload();
}

void StackOwner::stop() {
  if (is_forked()) return;
  const PythonCall call;
  require_usable();
  {
    const WithoutGil no_gil;
    const std::lock_guard lock(mutex_);
    if (std::exchange(state_, State::stopped) == State::started) stack_->stop();
  }
  // A callback often refers to what holds the stack; Python's garbage collector cannot see through us, so the circle is
  // cut here.
  close_callbacks();
}

void StackOwner::close_callbacks() {
  for (const auto& callback : {on_event_, log_, access_log_, resolve_})
    if (callback) callback->close();
}

bool StackOwner::is_forked() const {
  return ::getpid() != process_;
}

void StackOwner::require_usable() const {
  if (is_forked()) throw UseError("this stack belongs to the process that made it; after a fork make a new one");
  if (Callback::is_inside(this)) throw UseError("a callback must not call the stack that called it");
}

}  // namespace hcpnet::python
