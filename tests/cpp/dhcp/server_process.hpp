// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace hcpnet::test {

/// dhcp_test_server as a process, on a loopback port of its choice, until it is killed.
class ServerProcess {
 public:
  ServerProcess(const std::string& program, const std::string& database, const std::string& pool,
                std::chrono::seconds lease_time) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<std::string> arguments = {program,
                                          "--database",
                                          database,
                                          "--server",
                                          "127.0.0.1",
                                          "--cidr",
                                          "127.0.0.0/8",
                                          "--pool",
                                          pool,
                                          "--lease",
                                          std::to_string(lease_time.count()),
                                          "--port",
                                          "0"};
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int result = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(pipe[1]);
    if (result != 0) throw std::runtime_error("cannot start " + arguments[0]);
    output_ = ::fdopen(pipe[0], "r");
    if (std::fscanf(output_, "ready %u", &port_) != 1) throw std::runtime_error("the server did not start");
    // Events would fill the pipe; nobody reads them.
    reader_ = std::thread([this] {
      while (std::fgetc(output_) != EOF) {
      }
    });
  }
  ~ServerProcess() {
    kill();
    reader_.join();
    std::fclose(output_);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return static_cast<std::uint16_t>(port_); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  std::FILE* output_ = nullptr;
  unsigned port_ = 0;
  std::thread reader_;
};

}  // namespace hcpnet::test
