// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <hcpnet/bytes.hpp>
#include <hcpnet/net.hpp>

#include "dhcp/probe_packet.hpp"

/// What we ask is never taken for an answer; what is read of an answer is in it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hcpnet;
  const ByteView packet(data, size);
  if (const auto reply = dhcp::parse_arp_reply(packet)) {
    const auto probe = dhcp::encode_arp_probe(reply->mac, reply->address);
    if (dhcp::parse_arp_reply(probe)) std::abort();
    if (!std::ranges::equal(reply->mac.bytes(), packet.subspan(8, 6))) std::abort();
  }
  if (const auto reply = dhcp::parse_echo_reply(packet)) {
    const auto request = dhcp::encode_echo_request(reply->mark);
    if (dhcp::parse_echo_reply(request)) std::abort();
    if (std::ranges::search(packet, ByteView(request).subspan(4, 4)).empty()) std::abort();
  }
  return 0;
}
