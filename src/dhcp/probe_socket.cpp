// SPDX-License-Identifier: Apache-2.0
#include "dhcp/probe_socket.hpp"

#include <linux/filter.h>
#include <linux/if_ether.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <iterator>
#include <random>
#include <utility>

#include "dhcp/probe_packet.hpp"
#include "dhcp/send_from.hpp"

namespace hcpnet::dhcp {
namespace {

using boost::asio::posix::stream_descriptor;

constexpr std::size_t kBufferBytes = 128;  // the longest IPv4 header and our echo; what is longer is not ours
constexpr MacAddress kEverybody({0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF});
// Of linux/icmp.h, which does not go together with the C library's headers.
constexpr int kIcmpFilter = 1;
constexpr unsigned kEchoReply = 0;

error_code last_error() noexcept {
  return {errno, boost::system::system_category()};
}

[[noreturn]] void raise() {
  throw boost::system::system_error(last_error());
}

// The socket interface takes every kind of address as a sockaddr.
sockaddr* as_sockaddr(sockaddr_ll& address) noexcept {
  return reinterpret_cast<sockaddr*>(&address);
}

void open(stream_descriptor& descriptor, int family, int type, int protocol) {
  const int fd = ::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
  if (fd < 0) raise();
  descriptor.assign(fd);
}

template <class Value>
void set_option(stream_descriptor& descriptor, int level, int name, const Value& value) {
  if (::setsockopt(descriptor.native_handle(), level, name, &value, sizeof value) != 0) raise();
}

sockaddr_ll link_address(int interface_index) noexcept {
  sockaddr_ll out{};
  out.sll_family = AF_PACKET;
  out.sll_protocol = htons(ETH_P_ARP);
  out.sll_ifindex = interface_index;
  return out;
}

/// Lets replies through and nothing else: on a busy link most of ARP is requests.
void filter_replies(stream_descriptor& descriptor) {
  constexpr std::uint32_t kOperationAt = 6;  // RFC 826; the link header is not part of what is filtered
  constexpr std::uint32_t kReply = 2;
  sock_filter program[] = {BPF_STMT(BPF_LD | BPF_H | BPF_ABS, kOperationAt),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kReply, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0xFFFF),
                           BPF_STMT(BPF_RET | BPF_K, 0)};
  set_option(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, sock_fprog{std::size(program), program});
}

}  // namespace

ProbeSocket::ProbeSocket(const boost::asio::any_io_executor& executor, Interface interface)
    : interface_(std::move(interface)),
      arp_(executor),
      echo_(executor),
      identifier_(static_cast<std::uint16_t>(std::random_device{}())) {
  try {
    open_arp();
    open_echo();
  } catch (const boost::system::system_error& error) {
    throw boost::system::system_error(error.code(), "dhcp: cannot probe addresses at interface " + interface_.name);
  }
}

void ProbeSocket::open_arp() {
  open(arp_, AF_PACKET, SOCK_DGRAM, 0);  // protocol 0: nothing comes in before the filter is there
  filter_replies(arp_);
  sockaddr_ll address = link_address(interface_.index);
  if (::bind(arp_.native_handle(), as_sockaddr(address), sizeof address) != 0) raise();
}

void ProbeSocket::open_echo() {
  open(echo_, AF_INET, SOCK_RAW, IPPROTO_ICMP);
  set_option(echo_, SOL_RAW, kIcmpFilter, ~(1U << kEchoReply));
  if (::setsockopt(echo_.native_handle(), SOL_SOCKET, SO_BINDTODEVICE, interface_.name.data(),
                   static_cast<socklen_t>(interface_.name.size())) != 0)
    raise();
}

error_code ProbeSocket::ask(const AddressProbe& probe, std::uint16_t sequence) {
  if (!arp_.is_open()) return boost::asio::error::operation_aborted;
  if (!probe.is_relayed) return ask_by_arp(probe.address);
  return send_from(echo_.native_handle(), probe.source, interface_.index, {probe.address, 0},
                   encode_echo_request({identifier_, sequence}));
}

/// The interface's hardware address is asked for each time: it may be changed while we run.
error_code ProbeSocket::ask_by_arp(Ipv4 address) {
  sockaddr_ll own{};
  socklen_t size = sizeof own;
  if (::getsockname(arp_.native_handle(), as_sockaddr(own), &size) != 0) return last_error();
  std::array<std::uint8_t, 6> mac{};
  if (own.sll_hatype != ARPHRD_ETHER || own.sll_halen != mac.size()) return boost::asio::error::no_protocol_option;
  std::copy_n(own.sll_addr, mac.size(), mac.begin());
  const auto packet = encode_arp_probe(MacAddress(mac), address);
  sockaddr_ll everybody = link_address(interface_.index);
  everybody.sll_halen = static_cast<unsigned char>(mac.size());
  std::ranges::copy(kEverybody.bytes(), everybody.sll_addr);
  if (::sendto(arp_.native_handle(), packet.data(), packet.size(), MSG_DONTWAIT, as_sockaddr(everybody),
               sizeof everybody) < 0)
    return last_error();
  return {};
}

void ProbeSocket::async_wait_readable(Kind kind, std::function<void(error_code)> handler) {
  (kind == Kind::arp ? arp_ : echo_).async_wait(stream_descriptor::wait_read, std::move(handler));
}

void ProbeSocket::receive(Kind kind, const std::function<void(const ProbeAnswer&)>& visit) {
  return kind == Kind::arp ? receive_arp(visit) : receive_echoes(visit);
}

void ProbeSocket::receive_arp(const std::function<void(const ProbeAnswer&)>& visit) {
  std::array<std::uint8_t, kBufferBytes> buffer;
  for (std::size_t i = 0; i < kMaxTurn && arp_.is_open(); ++i) {
    sockaddr_ll source{};
    socklen_t source_size = sizeof source;
    const ssize_t size =
        ::recvfrom(arp_.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT, as_sockaddr(source), &source_size);
    if (size < 0) return;
    // A frame with the tag of a VLAN that has no interface here comes in as somebody else's: it is from another link.
    if (source.sll_pkttype != PACKET_HOST && source.sll_pkttype != PACKET_BROADCAST) continue;
    const auto reply = parse_arp_reply(ByteView(buffer).first(static_cast<std::size_t>(size)));
    if (reply) visit({reply->address, reply->mac, 0});
  }
}

void ProbeSocket::receive_echoes(const std::function<void(const ProbeAnswer&)>& visit) {
  std::array<std::uint8_t, kBufferBytes> buffer;
  for (std::size_t i = 0; i < kMaxTurn && echo_.is_open(); ++i) {
    const ssize_t size = ::recv(echo_.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size < 0) return;
    const auto reply = parse_echo_reply(ByteView(buffer).first(static_cast<std::size_t>(size)));
    if (reply && reply->mark.identifier == identifier_) visit({reply->source, {}, reply->mark.sequence});
  }
}

void ProbeSocket::close() {
  error_code ignored;  // closing what is gone is no news
  arp_.close(ignored);
  echo_.close(ignored);
}

}  // namespace hcpnet::dhcp
