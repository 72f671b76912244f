// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/net.hpp>
#include <utility>
#include <vector>

namespace hcpnet {

/// An open descriptor that is closed at the end.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) noexcept : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
  [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }
  /// Another number for the same. Throws boost::system::system_error.
  [[nodiscard]] static FileDescriptor copy_of(int number);

 private:
  int number_ = -1;
};

enum class SocketKind : std::uint8_t { stream, datagram };

/// A bound socket that somebody else owns.
struct ListeningSocket {
  SocketKind kind = SocketKind::stream;
  Endpoint configured;  ///< the address that it was made for
  int descriptor = -1;
};

/// Bound sockets that came from another process, or from the service manager, and wait for the server that they are
/// for. What nobody takes is closed at the end. One thread.
class InheritedSockets {
 public:
  /// `configured`: as the specs have it; where only the bound address is known, that one.
  void add(SocketKind kind, const Endpoint& configured, FileDescriptor socket);
  /// Adds what the service manager handed to this process, and to no other: $LISTEN_PID, $LISTEN_FDS
  /// (sd_listen_fds(3)). Each is known by the address that it is bound to; $LISTEN_FDNAMES does not matter. Takes the
  /// variables out of the environment. Throws std::runtime_error that says which descriptor is no listening or datagram
  /// socket of IPv4 or IPv6.
  void add_from_service_manager();
  /// All sockets for this address, in the order in which they were added; more than one where several workers share it.
  [[nodiscard]] std::vector<FileDescriptor> take(SocketKind kind, const Endpoint& configured);
  [[nodiscard]] std::size_t size() const noexcept { return sockets_.size(); }
  /// Closes what nobody took.
  void clear() noexcept { sockets_.clear(); }

 private:
  struct Entry {
    SocketKind kind;
    Endpoint configured;
    FileDescriptor socket;
  };
  std::vector<Entry> sockets_;
};

}  // namespace hcpnet
