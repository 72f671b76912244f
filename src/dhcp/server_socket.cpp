// SPDX-License-Identifier: Apache-2.0
#include "dhcp/server_socket.hpp"

#include <linux/if_ether.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/system/system_error.hpp>
#include <cstring>
#include <string>
#include <utility>

#include "dhcp/frame.hpp"
#include "dhcp/send_from.hpp"

namespace hcpnet::dhcp {
namespace {

constexpr std::size_t kBufferBytes = MessageLimits{}.max_bytes + 1;  // one more: what is longer shows
constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(in_pktinfo));
constexpr int kReceiveBufferBytes = 4 << 20;  // a rack of machines that boots at once; the system may give less

error_code last_error() noexcept {
  return {errno, boost::system::system_category()};
}

sockaddr_in to_socket_address(Ipv4 address, std::uint16_t port) noexcept {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = htonl(address.value());
  out.sin_port = htons(port);
  return out;
}

Endpoint to_endpoint(const sockaddr_in& address) noexcept {
  return {Ipv4(ntohl(address.sin_addr.s_addr)), ntohs(address.sin_port)};
}

// The socket interface takes every kind of address as a sockaddr.
template <class Address>
sockaddr* as_sockaddr(Address& address) noexcept {
  return reinterpret_cast<sockaddr*>(&address);
}

void set_option(int fd, int level, int name, int value) {
  if (::setsockopt(fd, level, name, &value, sizeof value) != 0) throw boost::system::system_error(last_error());
}

/// The interface that a datagram came in on; 0 when the system does not say.
int received_on(msghdr& header) noexcept {
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != IPPROTO_IP || c->cmsg_type != IP_PKTINFO) continue;
    in_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(c), sizeof info);
    return info.ipi_ifindex;
  }
  return 0;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {
    if (fd < 0) throw boost::system::system_error(last_error());
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

struct ServerSocket::Buffers {
  Buffers() {
    for (std::size_t i = 0; i < kBatch; ++i) parts[i] = {payloads[i].data(), payloads[i].size()};
  }
  /// The kernel overwrites lengths, so they are set before each call.
  void prepare() noexcept {
    for (std::size_t i = 0; i < kBatch; ++i) {
      msghdr& header = messages[i].msg_hdr;
      header = {};
      header.msg_name = &sources[i];
      header.msg_namelen = sizeof sources[i];
      header.msg_iov = &parts[i];
      header.msg_iovlen = 1;
      header.msg_control = controls[i].data;
      header.msg_controllen = sizeof controls[i].data;
    }
  }
  struct alignas(cmsghdr) Control {
    std::uint8_t data[kControlBytes];
  };

  std::array<std::array<std::uint8_t, kBufferBytes>, kBatch> payloads;
  std::array<sockaddr_in, kBatch> sources;
  std::array<iovec, kBatch> parts;
  std::array<Control, kBatch> controls;
  std::array<mmsghdr, kBatch> messages;
};

ServerSocket::ServerSocket(const boost::asio::any_io_executor& executor) : udp_(executor) {}

ServerSocket::ServerSocket(const boost::asio::any_io_executor& executor, Interface interface, Ipv4 server_id,
                           std::uint16_t port)
    : interface_(std::move(interface)), udp_(executor), buffers_(std::make_unique<Buffers>()) {
  try {
    udp_.assign(open_udp(server_id, port));
  } catch (const boost::system::system_error& error) {
    throw boost::system::system_error(error.code(), "dhcp: cannot listen on " + Endpoint{server_id, port}.to_string() +
                                                        " at interface " + interface_.name);
  }
  if (interface_.is_loopback) return;
  // Protocol 0: it only sends. Without CAP_NET_RAW there is none, and the caller says so.
  const int link = ::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (link >= 0) link_.emplace(executor, link);
}

ServerSocket::~ServerSocket() = default;

int ServerSocket::open_udp(Ipv4 server_id, std::uint16_t port) {
  Descriptor fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  set_option(fd.get(), SOL_SOCKET, SO_BROADCAST, 1);
  set_option(fd.get(), IPPROTO_IP, IP_PKTINFO, 1);
  static_cast<void>(::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBufferBytes, sizeof kReceiveBufferBytes));
  // Broadcasts come in only on the wildcard address; the interface keeps other networks out. No SO_REUSEADDR: a second
  // server on the same interface has to fail.
  if (!interface_.is_loopback && ::setsockopt(fd.get(), SOL_SOCKET, SO_BINDTODEVICE, interface_.name.data(),
                                              static_cast<socklen_t>(interface_.name.size())) != 0) {
    throw boost::system::system_error(last_error());
  }
  sockaddr_in address = to_socket_address(interface_.is_loopback ? server_id : Ipv4(), port);
  if (::bind(fd.get(), as_sockaddr(address), sizeof address) != 0) throw boost::system::system_error(last_error());
  socklen_t size = sizeof address;
  if (::getsockname(fd.get(), as_sockaddr(address), &size) != 0) throw boost::system::system_error(last_error());
  bound_ = to_endpoint(address);
  return fd.release();
}

void ServerSocket::async_wait_readable(std::function<void(error_code)> handler) {
  udp_.async_wait(boost::asio::posix::stream_descriptor::wait_read, std::move(handler));
}

void ServerSocket::receive(const std::function<void(ByteView, const Endpoint&)>& visit) {
  for (std::size_t batch = 0; batch < kMaxBatches && udp_.is_open(); ++batch) {
    buffers_->prepare();
    const int count = ::recvmmsg(udp_.native_handle(), buffers_->messages.data(), kBatch, MSG_DONTWAIT, nullptr);
    if (count <= 0) return;  // drained; an error of an earlier send is taken along this way
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      mmsghdr& message = buffers_->messages[i];
      const int index = received_on(message.msg_hdr);
      if (!interface_.is_loopback && index != interface_.index) continue;
      visit(ByteView(buffers_->payloads[i]).first(message.msg_len), to_endpoint(buffers_->sources[i]));
    }
    if (static_cast<std::size_t>(count) < kBatch) return;
  }
}

error_code ServerSocket::send(const Reply& reply, const Endpoint& source) {
  if (!udp_.is_open()) return boost::asio::error::operation_aborted;
  if (interface_.is_loopback) return send_udp(reply, source);
  if (reply.delivery != Delivery::hardware) return send_udp(reply, reply.destination);
  if (link_) return send_frame(reply);
  return send_udp(reply, {Ipv4(255, 255, 255, 255), reply.destination.port});
}

error_code ServerSocket::send_udp(const Reply& reply, const Endpoint& destination) {
  // In the name of our address in the subnet, also where the interface has several.
  return send_from(udp_.native_handle(), reply.source, interface_.index, destination, reply.packet);
}

error_code ServerSocket::send_frame(const Reply& reply) {
  const std::vector<std::uint8_t> packet =
      encode_udp_packet({reply.source, bound_.port}, reply.destination, reply.packet);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_IP);
  address.sll_ifindex = interface_.index;
  address.sll_halen = static_cast<unsigned char>(reply.hardware.bytes().size());
  std::ranges::copy(reply.hardware.bytes(), address.sll_addr);
  if (::sendto(link_->native_handle(), packet.data(), packet.size(), MSG_DONTWAIT, as_sockaddr(address),
               sizeof address) < 0) {
    return last_error();
  }
  return {};
}

void ServerSocket::stop_reading() {
  error_code ignored;  // nothing to cancel is as good
  udp_.cancel(ignored);
}

void ServerSocket::close() {
  error_code ignored;  // closing what is gone is no news
  udp_.close(ignored);
  link_.reset();
}

}  // namespace hcpnet::dhcp
