// SPDX-License-Identifier: Apache-2.0
#include "proxy/poller.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <chrono>
#include <utility>

#include "proxy/socket.hpp"

namespace hcpnet::proxy {
namespace {

constexpr int kEventsPerTurn = 128;
/// After which DHCP, DNS, timers and whoever else lives on this event loop have their turn.
constexpr std::chrono::milliseconds kLongestTurn{2};
constexpr std::uint32_t kEvents = EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLRDHUP | EPOLLET;

std::uint64_t pack(const Poller::Key& key) noexcept {
  return std::uint64_t{key.generation} << 32 | key.slot;
}

Poller::Key unpack(std::uint64_t data) noexcept {
  return {static_cast<std::uint32_t>(data), static_cast<std::uint32_t>(data >> 32)};
}

int make_epoll() {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) throw boost::system::system_error(errno, boost::system::system_category(), "epoll_create1");
  return epoll;
}

}  // namespace

Poller::Poller(const boost::asio::any_io_executor& executor)
    : epoll_(executor, make_epoll()), self_(std::make_shared<Poller*>(this)) {}

Poller::~Poller() {
  *self_ = nullptr;
}

Result<Poller::Key> Poller::add(Socket& socket) {
  if (free_slots_.empty()) grow();
  arm();  // like grow() it may fail for want of memory; nothing is taken before
  Slot& slot = slots_[free_slots_.back()];
  const Key key{free_slots_.back(), slot.generation + 1};
  epoll_event event{};
  event.events = kEvents;
  event.data.u64 = pack(key);
  if (::epoll_ctl(epoll_.native_handle(), EPOLL_CTL_ADD, socket.descriptor(), &event) != 0) {
    const error_code ec(errno, boost::system::system_category());
    rest();
    return ec;
  }
  free_slots_.pop_back();
  slot = {&socket, key.generation};
  return key;
}

void Poller::grow() {
  const std::size_t before = slots_.size();
  const std::size_t after = std::max<std::size_t>(64, 2 * before);
  free_slots_.reserve(after);  // so that remove() cannot fail
  slots_.resize(after);
  for (std::size_t slot = after; slot > before; --slot) free_slots_.push_back(static_cast<std::uint32_t>(slot - 1));
}

/// Closing the socket takes it out of the set.
void Poller::remove(const Key& key) noexcept {
  Slot& slot = slots_[key.slot];
  slot = {nullptr, slot.generation + 1};
  free_slots_.push_back(key.slot);
  rest();
}

/// Without sockets the loop has nothing to wait for.
void Poller::rest() noexcept {
  if (has_sockets()) return;
  error_code ignored;
  epoll_.cancel(ignored);
}

Socket* Poller::find(const Key& key) const noexcept {
  const Slot& slot = slots_[key.slot];
  return slot.generation == key.generation ? slot.socket : nullptr;
}

void Poller::tell_again(const Key& key) {
  again_.push_back(key);
  post_turn();
}

void Poller::post_turn() {
  if (is_posted_) return;
  boost::asio::post(epoll_.get_executor(), [weak = std::weak_ptr(self_)] {
    const auto self = weak.lock();
    if (!self || *self == nullptr) return;
    (*self)->is_posted_ = false;
    (*self)->turn();
  });
  is_posted_ = true;
}

void Poller::arm() {
  if (is_armed_) return;
  epoll_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [weak = std::weak_ptr(self_)](const error_code& ec) {
                      const auto self = weak.lock();
                      if (!self || *self == nullptr) return;
                      (*self)->is_armed_ = false;
                      if (!ec) return (*self)->turn();
                      if ((*self)->has_sockets()) (*self)->arm();
                    });
  is_armed_ = true;
}

void Poller::turn() {
  std::array<epoll_event, kEventsPerTurn> events;
  const int count = ::epoll_wait(epoll_.native_handle(), events.data(), kEventsPerTurn, 0);
  if (has_sockets()) arm();  // only now: events that wait would wake it at once
  std::swap(again_, told_);
  again_.clear();
  // All of them first: whoever is told may throw, and the kernel does not repeat them.
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    Socket* socket = find(unpack(event.data.u64));
    if (socket == nullptr) continue;
    socket->note(event.events);
    if (!std::exchange(socket->is_waiting_, true)) told_.push_back(unpack(event.data.u64));
  }
  const auto self = self_;  // whoever is told may destroy this poller
  const auto end = std::chrono::steady_clock::now() + kLongestTurn;
  for (std::size_t next = 0; *self != nullptr && next < told_.size();) {
    Socket* socket = find(told_[next++]);
    if (socket == nullptr) continue;
    try {
      socket->tell();
    } catch (...) {
      if (*self != nullptr) put_off(next);
      throw;
    }
    if (*self != nullptr && std::chrono::steady_clock::now() >= end) return put_off(next);
  }
}

/// Those who have not been told go before all others in the next turn.
void Poller::put_off(std::size_t next) {
  if (next == told_.size()) return;
  again_.insert(again_.begin(), told_.begin() + static_cast<std::ptrdiff_t>(next), told_.end());
  post_turn();
}

}  // namespace hcpnet::proxy
