// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>

namespace hcpnet::test {

/// A disk that forgets what was not synced: SQLite's default file system for as long as the object lives. One object at
/// a time.
class VolatileDisk {
 public:
  VolatileDisk();
  ~VolatileDisk();
  VolatileDisk(const VolatileDisk&) = delete;
  VolatileDisk& operator=(const VolatileDisk&) = delete;

  /// Power off: from now on nothing reaches the disk, every operation fails.
  void crash();
  /// Undoes what was written after the last sync of each file, whole or (with `random`) in part, as a real disk may.
  /// Then the power is back. Call when nobody has the files open.
  void lose_unsynced(std::mt19937* random = nullptr);
  /// Writes fail with this SQLite code; 0: they work again.
  void fail_writes(int sqlite_code);
  /// Called on the writing thread before a sync takes place.
  void before_sync(std::function<void()> callback);
  [[nodiscard]] std::uint64_t syncs() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hcpnet::test
