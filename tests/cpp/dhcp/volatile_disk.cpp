// SPDX-License-Identifier: Apache-2.0
#include "dhcp/volatile_disk.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

namespace hcpnet::test {
namespace {

/// What brings back a file as it was before one write.
struct Undo {
  sqlite3_int64 offset;
  std::vector<char> bytes;
  sqlite3_int64 size;
};

}  // namespace

struct VolatileDisk::State {
  sqlite3_vfs vfs{};
  sqlite3_vfs* real = nullptr;
  std::mutex mutex;
  std::map<std::string, std::vector<Undo>> unsynced;  // by path
  std::function<void()> before_sync;
  bool is_off = false;
  int write_error = 0;
  std::uint64_t syncs = 0;

  int check_write() {
    const std::lock_guard lock(mutex);
    return is_off ? SQLITE_IOERR_WRITE : write_error;
  }
};

namespace {

/// A file of ours, with the real one behind it in the same block of memory.
struct File {
  sqlite3_file base;
  void* state;
  const char* path;  // SQLite keeps the name as long as the file is open; null for temporary files
};

/// A template only because VolatileDisk::State has no name out here.
template <class StateType>
struct Shim {
  static StateType& state(sqlite3_file* file) { return *static_cast<StateType*>(reinterpret_cast<File*>(file)->state); }
  static sqlite3_file* real(sqlite3_file* file) {
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<File*>(file) + 1);
  }
  static const sqlite3_io_methods& io(sqlite3_file* file) { return *real(file)->pMethods; }

  static Undo remember(sqlite3_file* file, sqlite3_int64 offset, sqlite3_int64 amount) {
    Undo undo{offset, {}, 0};
    io(file).xFileSize(real(file), &undo.size);
    const sqlite3_int64 there = std::max<sqlite3_int64>(0, std::min(amount, undo.size - offset));
    undo.bytes.resize(static_cast<std::size_t>(there));
    if (there > 0) io(file).xRead(real(file), undo.bytes.data(), static_cast<int>(there), offset);
    return undo;
  }
  static void add(sqlite3_file* file, Undo undo) {
    const char* path = reinterpret_cast<File*>(file)->path;
    if (path == nullptr) return;
    const std::lock_guard lock(state(file).mutex);
    state(file).unsynced[path].push_back(std::move(undo));
  }

  static int close(sqlite3_file* file) { return io(file).xClose(real(file)); }
  static int read(sqlite3_file* file, void* out, int n, sqlite3_int64 at) {
    return io(file).xRead(real(file), out, n, at);
  }
  static int write(sqlite3_file* file, const void* data, int n, sqlite3_int64 at) {
    if (const int error = state(file).check_write(); error != 0) return error;
    add(file, remember(file, at, n));
    return io(file).xWrite(real(file), data, n, at);
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    if (const int error = state(file).check_write(); error != 0) return error;
    sqlite3_int64 before = 0;
    io(file).xFileSize(real(file), &before);
    add(file, remember(file, size, before - size));
    return io(file).xTruncate(real(file), size);
  }
  static int sync(sqlite3_file* file, int flags) {
    std::function<void()> callback;
    {
      const std::lock_guard lock(state(file).mutex);
      callback = state(file).before_sync;
    }
    if (callback) callback();
    if (const int error = state(file).check_write(); error != 0) return SQLITE_IOERR_FSYNC;
    const int result = io(file).xSync(real(file), flags);
    const std::lock_guard lock(state(file).mutex);
    if (state(file).is_off) return SQLITE_IOERR_FSYNC;
    ++state(file).syncs;
    if (const char* path = reinterpret_cast<File*>(file)->path) state(file).unsynced.erase(path);
    return result;
  }
  static int size(sqlite3_file* file, sqlite3_int64* out) { return io(file).xFileSize(real(file), out); }
  static int lock(sqlite3_file* file, int level) { return io(file).xLock(real(file), level); }
  static int unlock(sqlite3_file* file, int level) { return io(file).xUnlock(real(file), level); }
  static int check_lock(sqlite3_file* file, int* out) { return io(file).xCheckReservedLock(real(file), out); }
  static int control(sqlite3_file* file, int op, void* arg) { return io(file).xFileControl(real(file), op, arg); }
  static int sector(sqlite3_file* file) { return io(file).xSectorSize(real(file)); }
  static int device(sqlite3_file* file) { return io(file).xDeviceCharacteristics(real(file)); }
  static int shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
    return io(file).xShmMap(real(file), page, size, extend, out);
  }
  static int shm_lock(sqlite3_file* file, int at, int n, int flags) {
    return io(file).xShmLock(real(file), at, n, flags);
  }
  static void shm_barrier(sqlite3_file* file) { io(file).xShmBarrier(real(file)); }
  static int shm_unmap(sqlite3_file* file, int remove) { return io(file).xShmUnmap(real(file), remove); }

  static constexpr sqlite3_io_methods kMethods = {2,        close,       read,       write,   truncate, sync,   size,
                                                  lock,     unlock,      check_lock, control, sector,   device, shm_map,
                                                  shm_lock, shm_barrier, shm_unmap,  nullptr, nullptr};

  static StateType& state(sqlite3_vfs* vfs) { return *static_cast<StateType*>(vfs->pAppData); }
  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    auto* own = reinterpret_cast<File*>(file);
    own->base.pMethods = nullptr;
    own->state = &state(vfs);
    own->path = name;
    const int result = state(vfs).real->xOpen(state(vfs).real, name, real(file), flags, out_flags);
    if (real(file)->pMethods != nullptr) own->base.pMethods = &kMethods;
    return result;
  }
  static int remove(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    if (const int error = state(vfs).check_write(); error != 0) return SQLITE_IOERR_DELETE;
    const int result = state(vfs).real->xDelete(state(vfs).real, name, sync_folder);
    const std::lock_guard lock(state(vfs).mutex);
    state(vfs).unsynced.erase(name);
    return result;
  }
};

}  // namespace

VolatileDisk::VolatileDisk() : state_(std::make_unique<State>()) {
  state_->real = sqlite3_vfs_find(nullptr);
  state_->vfs = *state_->real;
  state_->vfs.pNext = nullptr;
  state_->vfs.zName = "volatile";
  state_->vfs.pAppData = state_.get();
  state_->vfs.szOsFile = static_cast<int>(sizeof(File)) + state_->real->szOsFile;
  state_->vfs.xOpen = Shim<State>::open;
  state_->vfs.xDelete = Shim<State>::remove;
  sqlite3_vfs_register(&state_->vfs, 1);
}

VolatileDisk::~VolatileDisk() {
  sqlite3_vfs_unregister(&state_->vfs);
}

void VolatileDisk::crash() {
  const std::lock_guard lock(state_->mutex);
  state_->is_off = true;
}

void VolatileDisk::lose_unsynced(std::mt19937* random) {
  const std::lock_guard lock(state_->mutex);
  for (const auto& [path, undos] : state_->unsynced) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) continue;
    for (auto undo = undos.rbegin(); undo != undos.rend(); ++undo) {
      if (random != nullptr && (*random)() % 2 == 0) continue;  // this one had reached the disk
      const auto written = ::pwrite(fd, undo->bytes.data(), undo->bytes.size(), undo->offset);
      const int cut = ::ftruncate(fd, undo->size);
      if (written < 0 || cut != 0) std::abort();
    }
    ::close(fd);
    std::filesystem::remove(path + "-shm");  // lives in memory only
  }
  state_->unsynced.clear();
  state_->is_off = false;
}

void VolatileDisk::fail_writes(int sqlite_code) {
  const std::lock_guard lock(state_->mutex);
  state_->write_error = sqlite_code;
}

void VolatileDisk::before_sync(std::function<void()> callback) {
  const std::lock_guard lock(state_->mutex);
  state_->before_sync = std::move(callback);
}

std::uint64_t VolatileDisk::syncs() const {
  const std::lock_guard lock(state_->mutex);
  return state_->syncs;
}

}  // namespace hcpnet::test
