// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace hcpnet::runtime {

/// An event loop with a thread of its own. All but abandon() and the destructor may be called from any thread. What
/// runs on the loop is destroyed before it.
class LoopThread {
 public:
  LoopThread() = default;
  ~LoopThread() { abandon(); }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  [[nodiscard]] boost::asio::io_context& io() noexcept { return io_; }
  [[nodiscard]] bool is_here() { return io_.get_executor().running_in_this_thread(); }

  void start() {
    const std::lock_guard lock(mutex_);
    thread_ = std::thread([this] { io_.run(); });
  }
  /// Does `work` on the thread some time. False when there is no thread, and nothing to guard against.
  template <class Work>
  bool post(Work work) {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) return false;
    boost::asio::post(io_, std::move(work));
    return true;
  }
  /// Runs `work` on the thread and brings its result, or its exception, back; runs it here when there is no thread.
  template <class Work>
  auto call(Work work) {
    if (is_here()) return work();
    std::packaged_task<decltype(work())()> task([&work] { return work(); });
    auto result = task.get_future();
    if (!post([&task] { task(); })) return work();
    return result.get();
  }
  /// Also does what was posted and not begun, so that nobody waits for ever.
  void end() {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) return;
    guard_.reset();
    io_.stop();
    thread_.join();
    io_.restart();
    io_.poll();
  }
  /// Ends the thread, and leaves what was posted. Nobody calls anything else meanwhile.
  void abandon() {
    if (!thread_.joinable()) return;
    io_.stop();
    thread_.join();
  }

 private:
  boost::asio::io_context io_{1};
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> guard_{io_.get_executor()};
  std::mutex mutex_;  ///< for `thread_` as a thing that is there or not
  std::thread thread_;
};

}  // namespace hcpnet::runtime
