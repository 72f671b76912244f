// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <hcpnet/inherited_sockets.hpp>
#include <string>

namespace hcpnet {

/// The file of a unix socket that one process at a time has. It is removed only while it is still the one that was
/// made: a later process may have put its own in the place.
class OwnSocketFile {
 public:
  OwnSocketFile() = default;
  ~OwnSocketFile() { remove(); }
  OwnSocketFile(const OwnSocketFile&) = delete;
  OwnSocketFile& operator=(const OwnSocketFile&) = delete;

  /// Holds PATH.lock until remove(), so that the socket is nobody else's even where its file is gone. Throws
  /// boost::system::system_error that begins with `what`.
  void lock(const std::string& path, const std::string& what);
  /// What stands at `path` now is ours.
  void adopt(const std::string& path);
  /// It has another name now.
  void renamed(const std::string& path) { path_ = path; }
  /// It is left to whoever comes next.
  void forget() noexcept { path_.clear(); }
  void remove() noexcept;

 private:
  FileDescriptor lock_;
  std::string path_;  ///< empty: there is none
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace hcpnet
