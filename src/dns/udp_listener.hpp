// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/udp.hpp>
#include <cstdint>
#include <hcpnet/dns/responder.hpp>
#include <hcpnet/inherited_sockets.hpp>
#include <hcpnet/net.hpp>
#include <map>
#include <memory>

#include "dns/query_handler.hpp"

namespace hcpnet::dns {

/// Buffers for one recvmmsg and the sendmmsg after it. One for all listeners of a thread: used only while a batch is
/// worked on.
struct UdpBatch {
  static constexpr std::size_t kMessages = 32;
  static constexpr std::size_t kMaxQueryBytes = 4096;
  static constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(in6_pktinfo));
  static constexpr std::size_t kTrainControlBytes = kControlBytes + CMSG_SPACE(sizeof(std::uint16_t));

  struct Place {
    sockaddr_storage peer;
    iovec data;
    alignas(cmsghdr) std::array<std::uint8_t, kControlBytes> control;
  };
  std::array<Place, kMessages> places;
  std::array<mmsghdr, kMessages> received;
  struct alignas(cmsghdr) TrainControl : std::array<std::uint8_t, kTrainControlBytes> {};
  std::array<mmsghdr, kMessages> replies;
  std::array<TrainControl, kMessages> train_controls;
  std::array<iovec, kMessages> reply_data;
  std::array<std::array<std::uint8_t, kMaxQueryBytes>, kMessages> queries;
  std::array<std::array<std::uint8_t, kMaxUdpBytes>, kMessages> out;
};

enum class PortSharing : std::uint8_t {
  exclusive,
  shared,  ///< with other sockets of this process: the kernel spreads the clients over them (SO_REUSEPORT)
};

/// Datagrams that the kernel had no room for, by socket: several listeners may read one.
using LostDatagrams = std::map<std::uint64_t, std::uint32_t>;

/// One UDP socket: reads queries in batches, and answers each from the address it was sent to.
///
/// Replies of a batch that go to the same client port one after the other, as those to a resolver that forwards to us,
/// are handed to the kernel as one train (UDP_SEGMENT), which costs little more than one of them. The client sees no
/// difference.
class UdpListener : public std::enable_shared_from_this<UdpListener> {
 public:
  /// Throws boost::system::system_error when it can't bind. `buffer_bytes`: ServerOptions::udp_receive_buffer_bytes.
  UdpListener(boost::asio::any_io_executor executor, const Endpoint& at, PortSharing sharing, std::size_t buffer_bytes,
              QueryHandler& handler, UdpBatch& batch);
  /// Reads from a socket that is bound to `at` already. Throws as above.
  UdpListener(boost::asio::any_io_executor executor, const Endpoint& at, FileDescriptor socket,
              std::size_t buffer_bytes, QueryHandler& handler, UdpBatch& batch);

  [[nodiscard]] std::uint16_t port() const { return socket_.local_endpoint().port(); }
  [[nodiscard]] int descriptor() { return socket_.native_handle(); }
  /// Since it was made: a socket that was inherited may have lost some before. Any thread; not after close().
  void add_lost(LostDatagrams& lost);
  void start() { wait(); }
  void close() noexcept;

 private:
  void set_options(const Endpoint& at, std::size_t buffer_bytes);
  void wait();
  void on_readable();
  std::size_t receive();
  std::size_t answer(std::size_t count);
  bool forward(const mmsghdr& received, ByteView query, std::size_t reply);
  void send(std::size_t count);
  std::size_t join_trains(std::size_t count);
  [[nodiscard]] std::size_t find_train_end(std::size_t begin, std::size_t count) const noexcept;
  void send_one_by_one(const msghdr& train);

  boost::asio::ip::udp::socket socket_;
  QueryHandler& handler_;
  UdpBatch& batch_;
  bool can_join_ = true;  ///< until the kernel refuses a train
  std::uint32_t lost_before_ = 0;
  bool is_wildcard_;  ///< bound to no single address: the kernel tells each query's destination, and replies name it
};

}  // namespace hcpnet::dns
