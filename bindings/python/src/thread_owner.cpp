// SPDX-License-Identifier: Apache-2.0
#include "thread_owner.hpp"

#include <unistd.h>

#include <set>

namespace py = pybind11;

namespace hcpnet::python {
namespace {

/// Those that exist, guarded by the GIL.
std::set<ThreadOwner*>& owners() {
  static auto* set = new std::set<ThreadOwner*>;  // never destroyed: an owner may outlive every static object
  return *set;
}

void stop_all() {
  while (!owners().empty()) {
    ThreadOwner* owner = *owners().begin();
    owners().erase(owner);
    owner->stop();
  }
}

/// At interpreter exit. Callbacks that run are waited for, and those of the stop itself are made; what another thread
/// has made meanwhile is stopped without.
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

}  // namespace

ThreadOwner::ThreadOwner(const char* kind) : kind_(kind), process_(::getpid()) {}

std::shared_ptr<Callback> ThreadOwner::make_callback(py::object function) {
  if (function.is_none()) return nullptr;
  if (PyCallable_Check(function.ptr()) == 0) throw py::type_error("a callback must be callable or None");
  return callbacks_.emplace_back(std::make_shared<Callback>(std::move(function), this));
}

void ThreadOwner::close_callbacks() {
  for (const auto& callback : callbacks_) callback->close();
}

bool ThreadOwner::is_forked() const {
  return ::getpid() != process_;
}

void ThreadOwner::require_usable() const {
  if (is_forked())
    throw UseError("this " + kind_ + " belongs to the process that made it; after a fork make a new one");
  if (is_inside_callback()) throw UseError("a callback must not call the " + kind_ + " that called it");
}

void ThreadOwner::join() {
  stop_all_at_exit();
  owners().insert(this);
}

void ThreadOwner::leave() {
  owners().erase(this);
}

}  // namespace hcpnet::python
