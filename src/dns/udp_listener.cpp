// SPDX-License-Identifier: Apache-2.0
#include "dns/udp_listener.hpp"

#include <linux/sock_diag.h>
#include <netinet/udp.h>

#include <algorithm>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <cstring>
#include <limits>

#include "dns/endpoints.hpp"
#include "runtime/close_on_exec.hpp"
#include "runtime/close_shared.hpp"

namespace hcpnet::dns {
namespace {

namespace asio = boost::asio;
using asio::ip::udp;

/// How many batches are read before other sockets get their turn.
constexpr int kMaxBatches = 8;

void enable(int socket, int level, int option, const char* what) {
  const int on = 1;
  if (setsockopt(socket, level, option, &on, sizeof on) != 0)
    throw boost::system::system_error(errno, boost::system::system_category(), what);
}

/// Path MTU messages are easily forged; replies are small enough for any path (RFC 9715). Kernels without it do
/// without.
void ignore_path_mtu(int socket, bool is_v4) noexcept {
  // NOLINTNEXTLINE(bugprone-branch-clone): names of two interfaces, equal by chance
  const int mode = is_v4 ? IP_PMTUDISC_OMIT : IPV6_PMTUDISC_OMIT;
  if (is_v4)
    setsockopt(socket, IPPROTO_IP, IP_MTU_DISCOVER, &mode, sizeof mode);
  else
    setsockopt(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &mode, sizeof mode);
}

/// Makes room for `bytes` where the kernel has chosen less, as far as it allows that.
void enlarge_receive_buffer(int socket, std::size_t bytes) noexcept {
  const int wanted = static_cast<int>(std::min<std::size_t>(bytes, std::numeric_limits<int>::max() / 2));
  int now = 0;
  socklen_t size = sizeof now;
  if (getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &now, &size) == 0 && now >= 2 * wanted) return;
  setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted);
}

/// 0 where the kernel doesn't tell.
std::uint32_t lost_datagrams(int socket) noexcept {
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t size = sizeof memory;
  return getsockopt(socket, SOL_SOCKET, SO_MEMINFO, memory.data(), &size) == 0 ? memory[SK_MEMINFO_DROPS] : 0;
}

/// Turns the control message that told the destination into the one that sets the source.
void keep_only_address(msghdr& message) noexcept {
  cmsghdr* control = CMSG_FIRSTHDR(&message);
  if (control == nullptr) return;
  if (control->cmsg_level == IPPROTO_IP && control->cmsg_type == IP_PKTINFO) {
    in_pktinfo info;
    std::memcpy(&info, CMSG_DATA(control), sizeof info);
    info.ipi_ifindex = 0;  // the routing table decides, as for any reply
    info.ipi_spec_dst = info.ipi_addr;
    std::memcpy(CMSG_DATA(control), &info, sizeof info);
  } else if (control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == IPV6_PKTINFO) {
    in6_pktinfo info;
    std::memcpy(&info, CMSG_DATA(control), sizeof info);
    if (!IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr)) info.ipi6_ifindex = 0;
    std::memcpy(CMSG_DATA(control), &info, sizeof info);
  }
}

constexpr std::size_t kSegmentSizeBytes = CMSG_SPACE(sizeof(std::uint16_t));

/// What tells the kernel to cut the data of `train` into datagrams, behind what control messages there are.
void append_segment_size(msghdr& train, UdpBatch::TrainControl& control, std::size_t bytes) noexcept {
  const std::size_t before = train.msg_controllen;
  if (before > 0) std::memcpy(control.data(), train.msg_control, before);
  cmsghdr head{};
  head.cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
  head.cmsg_level = SOL_UDP;
  head.cmsg_type = UDP_SEGMENT;
  const auto size = static_cast<std::uint16_t>(bytes);
  std::memcpy(control.data() + before, &head, sizeof head);
  std::memcpy(control.data() + before + CMSG_LEN(0), &size, sizeof size);
  train.msg_control = control.data();
  train.msg_controllen = before + kSegmentSizeBytes;
}

bool has_same_addresses(const msghdr& a, const msghdr& b) noexcept {
  return a.msg_namelen == b.msg_namelen && std::memcmp(a.msg_name, b.msg_name, a.msg_namelen) == 0 &&
         a.msg_controllen == b.msg_controllen &&
         (a.msg_controllen == 0 || std::memcmp(a.msg_control, b.msg_control, a.msg_controllen) == 0);
}

}  // namespace

UdpListener::UdpListener(asio::any_io_executor executor, const Endpoint& at, PortSharing sharing,
                         std::size_t buffer_bytes, QueryHandler& handler, UdpBatch& batch)
    : socket_(executor), handler_(handler), batch_(batch), is_wildcard_(at.address.is_unspecified()) {
  const bool is_v4 = at.address.is_v4();
  socket_.open(is_v4 ? udp::v4() : udp::v6());
  close_on_exec(socket_);
  if (!is_v4) socket_.set_option(asio::ip::v6_only(true));
  if (sharing == PortSharing::shared) enable(socket_.native_handle(), SOL_SOCKET, SO_REUSEPORT, "SO_REUSEPORT");
  set_options(at, buffer_bytes);
  socket_.bind({to_asio(at.address), at.port});
}

UdpListener::UdpListener(asio::any_io_executor executor, const Endpoint& at, FileDescriptor socket,
                         std::size_t buffer_bytes, QueryHandler& handler, UdpBatch& batch)
    : socket_(executor), handler_(handler), batch_(batch), is_wildcard_(at.address.is_unspecified()) {
  socket_.assign(at.address.is_v4() ? udp::v4() : udp::v6(), socket.get());
  static_cast<void>(socket.release());
  set_options(at, buffer_bytes);
  lost_before_ = lost_datagrams(descriptor());
}

void UdpListener::set_options(const Endpoint& at, std::size_t buffer_bytes) {
  const bool is_v4 = at.address.is_v4();
  if (is_wildcard_ && is_v4) enable(socket_.native_handle(), IPPROTO_IP, IP_PKTINFO, "IP_PKTINFO");
  if (is_wildcard_ && !is_v4) enable(socket_.native_handle(), IPPROTO_IPV6, IPV6_RECVPKTINFO, "IPV6_RECVPKTINFO");
  ignore_path_mtu(socket_.native_handle(), is_v4);
  enlarge_receive_buffer(socket_.native_handle(), buffer_bytes);
  socket_.non_blocking(true);
}

void UdpListener::add_lost(LostDatagrams& lost) {
  std::uint64_t identity = 0;
  socklen_t size = sizeof identity;
  if (getsockopt(descriptor(), SOL_SOCKET, SO_COOKIE, &identity, &size) == 0)
    lost[identity] = lost_datagrams(descriptor()) - lost_before_;
}

void UdpListener::close() noexcept {
  if (socket_.is_open()) close_shared(socket_);
}

void UdpListener::wait() {
  socket_.async_wait(udp::socket::wait_read, [self = shared_from_this()](error_code ec) {
    if (!ec && self->socket_.is_open()) self->on_readable();
  });
}

void UdpListener::on_readable() {
  for (int i = 0; i < kMaxBatches; ++i) {
    const std::size_t received = receive();
    const auto begin = std::chrono::steady_clock::now();
    const std::size_t replies = answer(received);
    send(replies);
    // The clock is read twice for all of them: reading it for each would cost more than some answers.
    if (replies > 0) handler_.on_replies(replies, std::chrono::steady_clock::now() - begin);
    if (received < UdpBatch::kMessages) break;
  }
  wait();
}

std::size_t UdpListener::receive() {
  for (std::size_t i = 0; i < UdpBatch::kMessages; ++i) {
    UdpBatch::Place& place = batch_.places[i];
    place.data = {batch_.queries[i].data(), batch_.queries[i].size()};
    batch_.received[i] = {};
    msghdr& message = batch_.received[i].msg_hdr;
    message.msg_name = &place.peer;
    message.msg_namelen = sizeof place.peer;
    message.msg_iov = &place.data;
    message.msg_iovlen = 1;
    if (is_wildcard_) {
      message.msg_control = place.control.data();
      message.msg_controllen = place.control.size();
    }
  }
  const int count =
      recvmmsg(socket_.native_handle(), batch_.received.data(), UdpBatch::kMessages, MSG_DONTWAIT, nullptr);
  return count < 0 ? 0 : static_cast<std::size_t>(count);  // an ICMP error of an earlier reply is of no interest here
}

/// Works out the replies to the received queries; returns how many there are to send.
std::size_t UdpListener::answer(std::size_t count) {
  if (count == 0) return 0;
  const auto held = handler_.begin_batch();
  std::size_t replies = 0;
  for (std::size_t i = 0; i < count; ++i) {
    mmsghdr& received = batch_.received[i];
    if ((received.msg_hdr.msg_flags & MSG_TRUNC) != 0) {
      handler_.on_oversize();
      continue;
    }
    const ByteView query = ByteView(batch_.queries[i]).first(received.msg_len);
    const auto handled = handler_.handle(query, address_of(batch_.places[i].peer), Transport::udp, batch_.out[replies]);
    batch_.reply_data[replies] = {batch_.out[replies].data(), handled.bytes};
    if (is_wildcard_) keep_only_address(received.msg_hdr);
    if (handled.bytes == 0 && !(handled.must_forward && forward(received, query, replies))) continue;
    batch_.replies[replies] = {received.msg_hdr, 0};
    batch_.replies[replies].msg_hdr.msg_iov = &batch_.reply_data[replies];
    ++replies;
  }
  return replies;
}

/// True when the reply is there at once, in place `reply`.
bool UdpListener::forward(const mmsghdr& received, ByteView query, std::size_t reply) {
  struct Peer {
    sockaddr_storage address;
    socklen_t address_bytes;
    alignas(cmsghdr) std::array<std::uint8_t, UdpBatch::kControlBytes> control;
    std::size_t control_bytes;
  };
  Peer peer;
  std::memcpy(&peer.address, received.msg_hdr.msg_name, sizeof peer.address);
  peer.address_bytes = received.msg_hdr.msg_namelen;
  peer.control_bytes = is_wildcard_ ? received.msg_hdr.msg_controllen : 0;
  if (peer.control_bytes > 0) std::memcpy(peer.control.data(), received.msg_hdr.msg_control, peer.control_bytes);
  const std::size_t size = handler_.forward(
      query, Transport::udp, batch_.out[reply], [weak = weak_from_this(), peer](ByteView bytes) mutable {
        const auto self = weak.lock();
        if (!self || !self->socket_.is_open()) return;
        iovec data{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};  // sendmsg(2) only reads it
        msghdr message{};
        message.msg_name = &peer.address;
        message.msg_namelen = peer.address_bytes;
        message.msg_iov = &data;
        message.msg_iovlen = 1;
        message.msg_control = peer.control_bytes > 0 ? peer.control.data() : nullptr;
        message.msg_controllen = peer.control_bytes;
        if (sendmsg(self->socket_.native_handle(), &message, MSG_DONTWAIT) < 0) self->handler_.on_send_failure();
      });
  batch_.reply_data[reply].iov_len = size;
  return size != 0;
}

void UdpListener::send(std::size_t count) {
  const std::size_t messages = join_trains(count);
  for (std::size_t sent = 0; sent < messages;) {
    const int done = sendmmsg(socket_.native_handle(), batch_.replies.data() + sent,
                              static_cast<unsigned>(messages - sent), MSG_DONTWAIT);
    if (done > 0) {
      sent += static_cast<std::size_t>(done);
      continue;
    }
    // The first of them could not be sent (no route, or no room): the client asks again; the others have their chance.
    const msghdr& refused = batch_.replies[sent++].msg_hdr;
    if (refused.msg_iovlen > 1)
      send_one_by_one(refused);
    else
      handler_.on_send_failure();
  }
}

/// Returns how many messages are left of `count` replies.
std::size_t UdpListener::join_trains(std::size_t count) {
  std::size_t messages = 0;
  for (std::size_t i = 0; i < count; ++messages) {
    const std::size_t end = can_join_ ? find_train_end(i, count) : i + 1;
    batch_.replies[messages] = batch_.replies[i];
    if (end - i > 1) {
      msghdr& train = batch_.replies[messages].msg_hdr;
      train.msg_iovlen = end - i;  // the data of neighbours are neighbours
      append_segment_size(train, batch_.train_controls[messages], batch_.reply_data[i].iov_len);
    }
    i = end;
  }
  return messages;
}

/// A train goes to one address from one address, and all but its last datagram have the same size.
std::size_t UdpListener::find_train_end(std::size_t begin, std::size_t count) const noexcept {
  const std::size_t size = batch_.reply_data[begin].iov_len;
  std::size_t end = begin + 1;
  while (end < count && batch_.reply_data[end].iov_len <= size &&
         has_same_addresses(batch_.replies[begin].msg_hdr, batch_.replies[end].msg_hdr))
    if (batch_.reply_data[end++].iov_len < size) break;
  return end;
}

/// Where trains can't be sent (a device without checksums, a very small MTU) there are none from now on.
void UdpListener::send_one_by_one(const msghdr& train) {
  if (errno != EAGAIN && errno != ENOBUFS) can_join_ = false;
  for (std::size_t i = 0; i < train.msg_iovlen; ++i) {
    msghdr single = train;
    single.msg_iov = train.msg_iov + i;
    single.msg_iovlen = 1;
    single.msg_controllen -= kSegmentSizeBytes;
    if (sendmsg(socket_.native_handle(), &single, MSG_DONTWAIT) < 0) handler_.on_send_failure();
  }
}

}  // namespace hcpnet::dns
