// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "callback.hpp"
#include "errors.hpp"
#include "interpreter_end.hpp"

namespace hcpnet::python {

/// What a Stack and an Engine have in common in Python: they serve on a thread of their own, every wait is without the
/// GIL, and no order of calls, threads, garbage collection, fork or interpreter exit makes them hang.
class ThreadOwner {
 public:
  virtual ~ThreadOwner() = default;
  ThreadOwner(const ThreadOwner&) = delete;
  ThreadOwner& operator=(const ThreadOwner&) = delete;

  /// Idempotent. Called at interpreter exit as well.
  virtual void stop() = 0;

 protected:
  enum class State : std::uint8_t { idle, started, stopped };

  /// `kind`: what error messages call it.
  explicit ThreadOwner(const char* kind);

  /// nullptr for None.
  std::shared_ptr<Callback> make_callback(pybind11::object function);
  void close_callbacks();
  [[nodiscard]] bool is_inside_callback() const noexcept { return Callback::is_inside(this); }
  [[nodiscard]] bool is_forked() const;
  void require_usable() const;
  /// From then on it is stopped at interpreter exit, until leave().
  void join();
  void leave();

  /// Goes from idle to started by `work`, without the GIL.
  template <class Work>
  void begin(Work work) {
    const PythonCall call;
    require_usable();
    const WithoutGil no_gil;
    const std::lock_guard lock(mutex_);
    if (state_ == State::started) throw UseError("the " + kind_ + " runs already");
    if (state_ == State::stopped) throw UseError("a stopped " + kind_ + " does not start again; make a new one");
    work();
    state_ = State::started;
  }
  /// Stops it by `work`, without the GIL.
  template <class Work>
  void end(Work work) {
    if (is_forked()) return;
    const PythonCall call;
    require_usable();
    {
      const WithoutGil no_gil;
      work();
    }
    // A callback often refers to what holds the owner; Python's garbage collector cannot see through us, so the circle
    // is cut here.
    close_callbacks();
  }

  std::mutex mutex_;           ///< never waited for with the GIL held
  State state_ = State::idle;  ///< under mutex_

 private:
  const std::string kind_;
  const pid_t process_;
  std::vector<std::shared_ptr<Callback>> callbacks_;
};

/// The owner of a `Served`, whose destructor closes everything at once and waits for its thread.
template <class Served>
class OwnerOf : public ThreadOwner {
 public:
  ~OwnerOf() override {
    leave();
    close_callbacks();
    if (is_forked()) {
      static_cast<void>(served_.release());  // its thread exists in the parent only; there is nobody to wait for
    } else if (is_inside_callback()) {
      std::thread([served = std::move(served_)] {}).detach();  // a thread cannot wait for its own end
    } else {
      const WithoutGil no_gil;
      served_.reset();
    }
  }

  /// Runs `work` on what is served without the GIL, one call at a time: a call must not meet the end of the thread that
  /// would answer it.
  template <class Work>
  auto with(Work work) {
    require_usable();
    const WithoutGil no_gil;
    const std::lock_guard lock(mutex_);
    return work(*served_);
  }
  /// The same, with the result as a Python object.
  template <class Work>
  pybind11::object answer(Work work) {
    const PythonCall call;
    return pybind11::cast(with(std::move(work)));
  }

 protected:
  explicit OwnerOf(const char* kind) : ThreadOwner(kind) {}
  void serve(std::unique_ptr<Served> served) {
    served_ = std::move(served);
    join();
  }

  std::unique_ptr<Served> served_;
};

/// It serves inside a `with` block of Python.
template <class Owner>
void def_with_block(pybind11::class_<Owner>& owner) {
  owner
      .def("__enter__",
           [](pybind11::object self) {
             self.cast<Owner&>().start();
             return self;
           })
      .def(
          "__exit__",
          [](Owner& ended, const pybind11::object&, const pybind11::object&, const pybind11::object&) { ended.stop(); },
          pybind11::arg("kind"), pybind11::arg("error"), pybind11::arg("traceback"));
}

}  // namespace hcpnet::python
