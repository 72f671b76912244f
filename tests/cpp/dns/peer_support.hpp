// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/dns/zone_file.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "dns/dns_support.hpp"
#include "dns/program_support.hpp"

/// Other name servers beside the tests.
namespace hcpnet::test {

/// A folder that ends with the test.
class Folder {
 public:
  explicit Folder(const std::string& purpose) : path_(temporary_path(purpose)) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

/// A program that is ended with the test; what it says goes to `log`.
class Child {
 public:
  Child(std::vector<std::string> arguments, const std::string& log) {
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::string path = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
    char* environment[] = {path.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    const std::string program = run("command -v " + arguments[0]).output;
    const int failed =
        posix_spawn(&pid_, program.substr(0, program.find('\n')).c_str(), &actions, nullptr, argv.data(), environment);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) throw std::runtime_error("cannot start " + arguments[0]);
  }
  ~Child() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

 private:
  pid_t pid_ = -1;
};

inline sockaddr_in socket_address(const Endpoint& endpoint) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(endpoint.port);
  address.sin_addr.s_addr = htonl(endpoint.address.v4().value());
  return address;
}

/// A loopback port that is free for UDP and TCP now.
inline Endpoint free_endpoint() {
  for (int attempt = 0; attempt < 32; ++attempt) {
    const int datagrams = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const int streams = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = socket_address({Ipv4(127, 0, 0, 1), 0});
    socklen_t size = sizeof address;
    bool is_free = bind(datagrams, reinterpret_cast<const sockaddr*>(&address), size) == 0;
    getsockname(datagrams, reinterpret_cast<sockaddr*>(&address), &size);
    is_free = is_free && bind(streams, reinterpret_cast<const sockaddr*>(&address), size) == 0;
    close(datagrams);
    close(streams);
    if (is_free) return {Ipv4(127, 0, 0, 1), ntohs(address.sin_port)};
  }
  throw std::runtime_error("no free port");
}

/// Asks one server, over sockets that block.
class PlainClient {
 public:
  explicit PlainClient(const Endpoint& server) : to_(socket_address(server)) {
    udp_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    connect(udp_, reinterpret_cast<const sockaddr*>(&to_), sizeof to_);
  }
  ~PlainClient() {
    close(udp_);
    if (tcp_ >= 0) close(tcp_);
  }
  PlainClient(const PlainClient&) = delete;
  PlainClient& operator=(const PlainClient&) = delete;

  std::optional<dns::Message> ask(const Bytes& query, dns::Transport transport, int timeout_ms = 10'000) {
    const auto bytes = transport == dns::Transport::udp ? ask_udp(query, timeout_ms) : ask_tcp(query, timeout_ms);
    if (!bytes) return std::nullopt;
    auto reply = dns::parse_message(*bytes);
    return reply ? std::optional(std::move(*reply)) : std::nullopt;
  }
  /// False when patience ends.
  bool wait_until_answers(const dns::Message& query) {
    const Bytes bytes = dns::encode_message(query).value();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < end) {
      const auto reply = ask(bytes, dns::Transport::udp, 50);
      if (reply && reply->rcode() == dns::Rcode::noerror) return true;
    }
    return false;
  }

 private:
  std::optional<Bytes> ask_udp(const Bytes& query, int timeout_ms) const {
    send(udp_, query.data(), query.size(), MSG_NOSIGNAL);
    for (;;) {
      pollfd waiting{udp_, POLLIN, 0};
      if (poll(&waiting, 1, timeout_ms) != 1) return std::nullopt;
      Bytes reply(65535);
      const ssize_t size = recv(udp_, reply.data(), reply.size(), 0);
      if (size < 2) return std::nullopt;
      reply.resize(static_cast<std::size_t>(size));
      if (reply[0] == query[0] && reply[1] == query[1]) return reply;  // not one that came late
    }
  }
  std::optional<Bytes> ask_tcp(const Bytes& query, int timeout_ms) {
    if (tcp_ < 0) {
      tcp_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (connect(tcp_, reinterpret_cast<const sockaddr*>(&to_), sizeof to_) != 0) return std::nullopt;
    }
    Bytes framed{static_cast<std::uint8_t>(query.size() >> 8), static_cast<std::uint8_t>(query.size())};
    framed.insert(framed.end(), query.begin(), query.end());
    send(tcp_, framed.data(), framed.size(), MSG_NOSIGNAL);
    const auto head = read_exactly(2, timeout_ms);
    if (!head) return std::nullopt;
    return read_exactly(std::size_t{(*head)[0]} << 8 | (*head)[1], timeout_ms);
  }
  std::optional<Bytes> read_exactly(std::size_t count, int timeout_ms) const {
    Bytes bytes(count);
    for (std::size_t done = 0; done < count;) {
      pollfd waiting{tcp_, POLLIN, 0};
      if (poll(&waiting, 1, timeout_ms) != 1) return std::nullopt;
      const ssize_t size = recv(tcp_, bytes.data() + done, count - done, 0);
      if (size <= 0) return std::nullopt;
      done += static_cast<std::size_t>(size);
    }
    return bytes;
  }

  sockaddr_in to_;
  int udp_ = -1;
  int tcp_ = -1;
};

}  // namespace hcpnet::test
