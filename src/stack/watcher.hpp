// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/timer_queue.hpp"

namespace hcpnet {

/// Tells when something changed in the folders that hold the given files.
///
/// Folders, not files: editors replace a file by rename, and a ConfigMap mount swaps the link `..data` beside it. One
/// call for a burst of changes, `kQuiet` after its last; whether the content differs is for the caller to see.
class FileWatcher : public std::enable_shared_from_this<FileWatcher> {
 public:
  static constexpr std::chrono::milliseconds kQuiet{100};

  /// Throws boost::system::system_error when inotify is not to be had or a folder can't be watched.
  FileWatcher(boost::asio::any_io_executor executor, runtime::TimerQueue& timers, const std::vector<std::string>& paths,
              std::function<void()> changed);
  void start() { read(); }
  void stop();

 private:
  void read();
  void settle();

  boost::asio::posix::stream_descriptor inotify_;
  runtime::TimerQueue& timers_;
  std::function<void()> changed_;
  std::array<char, 4096> events_;
  std::uint64_t burst_ = 0;  ///< a later event makes an earlier wake-up void
};

}  // namespace hcpnet
