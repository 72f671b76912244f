// SPDX-License-Identifier: Apache-2.0
#include "dhcp/send_from.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace hcpnet::dhcp {
namespace {

struct alignas(cmsghdr) Control {
  std::uint8_t data[CMSG_SPACE(sizeof(in_pktinfo))];
};

}  // namespace

error_code send_from(int socket, Ipv4 source, int interface_index, const Endpoint& destination,
                     ByteView packet) noexcept {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(destination.address.v4().value());
  address.sin_port = htons(destination.port);
  // sendmsg() does not write to the buffer; iovec has no const.
  iovec part{const_cast<std::uint8_t*>(packet.data()), packet.size()};
  Control control{};
  msghdr message{};
  message.msg_name = &address;
  message.msg_namelen = sizeof address;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data;
  message.msg_controllen = sizeof control.data;
  in_pktinfo info{};
  info.ipi_ifindex = interface_index;
  info.ipi_spec_dst.s_addr = htonl(source.value());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = IPPROTO_IP;
  header->cmsg_type = IP_PKTINFO;
  header->cmsg_len = CMSG_LEN(sizeof info);
  std::memcpy(CMSG_DATA(header), &info, sizeof info);
  if (::sendmsg(socket, &message, MSG_DONTWAIT) < 0) return {errno, boost::system::system_category()};
  return {};
}

}  // namespace hcpnet::dhcp
