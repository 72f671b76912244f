// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <hcpnet/net.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hcpnet::test {

using Bytes = std::vector<std::uint8_t>;

/// A client's message, put together byte by byte without the library's encoder.
struct DhcpPacket {
  std::uint8_t op = 1, htype = 1, hlen = 6, hops = 0;
  std::uint32_t xid = 0x3903F326;
  std::uint16_t secs = 0, flags = 0;
  Ipv4 ciaddr, yiaddr, siaddr, giaddr;
  MacAddress mac{{2, 0, 0, 0, 1, 1}};
  std::vector<std::pair<std::uint8_t, Bytes>> options;

  DhcpPacket& with(std::uint8_t code, Bytes data) {
    options.emplace_back(code, std::move(data));
    return *this;
  }
  DhcpPacket& with_address(std::uint8_t code, Ipv4 address) {
    const auto bytes = address.bytes();
    return with(code, Bytes(bytes.begin(), bytes.end()));
  }
  [[nodiscard]] Bytes bytes() const {
    Bytes out = {op, htype, hlen, hops};
    put(out, xid, 4);
    put(out, secs, 2);
    put(out, flags, 2);
    for (const Ipv4 address : {ciaddr, yiaddr, siaddr, giaddr}) put(out, address.value(), 4);
    out.insert(out.end(), mac.bytes().begin(), mac.bytes().end());
    out.resize(236);
    put(out, 0x63825363, 4);
    for (const auto& [code, data] : options) {
      out.push_back(code);
      out.push_back(static_cast<std::uint8_t>(data.size()));
      out.insert(out.end(), data.begin(), data.end());
    }
    out.push_back(255);
    return out;
  }

 private:
  static void put(Bytes& out, std::uint32_t value, int width) {
    for (int shift = 8 * width - 8; shift >= 0; shift -= 8) out.push_back(static_cast<std::uint8_t>(value >> shift));
  }
};

/// A message of a given type (option 53) from a client.
inline DhcpPacket dhcp_packet(std::uint8_t type, MacAddress mac) {
  DhcpPacket packet;
  packet.mac = mac;
  packet.with(53, Bytes{type});
  return packet;
}
inline MacAddress test_mac(std::uint32_t n) {
  return MacAddress({2, 0, static_cast<std::uint8_t>(n >> 24), static_cast<std::uint8_t>(n >> 16),
                     static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n)});
}
inline DhcpPacket discover(MacAddress mac) {
  return dhcp_packet(1, mac);
}
inline DhcpPacket select(MacAddress mac, Ipv4 server, Ipv4 address) {
  return dhcp_packet(3, mac).with_address(54, server).with_address(50, address);
}
inline DhcpPacket renew(MacAddress mac, Ipv4 address) {
  DhcpPacket packet = dhcp_packet(3, mac);
  packet.ciaddr = address;
  return packet;
}

/// A server's message, read without the library's parser. Only what is not overloaded.
struct DhcpAnswer {
  std::uint8_t op = 0;
  std::uint32_t xid = 0;
  std::uint16_t flags = 0;
  Ipv4 ciaddr, yiaddr, siaddr, giaddr;
  Bytes chaddr, sname, file;
  std::vector<std::pair<std::uint8_t, Bytes>> options;  ///< as they stand, pieces not joined
  std::size_t size = 0;

  [[nodiscard]] std::optional<Bytes> find(std::uint8_t code) const {
    std::optional<Bytes> out;
    for (const auto& [c, data] : options) {
      if (c != code) continue;
      if (!out) out.emplace();
      out->insert(out->end(), data.begin(), data.end());
    }
    return out;
  }
  [[nodiscard]] int type() const {
    const auto data = find(53);
    return data && data->size() == 1 ? data->front() : 0;
  }
  [[nodiscard]] std::vector<int> codes() const {
    std::vector<int> out;
    for (const auto& option : options) out.push_back(option.first);
    return out;
  }
};

/// nullopt when it is no well-formed message: every length right, an end option, and nothing but zeros after it.
inline std::optional<DhcpAnswer> read_answer(const Bytes& bytes) {
  if (bytes.size() < 241 || bytes[236] != 0x63 || bytes[237] != 0x82 || bytes[238] != 0x53 || bytes[239] != 0x63)
    return {};
  const auto number = [&](std::size_t at, int width) {
    std::uint32_t value = 0;
    for (int i = 0; i < width; ++i) value = value << 8 | bytes[at + static_cast<std::size_t>(i)];
    return value;
  };
  const auto slice = [&](std::size_t at, std::size_t count) {
    return Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + count));
  };
  DhcpAnswer out;
  out.size = bytes.size();
  out.op = bytes[0];
  out.xid = number(4, 4);
  out.flags = static_cast<std::uint16_t>(number(10, 2));
  out.ciaddr = Ipv4(number(12, 4));
  out.yiaddr = Ipv4(number(16, 4));
  out.siaddr = Ipv4(number(20, 4));
  out.giaddr = Ipv4(number(24, 4));
  out.chaddr = slice(28, 16);
  out.sname = slice(44, 64);
  out.file = slice(108, 128);
  std::size_t at = 240;
  while (at < bytes.size() && bytes[at] != 255) {
    if (at + 1 >= bytes.size() || at + 2 + bytes[at + 1] > bytes.size()) return {};
    out.options.emplace_back(bytes[at], slice(at + 2, bytes[at + 1]));
    at += 2 + bytes[at + 1];
  }
  if (at >= bytes.size()) return {};
  for (++at; at < bytes.size(); ++at) {
    if (bytes[at] != 0) return {};
  }
  return out;
}

}  // namespace hcpnet::test
