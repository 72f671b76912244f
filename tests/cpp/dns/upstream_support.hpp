// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <hcpnet/dns/message.hpp>
#include <optional>
#include <string_view>
#include <thread>

#include "dns/dns_support.hpp"
#include "dns/peer_support.hpp"

/// Clients and upstreams of name servers beside the tests, over sockets that block.
namespace hcpnet::test {

/// A UDP socket on `address`; closes itself.
class UdpSocket {
 public:
  explicit UdpSocket(Ipv4 address) : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in own = socket_address({address, 0});
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
  }
  ~UdpSocket() { close(fd_); }
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  [[nodiscard]] std::uint16_t port() const {
    sockaddr_in own{};
    socklen_t size = sizeof own;
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&own), &size), 0);
    return ntohs(own.sin_port);
  }
  std::optional<dns::Message> ask(const Endpoint& server, const dns::Message& query, int timeout_ms) const {
    const sockaddr_in to = socket_address(server);
    const auto bytes = dns::encode_message(query).value();
    sendto(fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    pollfd waiting{fd_, POLLIN, 0};
    if (poll(&waiting, 1, timeout_ms) != 1) return std::nullopt;
    std::array<std::uint8_t, dns::kMaxMessageBytes> buffer;
    ssize_t size = recv(fd_, buffer.data(), buffer.size(), 0);
    if (size < 0) return std::nullopt;
    // unbound 1.17 leaves the question behind a refusal whose header says that nothing follows.
    constexpr std::ptrdiff_t kFlagsEnd = 4, kHeaderEnd = 12;
    if (size > kHeaderEnd &&
        std::all_of(&buffer[kFlagsEnd], &buffer[kHeaderEnd], [](auto count) { return count == 0; }))
      size = kHeaderEnd;
    auto reply = dns::parse_message(ByteView(buffer).first(static_cast<std::size_t>(size)));
    return reply ? std::optional(std::move(*reply)) : std::nullopt;
  }

  /// Answers one query, if one comes in time.
  void reply(int timeout_ms, const std::function<dns::Message(dns::Message)>& make) const {
    pollfd waiting{fd_, POLLIN, 0};
    if (poll(&waiting, 1, timeout_ms) != 1) return;
    std::array<std::uint8_t, dns::kMaxMessageBytes> buffer;
    sockaddr_in from{};
    socklen_t from_size = sizeof from;
    const ssize_t size = recvfrom(fd_, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &from_size);
    const auto query = dns::parse_message(ByteView(buffer).first(size < 0 ? 0 : static_cast<std::size_t>(size)));
    if (!query) return;
    const auto bytes = dns::encode_message(make(*query)).value();
    sendto(fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&from), from_size);
  }

 private:
  int fd_;
};

/// An upstream that answers every question with one address, from a thread of its own.
class Upstream {
 public:
  explicit Upstream(std::string_view answer) : answer_(ipv4(answer)), thread_([this] { serve(); }) {}
  ~Upstream() {
    is_over_ = true;
    thread_.join();
  }
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;
  [[nodiscard]] Endpoint endpoint() const { return {ipv4("127.90.9.1"), socket_.port()}; }

 private:
  void serve() {
    while (!is_over_)
      socket_.reply(100, [this](dns::Message message) {
        message.flags |= dns::flag::kResponse | dns::flag::kRecursionAvailable;
        message.edns.reset();  // what is repeated of it might be taken for a cookie of ours
        message.answers = {
            {message.questions.at(0).name, dns::Type::a, dns::kClassIn, 5, std::string(as_text(answer_.bytes()))}};
        return message;
      });
  }

  Ipv4 answer_;
  UdpSocket socket_{ipv4("127.90.9.1")};
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

}  // namespace hcpnet::test
