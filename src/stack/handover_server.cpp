// SPDX-License-Identifier: Apache-2.0
//   waiting --take--> handing --release--> releasing --> released --serving--> gone
//      ^                 |                     |            |
//      +--- EOF, wrong word, kPatience --------+------------+   releasing goes by abandoned, until that has ended
#include "stack/handover_server.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "stack/handover_wire.hpp"
#include "stack/own_socket_file.hpp"

namespace hcpnet {
namespace {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;
constexpr int kBacklog = 4;
constexpr std::chrono::milliseconds kAcceptBackoff{100};

}  // namespace

struct HandoverServer::Impl : std::enable_shared_from_this<Impl> {
  enum class State : std::uint8_t { waiting, handing, releasing, abandoned, released, gone };
  struct Offer {
    std::string description;
    FileDescriptor socket;  ///< a copy: a reload may close the listener meanwhile
  };

  Impl(asio::any_io_executor executor, runtime::TimerQueue& queue, Owner o, Logger logger)
      : timers(queue), owner(std::move(o)), log(std::move(logger)), listener(executor), successor(executor) {}

  void accept();
  void back_off();
  /// False: it could not be accepted.
  [[nodiscard]] bool on_connection();
  void read();
  void on_packet(const std::optional<handover::Packet>& packet);
  void begin();
  void offer_next();
  void release();
  void give_up(const std::string& why);
  void hand_over();
  void close();
  void drop_successor();
  [[nodiscard]] bool tell(std::string_view text, int socket = -1) {
    return handover::send(successor.native_handle(), text, socket);
  }

  runtime::TimerQueue& timers;
  Owner owner;
  Logger log;
  Descriptor listener, successor;
  FileDescriptor turned_away;  ///< closed with its question unread, it would lose our answer
  std::string wanted_path;
  std::string hidden_path;
  OwnSocketFile file;
  State state = State::waiting;
  std::vector<Offer> offers;
  std::size_t next_offer = 0;
  runtime::TimerQueue::Id deadline{};
};

void HandoverServer::Impl::accept() {
  listener.async_wait(Descriptor::wait_read, [self = shared_from_this()](const boost::system::error_code& ec) {
    if (ec || !self->listener.is_open()) return;
    if (!self->on_connection()) return self->back_off();
    if (self->listener.is_open()) self->accept();
  });
}

/// No descriptors are left: asking again at once would only keep the thread busy that serves.
void HandoverServer::Impl::back_off() {
  timers.after(kAcceptBackoff, [weak = weak_from_this()] {
    if (const auto self = weak.lock(); self && self->listener.is_open()) self->accept();
  });
}

bool HandoverServer::Impl::on_connection() {
  FileDescriptor connection(::accept4(listener.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!connection.is_open()) return false;
  if (!handover::is_same_user(connection.get())) return true;
  if (state != State::waiting || successor.is_open()) {
    static_cast<void>(
        handover::send(connection.get(), std::string(handover::kRefused) + "another process is taking over"));
    turned_away = std::move(connection);
    return true;
  }
  successor.assign(connection.release());
  deadline = timers.after(kPatience, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->give_up("it took too long");
  });
  read();
  return true;
}

void HandoverServer::Impl::read() {
  successor.async_wait(Descriptor::wait_read, [self = shared_from_this()](const boost::system::error_code& ec) {
    if (ec || !self->successor.is_open()) return;
    self->on_packet(handover::receive(self->successor.native_handle()));
    if (self->successor.is_open()) self->read();
  });
}

void HandoverServer::Impl::on_packet(const std::optional<handover::Packet>& packet) {
  if (!packet) return give_up("it is gone");
  if (state == State::waiting && packet->text == handover::kTake) return begin();
  if (state == State::handing && packet->text == handover::kNext) return offer_next();
  if (state == State::handing && packet->text == handover::kRelease) return release();
  if (state == State::released && packet->text == handover::kServing) return hand_over();
  give_up("it said something else than was expected");
}

void HandoverServer::Impl::begin() {
  state = State::handing;
  log.info("another process takes over");
  try {
    for (const ListeningSocket& socket : owner.sockets())
      offers.push_back(
          {handover::describe(socket.kind, socket.configured), FileDescriptor::copy_of(socket.descriptor)});
  } catch (const boost::system::system_error& e) {
    return give_up(e.code().message());
  }
  offer_next();
}

void HandoverServer::Impl::offer_next() {
  if (next_offer == offers.size()) {
    if (!tell(handover::kAll)) give_up("it is gone");
    return;
  }
  const Offer& offer = offers[next_offer++];
  if (!tell(offer.description, offer.socket.get())) give_up("a socket can't be handed to it");
}

void HandoverServer::Impl::release() {
  state = State::releasing;
  owner.release([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    if (self->state == State::releasing) {
      self->state = State::released;
      if (!self->tell(handover::kReleased)) self->give_up("it is gone");
    } else if (self->state == State::abandoned) {
      self->state = State::waiting;
      self->owner.take_back();
    }
  });
}

/// Also for a connection that never asked for anything.
void HandoverServer::Impl::give_up(const std::string& why) {
  if (!successor.is_open()) return;
  static_cast<void>(tell(std::string(handover::kRefused) + "given up: " + why));
  const State before = std::exchange(state, state == State::releasing ? State::abandoned : State::waiting);
  drop_successor();
  if (before != State::waiting) log.error("the process that was to take over is given up", {{"reason", why}});
  if (before == State::handing || before == State::released) owner.take_back();
}

void HandoverServer::Impl::hand_over() {
  state = State::gone;
  owner.hand_over();
  static_cast<void>(tell(handover::kYours));
  file.forget();  // the successor's by now, or soon
  close();
}

void HandoverServer::Impl::drop_successor() {
  timers.cancel(deadline);
  boost::system::error_code ignored;
  successor.close(ignored);
  offers.clear();
  next_offer = 0;
}

void HandoverServer::Impl::close() {
  drop_successor();
  boost::system::error_code ignored;
  listener.close(ignored);
  file.remove();
}

HandoverServer::HandoverServer(asio::any_io_executor executor, runtime::TimerQueue& timers, Owner owner, Logger log)
    : impl_(std::make_shared<Impl>(std::move(executor), timers, std::move(owner), std::move(log))) {}

HandoverServer::~HandoverServer() {
  if (is_busy() && impl_->successor.is_open())
    static_cast<void>(impl_->tell(std::string(handover::kRefused) + "it is being stopped"));
  impl_->state = Impl::State::gone;
  impl_->close();
}

void HandoverServer::open(const std::string& path) {
  const auto check = [&](int result) {
    if (result != 0)
      throw boost::system::system_error(errno, boost::system::system_category(), "handover socket " + path);
  };
  const std::string hidden = path + ".new";
  FileDescriptor socket = handover::make_socket();
  ::unlink(hidden.c_str());  // left by a process that died
  check(handover::call(handover::Verb::bind, socket.get(), hidden));
  impl_->hidden_path = hidden;
  impl_->file.adopt(hidden);
  impl_->wanted_path = path;
  check(::chmod(hidden.c_str(), S_IRUSR | S_IWUSR));
  check(::listen(socket.get(), kBacklog));
  impl_->listener.assign(socket.release());
}

void HandoverServer::start() {
  if (::rename(impl_->hidden_path.c_str(), impl_->wanted_path.c_str()) == 0) {
    impl_->file.renamed(impl_->wanted_path);
  } else {
    impl_->log.error("no later process can take over", {{"reason", boost::system::system_category().message(errno)}});
  }
  impl_->accept();
}

bool HandoverServer::is_busy() const noexcept {
  return impl_->state != Impl::State::waiting;
}

}  // namespace hcpnet
