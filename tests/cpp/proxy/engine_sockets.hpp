// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// The engine's own sockets, found among the descriptors of this process, and what the kernel says of them.
namespace hcpnet::test {

inline std::vector<int> descriptors() {
  std::vector<int> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    all.push_back(std::stoi(entry.path().filename().string()));
  return all;
}

/// The socket of this process whose connection goes from `local` to `peer`; -1: there is none.
inline int find_socket(const boost::asio::ip::tcp::endpoint& local, const boost::asio::ip::tcp::endpoint& peer) {
  const auto is = [](auto ask, int descriptor, const boost::asio::ip::tcp::endpoint& wanted) {
    boost::asio::ip::tcp::endpoint found;
    auto size = static_cast<socklen_t>(found.capacity());
    if (ask(descriptor, found.data(), &size) != 0 || size > found.capacity()) return false;
    found.resize(size);
    return found == wanted;
  };
  for (const int descriptor : descriptors())
    if (is(::getpeername, descriptor, peer) && is(::getsockname, descriptor, local)) return descriptor;
  return -1;
}
/// The engine's end of the connection that `socket` is the other end of.
inline int other_end(const boost::asio::ip::tcp::socket& socket) {
  return find_socket(socket.remote_endpoint(), socket.local_endpoint());
}

inline int int_option(int descriptor, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(descriptor, level, name, &value, &size) == 0 ? value : -1;
}

/// What the kernel holds for a socket: received and not read, to be sent, and set aside for both.
inline std::size_t kernel_bytes(int descriptor) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t size = sizeof memory;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, memory.data(), &size) != 0) return ~std::size_t{0};
  return std::size_t{memory[SK_MEMINFO_RMEM_ALLOC]} + memory[SK_MEMINFO_WMEM_QUEUED] + memory[SK_MEMINFO_FWD_ALLOC] +
         memory[SK_MEMINFO_BACKLOG];
}

/// Bytes in each pipe of this process that holds any.
inline std::vector<std::size_t> pipe_bytes() {
  std::vector<std::size_t> all;
  for (const int descriptor : descriptors()) {
    struct stat status{};
    int bytes = 0;
    if (::fstat(descriptor, &status) != 0 || !S_ISFIFO(status.st_mode)) continue;
    if ((::fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY) continue;
    if (::ioctl(descriptor, FIONREAD, &bytes) == 0 && bytes > 0) all.push_back(static_cast<std::size_t>(bytes));
  }
  return all;
}

}  // namespace hcpnet::test
