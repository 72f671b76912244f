// SPDX-License-Identifier: Apache-2.0
#include "stack/takeover.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <boost/system/system_error.hpp>
#include <cerrno>
#include <stdexcept>

#include "stack/handover_wire.hpp"

namespace hcpnet {
namespace {

[[noreturn]] void fail(int error, const std::string& path) {
  throw boost::system::system_error(error, boost::system::system_category(), "handover socket " + path);
}

[[noreturn]] void unexpected(const std::string& answer) {
  throw std::runtime_error("the process to take over from answered \"" + answer + "\"");
}

FileDescriptor process_behind(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {};
  if (peer.pid <= 0 || peer.pid == ::getpid()) return {};
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0)));
}

}  // namespace

Takeover::Takeover(FileDescriptor connection)
    : connection_(std::move(connection)), process_(process_behind(connection_.get())) {}

std::optional<Takeover> Takeover::connect(const std::string& path) {
  FileDescriptor connection = handover::make_socket();
  const timeval patience{kPatience.count(), 0};
  if (::setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0) fail(errno, path);
  if (handover::call(handover::Verb::connect, connection.get(), path) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED) return std::nullopt;
    fail(errno, path);
  }
  if (!handover::is_same_user(connection.get())) fail(EPERM, path);
  return Takeover(std::move(connection));
}

std::optional<std::string> Takeover::ask(std::string_view question, FileDescriptor* socket) {
  if (!connection_.is_open()) return std::nullopt;
  // A refusal may be waiting for us where nothing can be sent any more.
  static_cast<void>(handover::send(connection_.get(), question));
  errno = 0;
  auto answer = handover::receive(connection_.get());
  if (!answer) {
    if (errno == EAGAIN) throw std::runtime_error("the process to take over from does not answer");
    connection_ = FileDescriptor();
    wait_for_its_end();
    return std::nullopt;
  }
  if (answer->text.starts_with(handover::kRefused))
    throw std::runtime_error("the process to take over from refuses: " +
                             answer->text.substr(handover::kRefused.size()));
  if (socket) *socket = std::move(answer->socket);
  return answer->text;
}

/// A process that dies closes one descriptor after the other: its locks may go a little later than our connection.
void Takeover::wait_for_its_end() const {
  if (!process_.is_open()) return;
  pollfd ended{process_.get(), POLLIN, 0};
  const int count = ::poll(&ended, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count()));
  if (count == 0) throw std::runtime_error("the process to take over from broke off");
}

void Takeover::receive_sockets(InheritedSockets& sockets) {
  FileDescriptor socket;
  auto answer = ask(handover::kTake, &socket);
  while (answer && *answer != handover::kAll) {
    const auto described = handover::parse_description(*answer);
    if (!described || !socket.is_open()) unexpected(*answer);
    sockets.add(described->kind, described->configured, std::move(socket));
    answer = ask(handover::kNext, &socket);
  }
}

void Takeover::ask_release() {
  if (const auto answer = ask(handover::kRelease); answer && *answer != handover::kReleased) unexpected(*answer);
}

void Takeover::finish() {
  if (const auto answer = ask(handover::kServing); answer && *answer != handover::kYours) unexpected(*answer);
}

}  // namespace hcpnet
