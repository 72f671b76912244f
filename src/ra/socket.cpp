// SPDX-License-Identifier: Apache-2.0
#include "ra/socket.hpp"

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/system/system_error.hpp>
#include <cstring>
#include <utility>

namespace hcpnet::ra {
namespace {

constexpr in6_addr kAllNodes = {{{0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}};
constexpr in6_addr kAllRouters = {{{0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}}};
constexpr std::size_t kMaxTurn = 64;  // messages before others on the thread get their turn
constexpr std::size_t kBufferBytes = 1500;

error_code last_error() noexcept {
  return {errno, boost::system::system_category()};
}

template <class Value>
void set_option(int fd, int level, int name, const Value& value) {
  if (::setsockopt(fd, level, name, &value, sizeof value) != 0) throw boost::system::system_error(last_error());
}

void configure(int fd, const dhcp::Interface& interface) {
  icmp6_filter filter;
  ICMP6_FILTER_SETBLOCKALL(&filter);
  ICMP6_FILTER_SETPASS(ND_ROUTER_SOLICIT, &filter);
  set_option(fd, IPPROTO_ICMPV6, ICMP6_FILTER, filter);
  if (::setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface.name.data(),
                   static_cast<socklen_t>(interface.name.size())) != 0)
    throw boost::system::system_error(last_error());
  set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, interface.index);
  set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 255);  // RFC 4861 section 4.2: hosts take nothing else
  set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 0);
  set_option(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
  set_option(fd, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, ipv6_mreq{kAllRouters, static_cast<unsigned>(interface.index)});
}

int read_hop_limit(msghdr& message) noexcept {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != IPPROTO_IPV6 || c->cmsg_type != IPV6_HOPLIMIT) continue;
    int value = 0;
    std::memcpy(&value, CMSG_DATA(c), sizeof value);
    return value;
  }
  return 0;
}

struct alignas(cmsghdr) Control {
  std::uint8_t data[CMSG_SPACE(sizeof(int))];
};

}  // namespace

Socket::Socket(const boost::asio::any_io_executor& executor, dhcp::Interface interface)
    : interface_(std::move(interface)), raw_(executor) {
  raw_.assign(open());
}

int Socket::open() {
  const int fd = ::socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_ICMPV6);
  try {
    if (fd < 0) throw boost::system::system_error(last_error());
    configure(fd, interface_);
  } catch (const boost::system::system_error& error) {
    if (fd >= 0) ::close(fd);
    throw boost::system::system_error(error.code(), "router advertisement: cannot use interface " + interface_.name);
  }
  return fd;
}

void Socket::async_wait_readable(std::function<void(error_code)> handler) {
  raw_.async_wait(boost::asio::posix::stream_descriptor::wait_read, std::move(handler));
}

void Socket::receive(const std::function<void(ByteView, int, const Ipv6&)>& visit) {
  std::array<std::uint8_t, kBufferBytes> buffer;
  for (std::size_t i = 0; i < kMaxTurn && raw_.is_open(); ++i) {
    sockaddr_in6 source{};
    iovec part{buffer.data(), buffer.size()};
    Control control{};
    msghdr message{};
    message.msg_name = &source;
    message.msg_namelen = sizeof source;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data;
    message.msg_controllen = sizeof control.data;
    const ssize_t size = ::recvmsg(raw_.native_handle(), &message, MSG_DONTWAIT);
    if (size < 0) return;
    std::array<std::uint8_t, 16> address{};
    std::ranges::copy(source.sin6_addr.s6_addr, address.begin());
    visit(ByteView(buffer).first(static_cast<std::size_t>(size)), read_hop_limit(message), Ipv6(address));
  }
}

error_code Socket::send(ByteView message) {
  if (!raw_.is_open()) return boost::asio::error::operation_aborted;
  sockaddr_in6 destination{};
  destination.sin6_family = AF_INET6;
  destination.sin6_addr = kAllNodes;
  destination.sin6_scope_id = static_cast<std::uint32_t>(interface_.index);
  // The socket interface takes every kind of address as a sockaddr.
  if (::sendto(raw_.native_handle(), message.data(), message.size(), MSG_DONTWAIT,
               reinterpret_cast<const sockaddr*>(&destination), sizeof destination) < 0)
    return last_error();
  return {};
}

void Socket::close() {
  error_code ignored;  // closing what is gone is no news
  raw_.close(ignored);
}

}  // namespace hcpnet::ra
