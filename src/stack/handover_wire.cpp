// SPDX-License-Identifier: Apache-2.0
#include "stack/handover_wire.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <cstring>

namespace hcpnet::handover {
namespace {

constexpr std::size_t kMaxPacketBytes = 512;
constexpr std::string_view kSocket = "socket ";
constexpr std::string_view kStream = "stream ";
constexpr std::string_view kDatagram = "datagram ";

[[noreturn]] void fail(int error, const std::string& what) {
  throw boost::system::system_error(error, boost::system::system_category(), what);
}

bool skip(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

struct alignas(cmsghdr) Control : std::array<char, CMSG_SPACE(sizeof(int))> {};

FileDescriptor descriptor_in(msghdr& message) {
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) return {};
  int number = -1;
  std::memcpy(&number, CMSG_DATA(head), sizeof number);
  return FileDescriptor(number);
}

}  // namespace

bool send(int connection, std::string_view text, int socket) noexcept {
  iovec data{const_cast<char*>(text.data()), text.size()};
  Control control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (socket >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof socket);
    std::memcpy(CMSG_DATA(head), &socket, sizeof socket);
  }
  return ::sendmsg(connection, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

std::optional<Packet> receive(int connection) {
  std::array<char, kMaxPacketBytes> text{};
  Control control{};
  iovec data{text.data(), text.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t count = 0;
  do {
    count = ::recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return std::nullopt;
  return Packet{std::string(text.data(), static_cast<std::size_t>(count)), descriptor_in(message)};
}

bool is_same_user(int connection) noexcept {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

std::string describe(SocketKind kind, const Endpoint& configured) {
  std::string text(kSocket);
  text += kind == SocketKind::stream ? kStream : kDatagram;
  return text + configured.to_string();
}

std::optional<Described> parse_description(std::string_view text) {
  if (!skip(text, kSocket)) return std::nullopt;
  SocketKind kind = SocketKind::stream;
  if (!skip(text, kStream)) {
    if (!skip(text, kDatagram)) return std::nullopt;
    kind = SocketKind::datagram;
  }
  const auto configured = parse_endpoint(text);
  if (!configured) return std::nullopt;
  return Described{kind, *configured};
}

FileDescriptor make_socket() {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) fail(errno, "handover socket");
  return socket;
}

int call(Verb verb, int socket, const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) fail(ENAMETOOLONG, "handover socket " + path);
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  return verb == Verb::bind ? ::bind(socket, where, sizeof address) : ::connect(socket, where, sizeof address);
}

}  // namespace hcpnet::handover
