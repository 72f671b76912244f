// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <stdexcept>

#include "dhcp/packets.hpp"

namespace hcpnet::test {

/// Speaks to a server on a loopback address, which answers to where the request came from.
class LoopbackClient {
 public:
  explicit LoopbackClient(std::uint16_t port, Ipv4 address = Ipv4(127, 0, 0, 1))
      : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)), server_(address) {
    sockaddr_in server{};
    server.sin_family = AF_INET;
    server.sin_addr.s_addr = htonl(address.value());
    server.sin_port = htons(port);
    // Connected: nobody else's datagrams come in.
    if (fd_ < 0 || ::connect(fd_, reinterpret_cast<sockaddr*>(&server), sizeof server) != 0)
      throw std::runtime_error("no socket");
    const int bytes = 4 << 20;
    static_cast<void>(::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes));
  }
  ~LoopbackClient() { ::close(fd_); }
  LoopbackClient(const LoopbackClient&) = delete;
  LoopbackClient& operator=(const LoopbackClient&) = delete;

  /// False when nobody listens there any more.
  bool send(const DhcpPacket& packet) const {
    const Bytes bytes = packet.bytes();
    return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  /// The next reply; nullopt when none came in time, or the server is gone.
  std::optional<DhcpAnswer> receive(std::chrono::milliseconds patience = std::chrono::seconds(20)) const {
    pollfd ready{fd_, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(patience.count())) != 1) return std::nullopt;
    Bytes buffer(2048);
    const ssize_t size = ::recv(fd_, buffer.data(), buffer.size(), 0);
    if (size < 0) return std::nullopt;
    buffer.resize(static_cast<std::size_t>(size));
    return read_answer(buffer);
  }
  std::optional<DhcpAnswer> ask(const DhcpPacket& packet) const {
    if (!send(packet)) return std::nullopt;
    return receive();
  }
  /// DISCOVER, REQUEST. The address that was acknowledged; nullopt when something else came.
  std::optional<Ipv4> lease(const MacAddress& mac) const {
    const auto offer = ask(discover(mac));
    if (!offer || offer->type() != 2) return std::nullopt;
    const auto ack = ask(select(mac, server_, offer->yiaddr));
    if (!ack || ack->type() != 5) return std::nullopt;
    return ack->yiaddr;
  }

 private:
  int fd_;
  Ipv4 server_;
};

}  // namespace hcpnet::test
