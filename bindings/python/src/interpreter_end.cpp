// SPDX-License-Identifier: Apache-2.0
#include "interpreter_end.hpp"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "errors.hpp"

namespace hcpnet::python {
namespace {

/// Never destroyed: threads may be held until the process is gone.
struct Ending {
  std::mutex mutex;  ///< nobody waits for the GIL while it is held
  std::condition_variable changed;
  std::size_t inside = 0;  ///< stretches of code that end in Python
  bool is_expected = false;
  bool is_ending = false;
  std::thread::id ender;  ///< with either
};

Ending* the_ending = new Ending;
thread_local std::size_t calls_of_this_thread = 0;
thread_local std::size_t callbacks_of_this_thread = 0;

/// In a forked child the other threads, and whatever they held, are gone.
void forget_other_threads() {
  auto* fresh = new Ending;
  fresh->inside = calls_of_this_thread;
  the_ending = fresh;
}

const int registered = ::pthread_atfork(nullptr, nullptr, forget_other_threads);

[[noreturn]] void hold_for_ever() {
  for (;;) ::pause();
}

[[noreturn]] void hold_for_ever_without_gil() {
  static_cast<void>(PyEval_SaveThread());
  hold_for_ever();
}

}  // namespace

PythonCall::PythonCall() : exceptions_(std::uncaught_exceptions()) {
  {
    const std::lock_guard lock(the_ending->mutex);
    if (!the_ending->is_ending || the_ending->ender == std::this_thread::get_id()) {
      ++the_ending->inside;
      ++calls_of_this_thread;
      return;
    }
  }
  // The stack whose thread this is could not be stopped any more.
  if (callbacks_of_this_thread > 0) throw UseError("the interpreter is ending");
  hold_for_ever_without_gil();
}

PythonCall::~PythonCall() {
  {
    const std::lock_guard lock(the_ending->mutex);
    --the_ending->inside;
    --calls_of_this_thread;
    the_ending->changed.notify_all();
    const bool has_failed = std::uncaught_exceptions() > exceptions_;
    if (!has_failed || !the_ending->is_expected || callbacks_of_this_thread > 0 ||
        the_ending->ender == std::this_thread::get_id())
      return;
  }
  hold_for_ever_without_gil();
}

InsideCallback::InsideCallback() noexcept {
  ++callbacks_of_this_thread;
}

InsideCallback::~InsideCallback() {
  --callbacks_of_this_thread;
}

WithoutGil::WithoutGil() : state_(PyEval_SaveThread()) {}

WithoutGil::~WithoutGil() {
  {
    std::unique_lock lock(the_ending->mutex);
    if (the_ending->is_ending && the_ending->ender != std::this_thread::get_id() && callbacks_of_this_thread == 0) {
      the_ending->inside -= calls_of_this_thread;
      the_ending->changed.notify_all();
      lock.unlock();
      hold_for_ever();
    }
    ++the_ending->inside;
  }
  PyEval_RestoreThread(state_);
  const std::lock_guard lock(the_ending->mutex);
  --the_ending->inside;
  the_ending->changed.notify_all();
}

bool is_interpreter_ending() {
  const std::lock_guard lock(the_ending->mutex);
  return the_ending->is_ending;
}

void expect_interpreter_end() {
  const std::lock_guard lock(the_ending->mutex);
  the_ending->is_expected = true;
  the_ending->ender = std::this_thread::get_id();
}

void begin_interpreter_end() {
  constexpr std::chrono::seconds kPatience{2};
  PyThreadState* state = PyEval_SaveThread();
  {
    std::unique_lock lock(the_ending->mutex);
    the_ending->is_ending = true;
    the_ending->ender = std::this_thread::get_id();
    the_ending->changed.wait_for(lock, kPatience, [] { return the_ending->inside <= calls_of_this_thread; });
  }
  PyEval_RestoreThread(state);
}

}  // namespace hcpnet::python
