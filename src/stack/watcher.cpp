// SPDX-License-Identifier: Apache-2.0
#include "stack/watcher.hpp"

#include <sys/inotify.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <hcpnet/stack/files.hpp>
#include <set>
#include <utility>

namespace hcpnet {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel follows

std::string parent_of(const std::filesystem::path& path) {
  const std::string parent = path.parent_path().string();
  return parent.empty() ? "." : parent;
}

std::string folder_of(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? path : parent_of(path);
}

bool is_link_to_file(const std::filesystem::directory_entry& entry) {
  std::error_code ignored;
  return entry.is_symlink(ignored) && entry.is_regular_file(ignored);
}

/// The folders of what the path, or each file of it, is linked to, one after the other.
void add_link_folders(const std::filesystem::path& path, std::set<std::string>& folders) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    for (auto entry = std::filesystem::directory_iterator(path, error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
      if (is_link_to_file(*entry)) add_link_folders(entry->path(), folders);
    return;
  }
  std::filesystem::path file = path;
  for (int i = 0; i < kMaxLinks; ++i) {
    const auto target = std::filesystem::read_symlink(file, error);
    if (error) return;
    file = file.parent_path() / target;
    folders.insert(parent_of(file));
  }
}

/// The number that inotify has for the folder: a new one, or that of before if it is the same folder.
int watch_folder(int inotify, const std::string& path) {
  constexpr std::uint32_t kChanges =
      IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_MOVE_SELF | IN_DELETE_SELF;
  return ::inotify_add_watch(inotify, path.c_str(), kChanges | IN_ONLYDIR);
}

}  // namespace

FileWatcher::FileWatcher(boost::asio::any_io_executor executor, runtime::TimerQueue& timers,
                         const std::vector<std::string>& paths, std::function<void()> changed, Logger log)
    : inotify_(executor), timers_(timers), changed_(std::move(changed)), log_(std::move(log)) {
  const int descriptor = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (descriptor < 0) throw boost::system::system_error(errno, boost::system::system_category(), "watching files");
  inotify_.assign(descriptor);
  std::set<std::string> folders;
  for (const std::string& path : paths) {
    if (is_read_once(path)) continue;
    paths_.push_back(path);
    folders.insert(folder_of(path));
  }
  for (const std::string& folder : folders) {
    const int watch = watch_folder(descriptor, folder);
    if (watch < 0) throw boost::system::system_error(errno, boost::system::system_category(), "watching " + folder);
    folders_.push_back({folder, watch, false});
  }
  follow_paths();
}

/// A folder that a link, or a file of also_watch(), leads to is watched for as long as it does.
bool FileWatcher::follow_paths() {
  std::set<std::string> wanted;
  for (const std::string& path : paths_) add_link_folders(path, wanted);
  for (const std::string& path : also_) {
    wanted.insert(parent_of(path));
    add_link_folders(path, wanted);
  }
  for (auto folder = folders_.begin(); folder != folders_.end();) {
    if (wanted.erase(folder->path) > 0 || !folder->is_optional) {
      ++folder;
      continue;
    }
    const int watch = folder->watch;
    folder = folders_.erase(folder);
    forget(watch);
  }
  for (const std::string& folder : wanted) {
    const int watch = watch_folder(inotify_.native_handle(), folder);
    const int error = watch < 0 ? errno : 0;
    if (error != 0 && error != ENOENT && error != ENOTDIR)
      log_.warning("folder can't be watched", {{"folder", folder}, {"reason", std::strerror(error)}});
    folders_.push_back({folder, watch, true});
  }
  return !wanted.empty();
}

void FileWatcher::start() {
  read();
  recheck();
}

void FileWatcher::also_watch(std::vector<std::string> paths) {
  also_ = std::move(paths);
  // What was read before its folder was watched may have changed in between.
  if (follow_paths()) settle();
}

void FileWatcher::stop() {
  if (next_check_) timers_.cancel(*std::exchange(next_check_, {}));
  boost::system::error_code ignored;
  inotify_.close(ignored);
}

bool FileWatcher::rearm() {
  bool is_other = follow_paths();
  for (Folder& folder : folders_) {
    const int watch = watch_folder(inotify_.native_handle(), folder.path);
    if (watch == folder.watch) continue;
    is_other = true;
    forget(std::exchange(folder.watch, watch));
    if (folder.is_optional) continue;  // a ConfigMap has another one with each change
    if (watch < 0)
      log_.warning("folder is gone: waiting for it to come back", {{"folder", folder.path}});
    else
      log_.info("folder is watched anew", {{"folder", folder.path}});
  }
  return is_other;
}

void FileWatcher::forget(int watch) {
  if (watch < 0 || std::ranges::find(folders_, watch, &Folder::watch) != folders_.end()) return;
  static_cast<void>(::inotify_rm_watch(inotify_.native_handle(), watch));  // in vain when the folder was deleted
}

// What the events say is not looked at: after lost ones (IN_Q_OVERFLOW) it would be half the truth.
void FileWatcher::read() {
  inotify_.async_read_some(boost::asio::buffer(events_),
                           [self = shared_from_this()](boost::system::error_code ec, std::size_t) {
                             if (ec || !self->inotify_.is_open()) return;
                             self->rearm();
                             self->settle();
                             self->read();
                           });
}

void FileWatcher::settle() {
  const auto now = timers_.now();
  if (!burst_began_) burst_began_ = now;
  timers_.cancel(wake_up_);
  wake_up_ = timers_.at(std::min(now + kQuiet, *burst_began_ + kLongest), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || !self->inotify_.is_open()) return;
    self->burst_began_.reset();
    self->changed_();
  });
}

/// A folder further up that is replaced makes no event here.
void FileWatcher::recheck() {
  next_check_ = timers_.after(kRecheck, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || !self->inotify_.is_open()) return;
    if (self->rearm()) self->settle();
    self->recheck();
  });
}

}  // namespace hcpnet
