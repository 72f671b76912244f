// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <hcpnet/log.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/timer_queue.hpp"

namespace hcpnet {

/// Tells when something changed in the folders that hold the given files.
///
/// Folders, not files: editors replace a file by rename, and a ConfigMap mount swaps the link `..data` beside it. Where
/// a file is a link, the folder that it leads to is watched as well. One call for a burst of changes, `kQuiet` after
/// its last or `kLongest` after its first; whether the content differs is for the caller to see.
///
/// What is watched is the folder that stands at a path now: one that was moved away, deleted or replaced is let go, and
/// the one that takes its place is found by the next event, or within `kRecheck`.
class FileWatcher : public std::enable_shared_from_this<FileWatcher> {
 public:
  static constexpr std::chrono::milliseconds kQuiet{100};
  static constexpr std::chrono::seconds kLongest{1};
  static constexpr std::chrono::seconds kRecheck{2};

  /// Throws boost::system::system_error when inotify is not to be had or a folder can't be watched.
  FileWatcher(boost::asio::any_io_executor executor, runtime::TimerQueue& timers, const std::vector<std::string>& paths,
              std::function<void()> changed, Logger log);
  void start();
  void stop();
  /// Files beside those of the constructor, until the next call. What their folders lack may come: that is no error.
  void also_watch(std::vector<std::string> paths);
  /// Sees to it that what stands at each path is watched. True when something else stands there than before.
  bool rearm();

 private:
  struct Folder {
    std::string path;
    int watch = -1;            ///< inotify's number for it; -1: there is no folder
    bool is_optional = false;  ///< of a link, or of also_watch(): let go when nothing leads there any more
  };

  void read();
  void settle();
  void recheck();
  /// True when there is a new one.
  bool follow_paths();
  /// Lets inotify's number go unless another path leads to the same folder.
  void forget(int watch);

  boost::asio::posix::stream_descriptor inotify_;
  runtime::TimerQueue& timers_;
  std::function<void()> changed_;
  Logger log_;
  std::vector<std::string> paths_;
  std::vector<std::string> also_;
  std::vector<Folder> folders_;
  std::array<char, 4096> events_;
  std::optional<runtime::TimerQueue::Time> burst_began_;
  runtime::TimerQueue::Id wake_up_;
  std::optional<runtime::TimerQueue::Id> next_check_;
};

}  // namespace hcpnet
