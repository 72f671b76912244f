// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <hcpnet/dhcp/responder.hpp>
#include <hcpnet/result.hpp>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "dhcp/lease_database.hpp"

namespace hcpnet::dhcp {

struct LeaseStoreLimits {
  std::size_t max_queued = 16'384;  ///< groups of changes that wait for the disk; beyond it has_room() is false
  std::size_t max_batch = 2'048;    ///< groups in one transaction
};

/// Writes lease changes on a thread of its own, as many as are waiting in one transaction (group commit): a sync of the
/// disk takes as long for one as for a thousand.
///
/// All calls on the executor's thread; completions are posted there, in order, after the sync.
class LeaseStore {
 public:
  /// Success, or ENOSPC, EIO, EBUSY: then nothing of the group is on disk, or nobody knows.
  using Done = std::function<void(error_code)>;

  explicit LeaseStore(boost::asio::any_io_executor executor, LeaseStoreLimits limits = {});
  ~LeaseStore();  ///< writes what is queued, drops the completions
  LeaseStore(const LeaseStore&) = delete;
  LeaseStore& operator=(const LeaseStore&) = delete;

  /// Throws as LeaseDatabase does. Call once.
  StoredLeases open(const std::string& path, std::span<const Subnet> subnets, std::chrono::sys_seconds now);
  [[nodiscard]] bool has_room() const noexcept { return waiting_.load(std::memory_order_relaxed) < limits_.max_queued; }
  /// Precondition: open() succeeded, async_close() was not called.
  void put(std::vector<LeaseChange> changes, Done done) { put({std::move(changes), {}, std::move(done)}); }
  void put(std::vector<dhcp6::LeaseChange> changes, Done done) { put({{}, std::move(changes), std::move(done)}); }
  void put(std::vector<LeaseChange> changes, std::vector<dhcp6::LeaseChange> changes6, Done done) {
    put({std::move(changes), std::move(changes6), std::move(done)});
  }
  /// More in one transaction, put there on the writing thread.
  using Work = std::function<void(LeaseDatabase::Transaction&)>;
  void put(Work work, Done done) { put({{}, {}, std::move(done), std::move(work)}); }
  /// Writes what is queued, calls back all completions, closes the file, then calls `closed`; that of a second call,
  /// too.
  void async_close(std::function<void()> closed);

  /// Transactions that reached the disk.
  [[nodiscard]] std::uint64_t commits() const noexcept { return commits_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t failures() const noexcept { return failures_.load(std::memory_order_relaxed); }

 private:
  struct Group {
    std::vector<LeaseChange> changes;
    std::vector<dhcp6::LeaseChange> changes6;
    Done done;
    Work work{};  ///< may be empty
  };
  void put(Group group);
  void run();
  [[nodiscard]] std::vector<Group> wait();
  [[nodiscard]] error_code write(std::span<const Group> groups);
  void finish();

  boost::asio::any_io_executor executor_;  // tracked as outstanding work while the file is open
  LeaseStoreLimits limits_;
  std::unique_ptr<LeaseDatabase> database_;
  std::atomic<std::size_t> waiting_ = 0;  // queued or being written, completion not called yet
  std::atomic<std::uint64_t> commits_ = 0;
  std::atomic<std::uint64_t> failures_ = 0;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Group> queue_;  // guarded by mutex_
  bool is_closing_ = false;  // guarded by mutex_
  using Closed = std::vector<std::function<void()>>;
  std::shared_ptr<Closed> closed_;      // guarded by mutex_, as long as the thread runs; then its last act has it
  std::weak_ptr<Closed> closing_;       // the same; late calls look here
  std::shared_ptr<LeaseStore*> alive_;  // late completions look here; emptied by the destructor
  std::thread thread_;
};

}  // namespace hcpnet::dhcp
