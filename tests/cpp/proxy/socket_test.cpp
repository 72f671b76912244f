// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/poller.hpp"
#include "proxy/socket.hpp"

namespace hcpnet {
namespace {

using proxy::Poller;
using proxy::Socket;
using proxy::SocketUser;

/// Notes what it is told, and does what a test wants then.
struct User final : SocketUser {
  void on_ready(Socket& socket) override {
    ++told;
    if (then) then(socket);
  }
  int told = 0;
  std::function<void(Socket&)> then;
};

std::string read_from(Socket& socket, std::size_t most) {
  std::string text(most, '\0');
  const auto read = socket.read({reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
  text.resize(read.count);
  return text;
}

class SocketTest : public testing::Test {
 protected:
  SocketTest() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) throw std::runtime_error("socketpair");
    ours_ = FileDescriptor(ends[0]);
    peer_ = FileDescriptor(ends[1]);
  }
  void run() {
    io_.restart();
    while (io_.poll() > 0) io_.restart();
  }
  void send(std::string_view text) { ASSERT_EQ(::write(peer_.get(), text.data(), text.size()), std::ssize(text)); }

  boost::asio::io_context io_{1};
  std::unique_ptr<Poller> poller_ = std::make_unique<Poller>(io_.get_executor());
  FileDescriptor ours_;
  FileDescriptor peer_;
  User user_;
};

TEST_F(SocketTest, IsReadableUntilAShortRead) {
  Socket socket(*poller_, std::move(ours_));
  EXPECT_FALSE(socket.watch(user_));
  run();
  EXPECT_TRUE(socket.is_writable());
  EXPECT_FALSE(socket.is_readable());
  send("hello");
  run();
  EXPECT_TRUE(socket.is_readable());
  EXPECT_EQ(read_from(socket, 3), "hel");
  EXPECT_TRUE(socket.is_readable());
  EXPECT_EQ(read_from(socket, 3), "lo");
  EXPECT_FALSE(socket.is_readable());
}

/// One event says both: were a short read taken for the last, the FIN would never be seen.
TEST_F(SocketTest, StaysReadableWhereTheEndCameWithTheBytes) {
  Socket socket(*poller_, std::move(ours_));
  EXPECT_FALSE(socket.watch(user_));
  send("bye");
  peer_ = FileDescriptor();
  run();
  EXPECT_EQ(read_from(socket, 100), "bye");
  EXPECT_TRUE(socket.is_readable());
  std::array<std::uint8_t, 8> rest;
  const auto end = socket.read(rest);
  EXPECT_EQ(end.count, 0U);
  EXPECT_EQ(end.error, 0);
}

TEST_F(SocketTest, WhatWasReadyBeforeItIsWatchedIsTold) {
  Socket socket(*poller_, std::move(ours_));
  send("early");
  EXPECT_FALSE(socket.watch(user_));
  run();
  EXPECT_EQ(user_.told, 1);
  EXPECT_TRUE(socket.is_readable());
}

TEST_F(SocketTest, FollowsAMove) {
  Socket before(*poller_, std::move(ours_));
  EXPECT_FALSE(before.watch(user_));
  before.tell_again_later();
  Socket after(std::move(before));
  Socket* told = nullptr;
  user_.then = [&](Socket& socket) { told = &socket; };
  run();
  EXPECT_EQ(told, &after);
}

TEST_F(SocketTest, IsToldAgainOnceATurn) {
  Socket socket(*poller_, std::move(ours_));
  EXPECT_FALSE(socket.watch(user_));
  run();
  const int before = user_.told;
  int turns = 3;
  user_.then = [&](Socket& ready) {
    if (--turns > 0) ready.tell_again_later();
  };
  socket.tell_again_later();
  socket.tell_again_later();
  run();
  EXPECT_EQ(user_.told, before + 3);
}

/// The kernel keeps the registration as long as any process has the socket.
TEST_F(SocketTest, EventsOfAClosedSocketThatLivesOnElsewhereReachNobody) {
  const FileDescriptor copy = FileDescriptor::copy_of(ours_.get());
  User next_user;
  auto socket = std::make_unique<Socket>(*poller_, std::move(ours_));
  EXPECT_FALSE(socket->watch(user_));
  run();
  socket.reset();
  const int before = user_.told;
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  const FileDescriptor other_end(ends[1]);
  Socket next(*poller_, FileDescriptor(ends[0]));  // takes the slot of the one that is closed
  EXPECT_FALSE(next.watch(next_user));
  run();
  const int next_before = next_user.told;
  send("to the copy");
  run();
  EXPECT_EQ(user_.told, before);
  EXPECT_EQ(next_user.told, next_before);
}

TEST_F(SocketTest, TheLoopHasWorkWhileOneIsOpen) {
  auto socket = std::make_unique<Socket>(*poller_, std::move(ours_));
  EXPECT_FALSE(socket->watch(user_));
  io_.run_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(io_.stopped());
  socket.reset();
  io_.restart();
  io_.run();  // returns
  EXPECT_TRUE(io_.stopped());
}

TEST_F(SocketTest, AUserMayCloseOtherSocketsOfTheSameTurn) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  const FileDescriptor other_end(ends[1]);
  Socket one(*poller_, std::move(ours_));
  Socket two(*poller_, FileDescriptor(ends[0]));
  const auto close_both = [&](Socket&) {
    one.close();
    two.close();
  };
  User other_user;
  user_.then = other_user.then = close_both;
  EXPECT_FALSE(one.watch(user_));
  EXPECT_FALSE(two.watch(other_user));
  run();
  EXPECT_EQ(user_.told + other_user.told, 1);
}

TEST_F(SocketTest, AUserMayDestroyThePoller) {
  auto socket = std::make_unique<Socket>(*poller_, std::move(ours_));
  user_.then = [&](Socket&) {
    socket.reset();
    poller_.reset();
  };
  EXPECT_FALSE(socket->watch(user_));
  socket->tell_again_later();
  run();
  EXPECT_EQ(user_.told, 1);
}

TEST_F(SocketTest, AUserThatThrowsTakesNothingFromTheOthers) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  const FileDescriptor other_end(ends[1]);
  Socket one(*poller_, std::move(ours_));
  Socket two(*poller_, FileDescriptor(ends[0]));
  User other;
  bool has_thrown = false;
  user_.then = other.then = [&](Socket&) {
    if (!std::exchange(has_thrown, true)) throw std::runtime_error("of a user");
  };
  EXPECT_FALSE(one.watch(user_));
  EXPECT_FALSE(two.watch(other));
  EXPECT_THROW(run(), std::runtime_error);
  run();
  EXPECT_EQ(user_.told, 1);
  EXPECT_EQ(other.told, 1);
}

TEST_F(SocketTest, OthersHaveTheirTurnWhereMuchIsToBeDone) {
  std::vector<FileDescriptor> peers;
  std::vector<std::unique_ptr<Socket>> sockets;
  for (int i = 0; i < 4; ++i) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    peers.emplace_back(ends[1]);
    sockets.push_back(std::make_unique<Socket>(*poller_, FileDescriptor(ends[0])));
    EXPECT_FALSE(sockets.back()->watch(user_));
  }
  std::vector<int> told_before;
  user_.then = [&](Socket&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // longer than a turn may be
    boost::asio::post(io_, [&] { told_before.push_back(user_.told); });
  };
  run();
  EXPECT_EQ(user_.told, 4);
  EXPECT_EQ(told_before, (std::vector{1, 2, 3, 4})) << "what was posted waits for one of them, and not for all";
}

TEST_F(SocketTest, ManySockets) {
  std::vector<std::unique_ptr<Socket>> sockets;
  std::vector<FileDescriptor> peers;
  for (int i = 0; i < 300; ++i) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    sockets.push_back(std::make_unique<Socket>(*poller_, FileDescriptor(ends[0])));
    peers.emplace_back(ends[1]);
    EXPECT_FALSE(sockets.back()->watch(user_));
  }
  run();
  EXPECT_EQ(user_.told, 300);  // more than one turn takes
  user_.told = 0;
  for (const FileDescriptor& peer : peers) ASSERT_EQ(::write(peer.get(), "x", 1), 1);
  run();
  EXPECT_EQ(user_.told, 300);
}

/// What comes between two reads, before an event tells of it.
TEST_F(SocketTest, SplicingTakesNoUrgentByteForTheEnd) {
  namespace asio = boost::asio;
  using asio::ip::tcp;
  for (const std::string_view tail : {"tail", ""}) {
    tcp::acceptor acceptor(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    tcp::socket peer(io_);
    peer.connect(acceptor.local_endpoint());
    tcp::socket accepted = acceptor.accept();
    accepted.native_non_blocking(true);
    Socket socket(*poller_, FileDescriptor(accepted.release()));
    EXPECT_FALSE(socket.watch(user_));
    asio::write(peer, asio::buffer("bulk", 4));
    while (!socket.is_readable()) run();
    peer.send(asio::buffer("!", 1), asio::socket_base::message_out_of_band);
    if (!tail.empty()) asio::write(peer, asio::buffer(tail));
    peer.shutdown(tcp::socket::shutdown_send);
    pollfd ended{socket.descriptor(), POLLRDHUP, 0};
    ASSERT_EQ(::poll(&ended, 1, -1), 1);
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    const FileDescriptor out(ends[0]), in(ends[1]);
    EXPECT_EQ(socket.splice_to(in.get(), 100).count, 4U);
    const auto second = socket.splice_to(in.get(), 100);
    EXPECT_EQ(second.count, 0U);
    EXPECT_EQ(second.would_block(), !tail.empty());
    EXPECT_EQ(socket.has_urgent(), !tail.empty());
    EXPECT_TRUE(socket.is_readable());
    EXPECT_EQ(read_from(socket, 100), tail);
    std::array<std::uint8_t, 8> rest;
    const auto end = socket.read(rest);
    EXPECT_EQ(end.count, 0U);
    EXPECT_EQ(end.error, 0);
  }
}

TEST_F(SocketTest, SaysWhyItCannotBeWatched) {
  Socket socket(*poller_, FileDescriptor(::open("/dev/null", O_RDWR | O_CLOEXEC)));  // epoll takes no such file
  EXPECT_EQ(socket.watch(user_).value(), EPERM);
  EXPECT_EQ(user_.told, 0);
  io_.restart();
  io_.run_for(std::chrono::seconds(10));
  EXPECT_TRUE(io_.stopped()) << "there is nothing to wait for";
}

}  // namespace
}  // namespace hcpnet
