// SPDX-License-Identifier: Apache-2.0
#include "proxy/poller.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <utility>

#include "proxy/socket.hpp"

namespace hcpnet::proxy {
namespace {

constexpr int kEventsPerTurn = 128;
constexpr std::uint32_t kEvents = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

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
  Slot& slot = slots_[free_slots_.back()];
  const Key key{free_slots_.back(), slot.generation + 1};
  epoll_event event{};
  event.events = kEvents;
  event.data.u64 = pack(key);
  if (::epoll_ctl(epoll_.native_handle(), EPOLL_CTL_ADD, socket.descriptor(), &event) != 0)
    return error_code(errno, boost::system::system_category());
  free_slots_.pop_back();
  slot = {&socket, key.generation};
  arm();
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
  if (std::exchange(is_posted_, true)) return;
  boost::asio::post(epoll_.get_executor(), [weak = std::weak_ptr(self_)] {
    const auto self = weak.lock();
    if (!self || *self == nullptr) return;
    (*self)->is_posted_ = false;
    (*self)->turn();
  });
}

void Poller::arm() {
  if (!has_sockets() || std::exchange(is_armed_, true)) return;
  epoll_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [weak = std::weak_ptr(self_)](const error_code& ec) {
                      const auto self = weak.lock();
                      if (!self || *self == nullptr) return;
                      (*self)->is_armed_ = false;
                      ec ? (*self)->arm() : (*self)->turn();
                    });
}

void Poller::turn() {
  std::array<epoll_event, kEventsPerTurn> events;
  const int count = ::epoll_wait(epoll_.native_handle(), events.data(), kEventsPerTurn, 0);
  arm();  // after the events are taken, which would wake it at once, and before handlers, which may throw
  const auto self = self_;
  std::swap(again_, told_again_);
  again_.clear();
  for (std::size_t i = 0; *self != nullptr && i < told_again_.size(); ++i) {
    if (Socket* socket = find(told_again_[i])) socket->tell_again();
  }
  for (int i = 0; *self != nullptr && i < count; ++i) {  // whoever is told may destroy this poller
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (Socket* socket = find(unpack(event.data.u64))) socket->tell(event.events);
  }
}

}  // namespace hcpnet::proxy
