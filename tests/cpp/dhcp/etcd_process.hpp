// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "dhcp/temporary_folder.hpp"

namespace hcpnet::test {

/// A real etcd on loopback, with nothing in it.
class EtcdProcess {
 public:
  EtcdProcess() : port_(free_port()), peer_port_(free_port()) { start(); }
  ~EtcdProcess() { kill(); }
  EtcdProcess(const EtcdProcess&) = delete;
  EtcdProcess& operator=(const EtcdProcess&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  /// With what it had before, when it was killed.
  void start() {
    const std::string peer = "http://127.0.0.1:" + std::to_string(peer_port_);
    std::vector<std::string> arguments = {HCPNET_ETCD,
                                          "--data-dir",
                                          folder_.file("data"),
                                          "--unsafe-no-fsync",
                                          "--log-level",
                                          "error",
                                          "--listen-client-urls",
                                          url(),
                                          "--advertise-client-urls",
                                          url(),
                                          "--listen-peer-urls",
                                          peer,
                                          "--initial-advertise-peer-urls",
                                          peer,
                                          "--initial-cluster",
                                          "default=" + peer};
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const int result = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (result != 0) throw std::runtime_error("etcd is not installed: run scripts/tools.sh etcd");
    wait_until_it_listens();
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  static std::uint16_t free_port() {
    boost::asio::io_context io;
    using boost::asio::ip::tcp;
    return tcp::acceptor(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)).local_endpoint().port();
  }
  void wait_until_it_listens() const {
    using boost::asio::ip::tcp;
    boost::asio::io_context io;
    for (int tries = 0; tries < 400; ++tries) {
      tcp::socket socket(io);
      boost::system::error_code error;
      socket.connect(tcp::endpoint(boost::asio::ip::address_v4::loopback(), port_), error);
      if (!error) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    throw std::runtime_error("etcd does not listen");
  }

  TemporaryFolder folder_;
  std::uint16_t port_, peer_port_;
  pid_t pid_ = 0;
};

}  // namespace hcpnet::test
