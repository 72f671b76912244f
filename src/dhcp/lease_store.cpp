// SPDX-License-Identifier: Apache-2.0
#include "dhcp/lease_store.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <utility>

namespace hcpnet::dhcp {
namespace {

namespace asio = boost::asio;

/// A thread that no signal is delivered to: they belong to the program's own threads.
template <class Run>
std::thread start_thread(Run run) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(run));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

error_code to_error_code(const sqlite::Error& error) noexcept {
  namespace errc = boost::system::errc;
  switch (error.primary_code()) {
    case SQLITE_FULL:
      return errc::make_error_code(errc::no_space_on_device);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return errc::make_error_code(errc::device_or_resource_busy);
    case SQLITE_NOMEM:
      return errc::make_error_code(errc::not_enough_memory);
    case SQLITE_CANTOPEN:
      return errc::make_error_code(errc::no_such_file_or_directory);
    default:
      return errc::make_error_code(errc::io_error);
  }
}

}  // namespace

LeaseStore::LeaseStore(asio::any_io_executor executor, LeaseStoreLimits limits)
    : executor_(std::move(executor)), limits_(limits), alive_(std::make_shared<LeaseStore*>(this)) {}

LeaseStore::~LeaseStore() {
  *alive_ = nullptr;
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

StoredLeases LeaseStore::open(const std::string& path, std::span<const Subnet> subnets, std::chrono::sys_seconds now) {
  auto database = std::make_unique<LeaseDatabase>(path, subnets);
  StoredLeases out = database->load(subnets, now);
  database_ = std::move(database);
  executor_ = asio::prefer(executor_, asio::execution::outstanding_work.tracked);
  thread_ = start_thread([this] { run(); });
  return out;
}

void LeaseStore::put(Group group) {
  waiting_.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(group));
  }
  wake_.notify_one();
}

void LeaseStore::async_close(std::function<void()> closed) {
  if (!thread_.joinable()) {  // never opened, or closed before
    asio::post(executor_, std::move(closed));
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
    // The thread may be over, and what it posted not have run: that calls whoever is in the list by then.
    if (const auto closing = closing_.lock()) {
      closing->push_back(std::move(closed));
    } else {
      closed_ = std::make_shared<Closed>(1, std::move(closed));
      closing_ = closed_;
    }
  }
  wake_.notify_one();
}

/// The next groups to write; empty when it is time to close.
std::vector<LeaseStore::Group> LeaseStore::wait() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return is_closing_ || !queue_.empty(); });
  const auto count = static_cast<std::ptrdiff_t>(std::min(queue_.size(), limits_.max_batch));
  std::vector<Group> out(std::make_move_iterator(queue_.begin()), std::make_move_iterator(queue_.begin() + count));
  queue_.erase(queue_.begin(), queue_.begin() + count);
  return out;
}

error_code LeaseStore::write(std::span<const Group> groups) try {
  LeaseDatabase::Transaction transaction(*database_);
  for (const Group& group : groups) {
    for (const LeaseChange& change : group.changes) transaction.put(change);
    for (const dhcp6::LeaseChange& change : group.changes6) transaction.put(change.event.lease);
    if (group.work) group.work(transaction);
  }
  transaction.commit();
  commits_.fetch_add(1, std::memory_order_relaxed);
  return {};
} catch (const sqlite::Error& error) {
  failures_.fetch_add(1, std::memory_order_relaxed);
  return to_error_code(error);
}

void LeaseStore::run() {
  while (true) {
    std::vector<Group> groups = wait();
    if (groups.empty()) break;
    const error_code result = write(groups);
    asio::post(executor_, [groups = std::make_shared<std::vector<Group>>(std::move(groups)), result, alive = alive_] {
      if (*alive == nullptr) return;
      (*alive)->waiting_.fetch_sub(groups->size(), std::memory_order_relaxed);
      for (Group& group : *groups) {
        if (group.done) group.done(result);
      }
    });
  }
  database_.reset();
  finish();
}

/// The last act of the thread: `closed` comes after every other completion.
void LeaseStore::finish() {
  const std::lock_guard lock(mutex_);
  if (!closed_) return;
  asio::post(executor_, [alive = alive_, closed = std::move(closed_)] {
    if (LeaseStore* self = *alive) {
      self->thread_.join();
      self->executor_ = asio::prefer(self->executor_, asio::execution::outstanding_work.untracked);
    }
    for (const auto& each : *closed) each();
  });
}

}  // namespace hcpnet::dhcp
