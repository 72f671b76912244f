// SPDX-License-Identifier: Apache-2.0
#include "stack/watcher.hpp"

#include <sys/inotify.h>

#include <boost/asio/buffer.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <filesystem>
#include <set>
#include <utility>

namespace hcpnet {
namespace {

std::string folder_of(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return path;
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

}  // namespace

FileWatcher::FileWatcher(boost::asio::any_io_executor executor, runtime::TimerQueue& timers,
                         const std::vector<std::string>& paths, std::function<void()> changed)
    : inotify_(executor), timers_(timers), changed_(std::move(changed)) {
  const int descriptor = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (descriptor < 0) throw boost::system::system_error(errno, boost::system::system_category(), "watching files");
  inotify_.assign(descriptor);
  std::set<std::string> folders;
  for (const std::string& path : paths)
    if (path != "-") folders.insert(folder_of(path));
  for (const std::string& folder : folders) {
    constexpr std::uint32_t kChanges = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE;
    if (::inotify_add_watch(descriptor, folder.c_str(), kChanges) < 0)
      throw boost::system::system_error(errno, boost::system::system_category(), "watching " + folder);
  }
}

void FileWatcher::stop() {
  boost::system::error_code ignored;
  inotify_.close(ignored);
}

void FileWatcher::read() {
  inotify_.async_read_some(boost::asio::buffer(events_),
                           [self = shared_from_this()](boost::system::error_code ec, std::size_t) {
                             if (ec || !self->inotify_.is_open()) return;
                             self->settle();
                             self->read();
                           });
}

void FileWatcher::settle() {
  timers_.after(kQuiet, [weak = weak_from_this(), burst = ++burst_] {
    if (const auto self = weak.lock(); self && self->burst_ == burst && self->inotify_.is_open()) self->changed_();
  });
}

}  // namespace hcpnet
