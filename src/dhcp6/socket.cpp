// SPDX-License-Identifier: Apache-2.0
#include "dhcp6/socket.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/system/system_error.hpp>
#include <cstring>
#include <hcpnet/dhcp6/message.hpp>
#include <string>
#include <utility>

namespace hcpnet::dhcp6 {
namespace {

constexpr std::size_t kBufferBytes = MessageLimits{}.max_bytes + 1;  // one more: what is longer shows
constexpr int kReceiveBufferBytes = 4 << 20;  // a rack of machines that boots at once; the system may give less
// ff02::1:2
constexpr in6_addr kServersAndRelays = {{{0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2}}};

error_code last_error() noexcept {
  return {errno, boost::system::system_category()};
}

[[noreturn]] void raise() {
  throw boost::system::system_error(last_error());
}

// The socket interface takes every kind of address as a sockaddr.
sockaddr* as_sockaddr(sockaddr_in6& address) noexcept {
  return reinterpret_cast<sockaddr*>(&address);
}

Ipv6 to_ipv6(const in6_addr& address) noexcept {
  std::array<std::uint8_t, 16> bytes{};
  std::ranges::copy(address.s6_addr, bytes.begin());
  return Ipv6(bytes);
}

in6_addr to_in6(const Ipv6& address) noexcept {
  in6_addr out{};
  std::ranges::copy(address.bytes(), out.s6_addr);
  return out;
}

void set_option(int fd, int level, int name, int value) {
  if (::setsockopt(fd, level, name, &value, sizeof value) != 0) raise();
}

struct alignas(cmsghdr) Control {
  std::uint8_t data[CMSG_SPACE(sizeof(in6_pktinfo))];
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {
    if (fd < 0) raise();
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace

Socket::Socket(const boost::asio::any_io_executor& executor, dhcp::Interface interface, std::uint16_t port)
    : interface_(std::move(interface)), udp_(executor), buffer_(kBufferBytes) {
  try {
    udp_.assign(open(port));
  } catch (const boost::system::system_error& error) {
    throw boost::system::system_error(
        error.code(), "dhcpv6: cannot listen on port " + std::to_string(port) + " at interface " + interface_.name);
  }
}

int Socket::open(std::uint16_t port) {
  Descriptor fd(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  set_option(fd.get(), IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
  static_cast<void>(::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBufferBytes, sizeof kReceiveBufferBytes));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  if (interface_.is_loopback) {
    address.sin6_addr = in6addr_loopback;
  } else {
    // No SO_REUSEADDR: a second server on the same interface has to fail.
    if (::setsockopt(fd.get(), SOL_SOCKET, SO_BINDTODEVICE, interface_.name.data(),
                     static_cast<socklen_t>(interface_.name.size())) != 0)
      raise();
    const ipv6_mreq group{kServersAndRelays, static_cast<unsigned>(interface_.index)};
    if (::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &group, sizeof group) != 0) raise();
  }
  socklen_t size = sizeof address;
  if (::bind(fd.get(), as_sockaddr(address), size) != 0) raise();
  if (::getsockname(fd.get(), as_sockaddr(address), &size) != 0) raise();
  bound_ = {to_ipv6(address.sin6_addr), ntohs(address.sin6_port)};
  return fd.release();
}

void Socket::async_wait_readable(std::function<void(error_code)> handler) {
  udp_.async_wait(boost::asio::posix::stream_descriptor::wait_read, std::move(handler));
}

/// False: nothing more is there.
bool Socket::receive_one(Path& path, std::size_t& size) {
  sockaddr_in6 source{};
  iovec part{buffer_.data(), buffer_.size()};
  Control control{};
  msghdr message{};
  message.msg_name = &source;
  message.msg_namelen = sizeof source;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data;
  message.msg_controllen = sizeof control.data;
  const ssize_t count = ::recvmsg(udp_.native_handle(), &message, MSG_DONTWAIT);
  if (count < 0) return false;
  size = static_cast<std::size_t>(count);
  path = {to_ipv6(source.sin6_addr), ntohs(source.sin6_port), source.sin6_scope_id, {}};
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != IPPROTO_IPV6 || c->cmsg_type != IPV6_PKTINFO) continue;
    in6_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(c), sizeof info);
    path.local = to_ipv6(info.ipi6_addr);
  }
  return true;
}

void Socket::receive(const std::function<void(ByteView, const Path&)>& visit) {
  for (std::size_t i = 0; i < kMaxTurn && udp_.is_open(); ++i) {
    Path path;
    std::size_t size = 0;
    if (!receive_one(path, size)) return;
    visit(ByteView(buffer_).first(size), path);
  }
}

error_code Socket::send(ByteView packet, const Path& path, std::uint16_t port) {
  if (!udp_.is_open()) return boost::asio::error::operation_aborted;
  sockaddr_in6 destination{};
  destination.sin6_family = AF_INET6;
  destination.sin6_addr = to_in6(path.source);
  destination.sin6_port = htons(interface_.is_loopback ? path.source_port : port);
  destination.sin6_scope_id = path.scope;
  iovec part{const_cast<std::uint8_t*>(packet.data()), packet.size()};  // sendmsg() only reads; iovec has no const
  Control control{};
  msghdr message{};
  message.msg_name = &destination;
  message.msg_namelen = sizeof destination;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!path.is_multicast()) {  // a relay expects the answer from the address that it asked
    message.msg_control = control.data;
    message.msg_controllen = sizeof control.data;
    const in6_pktinfo info{to_in6(path.local), static_cast<unsigned>(interface_.index)};
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = IPPROTO_IPV6;
    header->cmsg_type = IPV6_PKTINFO;
    header->cmsg_len = CMSG_LEN(sizeof info);
    std::memcpy(CMSG_DATA(header), &info, sizeof info);
  }
  if (::sendmsg(udp_.native_handle(), &message, MSG_DONTWAIT) < 0) return last_error();
  return {};
}

void Socket::stop_reading() {
  error_code ignored;  // nothing to cancel is as good
  udp_.cancel(ignored);
}

void Socket::close() {
  error_code ignored;  // closing what is gone is no news
  udp_.close(ignored);
}

}  // namespace hcpnet::dhcp6
