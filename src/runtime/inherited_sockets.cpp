// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <hcpnet/inherited_sockets.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hcpnet {
namespace {

constexpr int kFirstListenDescriptor = 3;  // SD_LISTEN_FDS_START

std::optional<int> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text) return std::nullopt;
  int number = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<int> int_option(int socket, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  if (::getsockopt(socket, SOL_SOCKET, name, &value, &size) != 0) return std::nullopt;
  return value;
}

std::optional<SocketKind> kind_of(int socket) {
  const auto type = int_option(socket, SO_TYPE);
  if (type == SOCK_DGRAM) return SocketKind::datagram;
  if (type == SOCK_STREAM && int_option(socket, SO_ACCEPTCONN) == 1) return SocketKind::stream;
  return std::nullopt;
}

std::optional<Endpoint> address_of(int socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return std::nullopt;
  if (storage.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage);
    return Endpoint{Ipv4(ntohl(v4.sin_addr.s_addr)), ntohs(v4.sin_port)};
  }
  if (storage.ss_family != AF_INET6) return std::nullopt;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage);
  std::array<std::uint8_t, 16> bytes{};
  std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
  return Endpoint{Ipv6(bytes), ntohs(v6.sin6_port)};
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  FileDescriptor before(std::exchange(number_, other.release()));
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) ::close(number_);
}

FileDescriptor FileDescriptor::copy_of(int number) {
  const int copy = ::fcntl(number, F_DUPFD_CLOEXEC, kFirstListenDescriptor);
  if (copy < 0) throw boost::system::system_error(errno, boost::system::system_category(), "another descriptor");
  return FileDescriptor(copy);
}

void InheritedSockets::add(SocketKind kind, const Endpoint& configured, FileDescriptor socket) {
  sockets_.push_back({kind, configured, std::move(socket)});
}

void InheritedSockets::add_from_service_manager() {
  const auto count = number_in("LISTEN_FDS");
  const bool is_ours = number_in("LISTEN_PID") == ::getpid();
  for (const char* variable : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(variable);
  if (!is_ours || !count) return;
  for (int number = kFirstListenDescriptor; number < kFirstListenDescriptor + *count; ++number) {
    const auto kind = kind_of(number);
    const auto address = address_of(number);
    if (!kind || !address)
      throw std::runtime_error("descriptor " + std::to_string(number) +
                               " of the service manager is no listening or datagram socket of IPv4 or IPv6");
    static_cast<void>(::fcntl(number, F_SETFD, FD_CLOEXEC));
    add(*kind, *address, FileDescriptor(number));
  }
}

std::vector<FileDescriptor> InheritedSockets::take(SocketKind kind, const Endpoint& configured) {
  std::vector<FileDescriptor> taken;
  std::erase_if(sockets_, [&](Entry& entry) {
    if (entry.kind != kind || entry.configured != configured) return false;
    taken.push_back(std::move(entry.socket));
    return true;
  });
  return taken;
}

}  // namespace hcpnet
