// SPDX-License-Identifier: Apache-2.0
#include "stack/own_socket_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/system/system_error.hpp>
#include <cerrno>
#include <utility>

namespace hcpnet {

void OwnSocketFile::lock(const std::string& path, const std::string& what) {
  const std::string name = path + ".lock";  // stays: whoever removed it would take it from under another one's feet
  FileDescriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  const auto fail = [](const std::string& text) {
    throw boost::system::system_error(errno, boost::system::system_category(), text);
  };
  if (!file.is_open()) fail(what + " (" + name + ')');
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) errno = EADDRINUSE;
    fail(what + " (another process has it, by " + name + ')');
  }
  lock_ = std::move(file);
}

void OwnSocketFile::adopt(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return;
  path_ = path;
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

void OwnSocketFile::remove() noexcept {
  struct stat info{};
  if (!path_.empty() && ::lstat(path_.c_str(), &info) == 0 && info.st_dev == device_ && info.st_ino == inode_)
    ::unlink(path_.c_str());
  path_.clear();
  if (lock_.is_open()) ::flock(lock_.get(), LOCK_UN);  // a forked child may have it open still
  lock_ = FileDescriptor();
}

}  // namespace hcpnet
